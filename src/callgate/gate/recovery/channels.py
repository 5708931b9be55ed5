"""Headers that say whom a part of an answer is for: harmony's channels, and glimmer's recipients."""

from __future__ import annotations

import re

import msgspec

from callgate.gate.recovery.announced import Candidate
from callgate.gate.recovery.finders import Finder
from callgate.gate.recovery.grammars import read_arguments
from callgate.gate.recovery.shapes import Block
from callgate.gate.recovery.source import Reading, Source, TooLong

LONGEST_HEAD = 400
_MESSAGE = Finder(("<|message|>",))
_MESSAGE_OR_LINE = Finder(("<|message|>", "\n"))
_RECIPIENT = re.compile(r"\bto=([^\s<]+)")
_PEOPLE = frozenset({"user", "self", "assistant", "all", "system"})
ENDS = ("<|end|>", "<|return|>", "<|call|>", "<|eom|>", "<|eot|>")
HARMONY_ENDS = Finder((*ENDS, "<|start|>", "<|channel|>"))
GLIMMER_ENDS = Finder(("<|eom|>", "<|eot|>"))
_TO = Finder(("to=",))


class Part(msgspec.Struct, frozen=True):
    """A part of the answer that holds no calls, whatever it looks like, up to one of some tokens."""

    kind: str
    """`thinking`, `text`, or `calls` where it is for a tool after all."""
    ends: Finder


def read_head(source: Source, opener: str) -> Reading[Candidate | Part | None]:
    """The header of which `opener` was read, and the call in its part, if it is one; None if that is no header."""
    head, message = yield from source.until(_MESSAGE, LONGEST_HEAD)
    if not message:
        return None
    recipient = _RECIPIENT.search(head)
    *before, channel = f"{opener}{head}".split("<|channel|>")
    name = recipient[1] if recipient else ""
    thinks = bool(before) and channel.split()[:1] == ["analysis"]
    if name and name not in _PEOPLE:
        char = yield from source.skip_blank()
        if char == "<":
            return Part("calls", HARMONY_ENDS)
        calls = yield from read_arguments(source, Block((), "named"), name.removeprefix("functions."), announced=False)
        return Candidate(calls, "gpt_oss_harmony", announced=True) if calls else None
    if name == "self":
        return Part("thinking", GLIMMER_ENDS)
    if name == "user":
        return Part("text", GLIMMER_ENDS)
    return Part("thinking" if thinks else "text", HARMONY_ENDS)


def starts_with_head(source: Source) -> Reading[bool]:
    """Whether an answer begins with the rest of a header, in one line: ` to=user<|message|>`. Passes nothing."""
    yield from source.skip_blank()
    found = ""
    if (yield from source.take(_TO)):
        try:
            _, found = yield from source.until(_MESSAGE_OR_LINE, LONGEST_HEAD)
        except TooLong:
            found = ""
    source.back()
    return found not in ("", "\n")
