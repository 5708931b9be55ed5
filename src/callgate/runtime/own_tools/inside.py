"""Files below a folder, and nothing else: no way leads out of it, by `..`, by a link, or by its name."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

_DEEPEST = 40
_LONGEST = 4096
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_NONBLOCK", 0)
_CAN_STEP = os.open in os.supports_dir_fd


class NotInside(ValueError):
    """A path that leads elsewhere, or to nothing that is shown."""


def parts_of(path: str) -> list[str]:
    """The names on the way, from the folder on. Raises: NotInside."""
    if len(path) > _LONGEST or "\0" in path:
        raise NotInside("that is no path")
    path = path.replace("\\", "/") if os.sep == "\\" else path
    if path.startswith("/") or (os.name == "nt" and ":" in path):
        raise NotInside("paths start in the folder, without a slash before them")
    parts = [part for part in path.split("/") if part not in ("", ".")]
    if ".." in parts:
        raise NotInside("'..' leads out of the folder")
    if any(is_hidden(part) for part in parts):
        raise NotInside("hidden files aren't shown")
    if len(parts) > _DEEPEST:
        raise NotInside("that is too deep")
    return parts


def is_hidden(name: str) -> bool:
    return name.startswith(".")


@contextmanager
def opened(root: str, parts: list[str], *, folder: bool) -> Iterator[int]:
    """A file or a folder, open for reading. Raises: NotInside; OSError, if it isn't there or is of the other kind."""
    kind = os.O_RDONLY | _NO_LINKS | (getattr(os, "O_DIRECTORY", 0) if folder else getattr(os, "O_BINARY", 0))
    handle = _stepped(root, parts, kind) if _CAN_STEP else _checked(root, parts, kind)
    try:
        mode = os.fstat(handle).st_mode
        if not (stat.S_ISDIR(mode) if folder else stat.S_ISREG(mode)):
            raise NotInside("that is no folder" if folder else "that is no file")
        yield handle
    finally:
        os.close(handle)


def _stepped(root: str, parts: list[str], kind: int) -> int:
    """Step by step, each from within the folder before, so that nothing can be put in the way meanwhile."""
    on_the_way = os.O_RDONLY | os.O_DIRECTORY | _NO_LINKS
    handle = os.open(root, on_the_way & ~os.O_NOFOLLOW)
    for number, part in enumerate(parts, start=1):
        before = handle
        try:
            handle = os.open(part, kind if number == len(parts) else on_the_way, dir_fd=before)
        finally:
            os.close(before)
    return handle


def _checked(root: str, parts: list[str], kind: int) -> int:
    whole = os.path.realpath(root)
    path = os.path.join(whole, *parts)
    if os.path.realpath(path) != path:
        raise NotInside("links aren't followed")
    return os.open(path, kind)
