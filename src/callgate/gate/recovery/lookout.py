"""What a set of formats has to look out for in a text, made once and shared."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from callgate.gate.recovery.shapes import Block, Format
from callgate.gate.recovery.source import Finder

ENDINGS = ("<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>", "<end_of_turn>",
           "<｜end▁of▁sentence｜>", "<|end▁of▁sentence|>", "<|END_OF_TURN_TOKEN|>", "<|eot|>", "<|eom|>", "<|end|>", "<|return|>", "<|call|>", "<|tool_response>")  # fmt: skip
"""Tokens that end an answer; they belong to nobody's words where nothing but such follows."""
FENCE = "```"


class Lookout:
    """The openers, closers and tags of some formats, and how to find the next."""

    def __init__(self, formats: Sequence[Format]) -> None:
        self.formats = formats
        self.blocks: dict[str, list[tuple[str, Block]]] = {}
        self.sections: dict[str, list[str]] = {}
        self.section_ends: dict[str, tuple[str, ...]] = {}
        self.closers: set[str] = set()
        self.thinking: dict[str, str] = {}
        self.marks: set[str] = set()
        self.bare: set[str] = set()
        self.channels = {format.channels for format in formats} - {""}
        for format in formats:
            for block in format.blocks:
                for opener in block.open:
                    known = self.blocks.setdefault(opener, [])
                    known.append((format.name, block))
                self.closers.update(block.close)
                if block.tags:
                    self.closers.update(block.tags.call_end)
            for opener, closer in format.sections:
                self.sections.setdefault(opener, []).append(format.name)
                self.section_ends[opener] = (closer,)
                self.closers.add(closer)
            self.thinking.update(format.thinking)
            self.marks.update(format.marks)
            self.bare.update(format.bare)
        if self.channels:
            self.marks.update(("<|end|>", "<|eom|>"))
        self.openers = frozenset((*self.blocks, *self.sections))
        self.opener_finder = Finder(self.openers)
        self.closers -= self.openers
        self.thinking_closers = frozenset(self.thinking.values())
        heads = ("<|start|>", "<|channel|>") if self.channels else ()
        self.heads = frozenset(heads)
        places = {FENCE} | ({"{", "["} if self.bare & {"json", "pythonic"} else set())
        self.literals = Finder(
            {
                *self.openers,
                *self.closers,
                *self.thinking,
                *self.thinking_closers,
                *self.marks,
                *heads,
                *places,
                *ENDINGS,
            }
        )
        self.tail_finder = Finder({*self.closers, *ENDINGS, ";", ","} - self.openers)


@lru_cache(maxsize=64)
def lookout(formats: tuple[Format, ...]) -> Lookout:
    return Lookout(formats)
