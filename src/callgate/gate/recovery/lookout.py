"""What a set of formats has to look out for in a text, made once and shared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from callgate.gate.recovery.finders import Finder
from callgate.gate.recovery.places import LONGEST_BEGINNING, guards
from callgate.gate.recovery.shapes import Block, Format

ENDINGS = frozenset(
    {
        *("<|im_end|>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<end_of_turn>", "<|END_OF_TURN_TOKEN|>"),
        *("<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|eom|>", "<|end|>", "<|return|>", "<|call|>", "<|tool_response>"),
        *("<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>"),
    }
)
"""Tokens that end an answer; they belong to nobody's words where nothing but such follows."""
BRACKETS = "{["
"""A bare call begins with one of these."""
FENCE = "```"
FENCES = frozenset({FENCE, "~~~"})
"""Blocks of code begin and end with one of these."""


class Lookout:
    """The openers, closers and tags of some formats, and how to find the next."""

    def __init__(self, formats: Sequence[Format], *, anywhere: bool) -> None:
        self.formats = formats
        self.blocks: dict[str, list[tuple[str, Block]]] = {}
        self.sections: dict[str, list[str]] = {}
        self.section_ends: dict[str, tuple[str, ...]] = {}
        self.closers: set[str] = set()
        self.thinking: dict[str, str] = {}
        self.marks: set[str] = set()
        self.bare: set[str] = set()
        self.channels = any(known.channels for known in formats)
        for known in formats:
            for block in known.blocks:
                for opener in block.open:
                    self.blocks.setdefault(opener, []).append((known.name, block))
                self.closers.update(block.close)
                if block.tags:
                    self.closers.update(block.tags.call_end)
            for opener, closer in known.sections:
                self.sections.setdefault(opener, []).append(known.name)
                self.section_ends[opener] = (closer,)
                self.closers.add(closer)
            self.thinking.update(known.thinking)
            self.marks.update(known.marks)
            self.bare.update(known.bare)
        if self.channels:
            self.marks.update(("<|end|>", "<|eom|>"))
        self.begins_with_words = not self.channels and "named" not in self.bare
        """Whether nothing but its literals can be more than words at the beginning of a text."""
        self.openers = frozenset((*self.blocks, *self.sections))
        self.framed = frozenset(
            opener
            for known in formats
            if known.framed
            for opener in (
                *(each for block in known.blocks for each in block.open),
                *(each for each, _ in known.sections),
            )
        )
        """Openers that mean something only in a part that is for a tool."""
        self.opener_finder = Finder(self.openers)
        self.closers -= self.openers
        self.thinking_closers = frozenset(self.thinking.values())
        heads = ("<|start|>", "<|channel|>") if self.channels else ()
        self.heads = frozenset(heads)
        marks = {*self.closers, *self.thinking, *self.thinking_closers, *self.marks, *heads, *ENDINGS}
        tags = {*self.openers, *marks, *FENCES}
        self.literals = Finder(tags, guards(self.bare, marks, anywhere=anywhere), LONGEST_BEGINNING)
        self.tags = Finder(tags)
        """What means something wherever it stands."""
        self._thinking_finders: dict[frozenset[str], Finder] = {}
        self.tail_finder = Finder({*self.closers, *ENDINGS, ";", ","} - self.openers)

    def thinking_finder(self, ends: frozenset[str]) -> Finder:
        """For what ends a thinking, and the openers of calls in it."""
        if ends not in self._thinking_finders:
            self._thinking_finders[ends] = Finder(
                {*ends, *(one for one in self.openers - self.framed if not one[0].isalnum())}
            )
        return self._thinking_finders[ends]


@lru_cache(maxsize=64)
def lookout(formats: tuple[Format, ...], *, anywhere: bool) -> Lookout:
    """`anywhere`: bare calls may begin within a line, and with other JSON before them."""
    return Lookout(formats, anywhere=anywhere)
