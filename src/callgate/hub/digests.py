"""Is a file what the hub announced, byte for byte?"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from callgate.hub.records import Expected
from callgate.vocabulary import FetchFailed, WrongHash

_BLOCK = 1 << 20


def verified(path: str, name: str, expected: Expected, read: Callable[[int], None] = lambda _: None) -> str:
    """The SHA-256 of the file at `path`; `read` hears of each block.

    Raises: WrongHash, if it isn't what was `expected`; FetchFailed, if it can't be read.
    """
    digest = hashlib.sha256()
    as_git = hashlib.sha1(f"blob {expected.size}\0".encode(), usedforsecurity=False)
    try:
        size = os.path.getsize(path)
        if size != expected.size:
            raise WrongHash(
                f"{name!r} has {size:,} bytes, and the hub announced {expected.size:,}", hint="fetch it again"
            )
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                if expected.algorithm == "git":
                    as_git.update(block)
                read(len(block))
    except OSError as error:
        raise FetchFailed(f"{path!r} can't be read: {error.strerror}") from None
    found = {"sha256": digest.hexdigest(), "git": as_git.hexdigest(), None: ""}[expected.algorithm]
    if expected.algorithm and found != expected.digest:
        raise WrongHash(
            f"{name!r} isn't what the hub announced: its hash is {found[:12]}…, not {expected.digest[:12]}…",
            hint="fetch it again; if it stays so, tell the repository's owner",
        )
    return digest.hexdigest()


def digest_of(path: str, read: Callable[[int], None]) -> str:
    """The SHA-256 of any file; `read` hears how many bytes were read so far. Raises: FetchFailed."""
    digest, done = hashlib.sha256(), 0
    try:
        with open(path, "rb", buffering=0) as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                done += len(block)
                read(done)
    except OSError as error:
        raise FetchFailed(f"{path!r} can't be read: {error.strerror}") from None
    return digest.hexdigest()
