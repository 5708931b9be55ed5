"""Reads what the hub says: its answers come from outside, and nothing in them is believed before it is looked at."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from callgate.hub.records import Expected, Gated, HubFile, Repository, Summary
from callgate.runtime import stays_inside
from callgate.vocabulary import BadAnswer, HubRef

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

MOST_FILES = 20_000
LONGEST_TEMPLATE = 1 << 20
_SHA256, _GIT = re.compile(r"[0-9a-f]{64}"), re.compile(r"[0-9a-f]{40}")
_TAG = re.compile(r"[0-9A-Za-z_][0-9A-Za-z._-]{0,127}")
_MOST_DIGITS = 20
_COMMIT = re.compile(r"[0-9A-Za-z]{1,64}")


def read_repository(info: ModelInfo, ref: HubRef) -> Repository:
    siblings = info.siblings
    commit = info.sha
    named = siblings is not None and all(isinstance(sibling.rfilename, str) for sibling in siblings)
    if siblings is None or not named or not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise BadAnswer(f"the hub doesn't say which files {ref.repo!r} has")
    files = [
        HubFile(sibling.rfilename, _size(sibling.size), _sha256(sibling.lfs), _text(sibling.blob_id))
        for sibling in siblings[:MOST_FILES]
        if stays_inside(sibling.rfilename)
    ]
    gated: Gated | None = None
    if info.gated:
        gated = "manual" if info.gated == "manual" else "auto"
    return Repository(
        id=ref.repo,
        revision=ref.revision or "main",
        commit=commit,
        gated=gated,
        private=info.private is True,
        files=tuple(sorted(files, key=lambda file: file.name)),
        left_out=len(siblings) - len(files),
    )


def read_summary(told: object) -> Summary | None:
    if not isinstance(told, dict):
        return None
    template = told.get("chat_template")
    return Summary(
        chat_template=template if isinstance(template, str) and len(template) <= LONGEST_TEMPLATE else None,
        context_length=_size(told.get("context_length")),
    )


def expected_of(file: HubFile, tag: str | None, linked_size: str | None, size: int | None) -> tuple[Expected, str]:
    """What the file has to be, and what its content is called. Raises: BadAnswer."""
    name = (tag or "").removeprefix("W/").strip('"') or file.sha256 or ""
    if not _TAG.fullmatch(name):
        raise BadAnswer(f"the hub doesn't say which version of {file.name!r} it has")
    stated = size
    if linked_size and linked_size.isascii() and linked_size.isdigit():
        stated = int(linked_size[:_MOST_DIGITS])
    if stated is not None and _size(stated) is None:
        raise BadAnswer(f"the hub says that {file.name!r} is larger than any file")
    if stated is not None and file.size is not None and stated != file.size:
        raise BadAnswer(
            f"the hub contradicts itself: {file.name!r} has {file.size:,} bytes in its list, {stated:,} now"
        )
    if (stated := file.size if stated is None else stated) is None:
        raise BadAnswer(f"the hub doesn't say how large {file.name!r} is")
    if file.sha256 and _SHA256.fullmatch(name) and name != file.sha256:
        raise BadAnswer(f"the hub contradicts itself: {file.name!r} has one hash in its list, and another now")
    if digest := file.sha256 or (name if _SHA256.fullmatch(name) else None):
        return Expected(stated, "sha256", digest), name
    if _GIT.fullmatch(name) and name == file.blob:
        return Expected(stated, "git", name), name
    return Expected(stated), name


def _sha256(lfs: object) -> str | None:
    digest = lfs.get("sha256") if isinstance(lfs, dict) else None
    return digest if isinstance(digest, str) and _SHA256.fullmatch(digest) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _size(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 50 else None


def is_a_name(text: object) -> bool:
    return isinstance(text, str) and re.fullmatch(r"[\w.-]{1,96}/[\w.-]{1,96}", text) is not None
