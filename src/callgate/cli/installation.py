"""How an extra is added to this installation: where it came out of a folder or a file, only that has it."""

from __future__ import annotations

import os
from functools import cache
from importlib import metadata
from urllib.parse import unquote, urlsplit

import msgspec

_PLAIN = "'callgate["
_LONGEST_RECORD = 10_000


def as_installed(hint: str) -> str:
    """A hint that says `pip install 'callgate[…]'`, with what pip has to be given here in place of the name."""
    return hint.replace(_PLAIN, f"{_source()}[") if "pip install " in hint and _PLAIN in hint else hint


@cache
def _source() -> str:
    try:
        written = metadata.distribution("callgate").read_text("direct_url.json")
    except (metadata.PackageNotFoundError, OSError, ValueError):
        written = None
    return source_in(written or "")


def source_in(record: str) -> str:
    """What pip's record of where a package came from names, as a shell takes it, up to the extra's bracket."""
    try:
        told = msgspec.json.decode(record[:_LONGEST_RECORD], type=_Record)
        parts = urlsplit(told.url)
    except (msgspec.DecodeError, ValueError):
        return _PLAIN[:-1]
    path = unquote(parts.path)
    is_usable = parts.scheme == "file" and not parts.netloc and path.isprintable() and "'" not in path
    if not is_usable or os.name == "nt" or not os.path.exists(path):
        return _PLAIN[:-1]
    return f"{'-e ' if told.dir_info and told.dir_info.editable else ''}'{path}"


class _Folder(msgspec.Struct):
    editable: bool = False


class _Record(msgspec.Struct):
    url: str
    dir_info: _Folder | None = None
