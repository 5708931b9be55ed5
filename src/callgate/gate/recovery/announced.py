"""Calls that something announces: a tag, a token, a section; what follows says which grammar it is."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callgate.gate.recovery import grammars, tagged
from callgate.gate.recovery.lookout import Lookout
from callgate.gate.recovery.said import Said
from callgate.gate.recovery.shapes import Block
from callgate.gate.recovery.source import Reading, Source

GRAMMARS: Mapping[str, tuple[grammars.Grammar, str]] = {
    "json": (grammars.read_json, "{[`"),
    "named": (grammars.read_named, ""),
    "mistral": (grammars.read_mistral, ""),
    "pythonic": (grammars.read_pythonic, ""),
    "gemma": (grammars.read_gemma, ""),
    "pairs": (tagged.read_pairs, ""),
}
"""Each with the characters that it begins with, if there are only these."""
TAGGED: Mapping[str, grammars.Grammar] = {"elements": tagged.read_elements, "nested": tagged.read_nested}
NOT_A_NAME = "<{[`"
MOST_OPENERS = 8
"""One behind another; a call has three at most."""


class Candidate(msgspec.Struct, frozen=True):
    """What was read as calls."""

    calls: list[Said]
    format: str
    strict: bool = False
    announced: bool = False
    """Whether something but its shape says that it is a call."""


def read_announced(source: Source, look: Lookout, opener: str) -> Reading[Candidate | None]:
    """What stands behind `opener`, which was read."""
    passed = [opener]
    while len(passed) <= MOST_OPENERS:
        tags = next((block for _, block in look.blocks.get(opener, ()) if block.tags), None)
        if tags is not None:
            assert tags.tags is not None
            source.at -= len(opener) - opener.index(tags.tags.call) - len(tags.tags.call)
            calls = yield from TAGGED[tags.grammar](source, tags)
            return Candidate(calls, _format(look, passed, tags), tags.strict, announced=True) if calls else None
        char = yield from source.skip_blank()
        inner = yield from source.take(look.opener_finder)
        if inner:
            opener = inner
            passed.append(inner)
            continue
        block = _block(look, opener, char)
        if block is None and char and char in "{[" and opener in look.sections:
            block = Block((opener,), "json", look.section_ends[opener])
        if block is None:
            return None
        calls = yield from GRAMMARS[block.grammar][0](source, block)
        return Candidate(calls, _format(look, passed, block), block.strict, announced=True) if calls else None
    return None


def _block(look: Lookout, opener: str, char: str) -> Block | None:
    for _, block in look.blocks.get(opener, ()):
        first = GRAMMARS[block.grammar][1]
        if (char and char in first) if first else (block.grammar != "pairs" or char not in NOT_A_NAME):
            return block
    return None


def _format(look: Lookout, passed: list[str], block: Block) -> str:
    """The first format that has all of these."""
    having = [
        {name for name, _ in look.blocks.get(opener, ())} | set(look.sections.get(opener, ())) for opener in passed
    ]
    having.append({known.name for known in look.formats if block in known.blocks} or having[-1])
    both = set.intersection(*having) or having[-1]
    return next(known.name for known in look.formats if known.name in both)
