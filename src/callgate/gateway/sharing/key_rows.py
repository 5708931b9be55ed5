"""What is kept of a key, also after it was taken back: so a key that Redis lost isn't taken for one taken back.

Of two rows for one name the later counts. A Redis that comes back empty, or with what it knew an hour ago, gets from
any server what that one remembers, and neither a key is lost so nor does one come back that was taken away.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated

import msgspec

MOST_KEYS = 1_000
MOST_ROWS = 2 * MOST_KEYS
REMEMBERED_SECONDS = 30 * 86_400.0
"""For so long it is kept that a key was taken back."""
NAME = re.compile(r"[\w.@+-]{1,64}", re.ASCII)
_DIGEST = re.compile(r"[0-9a-f]{64}")
_Moment = Annotated[float, msgspec.Meta(ge=0, le=1e11)]


class SharedKey(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    digest: str = msgspec.field(name="sha256")
    made_at: _Moment = 0.0
    removed_at: _Moment = 0.0
    """When it was taken back; 0, if it wasn't."""

    def __post_init__(self) -> None:
        if not _DIGEST.fullmatch(self.digest):
            raise ValueError("no hash")

    @property
    def counts(self) -> bool:
        return not self.removed_at

    @property
    def rank(self) -> tuple[float, bool]:
        return max(self.made_at, self.removed_at), not self.counts


Rows = Mapping[str, SharedKey]


def new_row(digest: str, before: SharedKey | None) -> SharedKey:
    """Later than whatever had its name, whatever the clocks say."""
    now = float(int(time.time()))
    return SharedKey(digest=digest, made_at=max(now, before.rank[0] + 1) if before else now)


def removed(key: SharedKey) -> SharedKey:
    return msgspec.structs.replace(key, removed_at=max(float(int(time.time())), key.made_at, 1.0))


def counting(rows: Rows) -> dict[str, SharedKey]:
    return {name: key for name, key in rows.items() if key.counts and NAME.fullmatch(name)}


def missing(known: Rows, found: Rows) -> dict[str, SharedKey]:
    """What is known, and not or no longer found, nor anything later under its name."""
    gone = {name: key for name, key in known.items() if name not in found or found[name].rank < key.rank}
    return {name: key for name, key in gone.items() if key.counts or _is_remembered(key)}


def merged(rows: Rows, more: Rows = MappingProxyType({})) -> dict[str, SharedKey]:
    """The later of both, and of those taken back no more than there is room for."""
    every = {**rows, **missing(more, rows)}
    gone = sorted((item for item in every.items() if not item[1].counts), key=lambda item: item[1].rank, reverse=True)
    kept = [item for item in gone if _is_remembered(item[1])][:MOST_KEYS]
    return dict([*(item for item in every.items() if item[1].counts), *kept])


def _is_remembered(key: SharedKey) -> bool:
    return key.removed_at > time.time() - REMEMBERED_SECONDS
