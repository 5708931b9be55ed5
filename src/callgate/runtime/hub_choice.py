"""Which of a repository's files are models, and which one is meant. Names alone decide; nothing is fetched."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence

import msgspec

from callgate.detect import split_name

PREFERRED = ("q4_k_m", "q5_k_m", "q4_0", "q8_0", "q6_k", "q3_k_m", "q2_k")
"""What people mostly take, the best first."""
LONGEST_NAME = 512

SHARD = re.compile(r"(?P<start>.*)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf", re.IGNORECASE | re.DOTALL)
_BESIDE_A_MODEL = re.compile(r"mmproj|imatrix", re.IGNORECASE)
_PROJECTORS_FIRST = ("f16", "bf16", "q8_0", "f32")
_MOST_SHARDS = 1_000


class Candidate(msgspec.Struct, frozen=True):
    """One model: a file, or all its shards in order."""

    files: tuple[str, ...]
    quant: str | None = None
    missing: int = 0
    """Shards that aren't there."""

    @property
    def name(self) -> str:
        """The file that has the header."""
        return self.files[0]


def stays_inside(name: str) -> bool:
    """A name that can be put behind a repository's URL, or a folder's path, without leading out of it."""
    parts = name.split("/")
    return len(name) <= LONGEST_NAME and name.isprintable() and "\\" not in name and not {"", ".", ".."} & set(parts)


def candidates_in(names: Iterable[str]) -> list[Candidate]:
    """The models among the files of a repository, by name. What goes with a model is none, nor is a shard without the
    first one, which has the header.
    """
    whole: list[str] = []
    shards: dict[tuple[str, int], dict[int, str]] = {}
    for name in sorted(set(names)):
        if not name.lower().endswith(".gguf") or is_beside_a_model(name):
            continue
        shard = SHARD.fullmatch(name)
        if shard and 1 <= int(shard["number"]) <= int(shard["count"]) <= _MOST_SHARDS:
            group = shards.setdefault((shard["start"], int(shard["count"])), {})
            group[int(shard["number"])] = name
        elif not shard:
            whole.append(name)
    found = [Candidate((name,), quant_of(name)) for name in whole]
    for (_, count), parts in shards.items():
        if 1 in parts:
            files = tuple(parts[number] for number in sorted(parts))
            found.append(Candidate(files, quant_of(files[0]), count - len(files)))
    return sorted(found, key=lambda candidate: candidate.name)


def is_beside_a_model(name: str) -> bool:
    """A projector, or the statistics that a quantisation was made with."""
    return bool(_BESIDE_A_MODEL.search(os.path.basename(name)))


def is_projector(name: str) -> bool:
    return "mmproj" in os.path.basename(name).lower() and name.lower().endswith(".gguf")


def projector_in(names: Iterable[str]) -> str | None:
    """The projector that makes a repository's models see, the most common one if there are several."""
    found = [name for name in sorted(names) if is_projector(name)]
    for wanted in _PROJECTORS_FIRST:
        if fitting := [name for name in found if _names(name, wanted)]:
            return fitting[0]
    return found[0] if found else None


def quant_of(name: str) -> str | None:
    """The quantisation that a file's name, or else its folder's, tells: `Q4_K_M`."""
    return split_name(name).quantization or split_name(os.path.dirname(name)).quantization


def narrowed(candidates: Sequence[Candidate], quant: str | None = None) -> list[Candidate]:
    """Those that are meant: one, if that is clear; several, if somebody has to choose; none, if none is of `quant`."""
    if quant:
        return _of(candidates, quant)
    whole = [candidate for candidate in candidates if not candidate.missing] or list(candidates)
    if len(whole) < 2:
        return whole
    for wanted in PREFERRED:
        if found := _of(whole, wanted):
            return found
    return whole


def _of(candidates: Sequence[Candidate], quant: str) -> list[Candidate]:
    exactly = [candidate for candidate in candidates if (candidate.quant or "").lower() == quant.lower()]
    return exactly or [candidate for candidate in candidates if _names(candidate.name, quant)]


def _names(name: str, quant: str) -> bool:
    return bool(re.search(rf"(?<![a-z0-9]){re.escape(quant)}(?![a-z0-9_])", name, re.IGNORECASE))
