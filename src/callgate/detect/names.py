"""What a model's name alone says: a guess, for when nobody else can be asked.

What is known of names is data, in `names.json`: lists of entries, of which the first that fits decides. An entry fits

- where its `stem` stands in the name as words of their own: `qwen3` in `Qwen3-8B-GGUF`, not in `qwen3.5`; a `*` leaves
  the end open;
- where one of its words `with` is in the name or its tag;
- where the model isn't known to be smaller than `at_least` billion parameters.

Each entry has an example, and a test holds it to that.
"""

from __future__ import annotations

import os.path
from collections.abc import Iterable, Iterator
from functools import cache
from typing import TypeVar

import msgspec

from callgate.detect.name_parts import NameParts, split_name
from callgate.vocabulary import Answer, Evidence, Source

UNKNOWN_FAMILY = "unknown"
DEFAULT_CONTEXT = 4096
DEFAULT_EMBEDDING_CONTEXT = 512


class NamePattern(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"words": "with"}):
    stem: str
    example: str
    words: tuple[str, ...] = ()
    at_least: float = 0

    def fits(self, parts: NameParts) -> bool:
        if not _stands_in(self.stem, parts.model):
            return False
        if self.words and parts.tokens.isdisjoint(self.words):
            return False
        return parts.billions is None or parts.billions >= self.at_least


class KnownFamily(NamePattern, frozen=True, forbid_unknown_fields=True, kw_only=True):
    tools: Answer
    family: str | None = None
    """Where it isn't called like the stem."""
    reliability: str | None = None
    note: str | None = None

    @property
    def name(self) -> str:
        return self.family or self.stem


_P = TypeVar("_P", bound=NamePattern)


class KnownNames(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    families: tuple[KnownFamily, ...]
    vision: tuple[NamePattern, ...]
    thinking: tuple[NamePattern, ...]
    embedding: tuple[NamePattern, ...]


@cache
def known_names() -> KnownNames:
    path = os.path.join(os.path.dirname(__file__), "names.json")
    with open(path, "rb") as file:
        return msgspec.json.decode(file.read(), type=KnownNames)


def family_of(name: str) -> str:
    """The family that a model belongs to by its name, or `unknown`."""
    family = _first(known_names().families, split_name(name))
    return family.name if family else UNKNOWN_FAMILY


def name_evidence(name: str, at: float) -> Iterator[Evidence]:
    """What `name` gives away of its model."""
    parts, known = split_name(name), known_names()

    def say(claim: str, answer: Answer | str, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.NAME, detail, at)

    if family := _first(known.families, parts):
        yield say("family", family.name, f"it is called {family.stem.rstrip('*')}")
        yield say("tools", family.tools, _on_tools(family))
        if family.reliability:
            note = f": {family.note}" if family.note else ""
            yield say("reliability", family.reliability, f"what is known of {family.name}{note}")
    for claim, patterns, what in (
        ("supports_vision", known.vision, "look at pictures"),
        ("supports_thinking", known.thinking, "think first"),
        ("is_embedding", known.embedding, "are for embedding"),
    ):
        if pattern := _first(patterns, parts):
            yield say(claim, Answer.YES, f"models called {pattern.stem.rstrip('*')} {what}")
    if parts.size:
        yield say("parameter_size", parts.size, f"its name says {parts.size}")
    if parts.quantization:
        yield say("quantization", parts.quantization, f"its name says {parts.quantization}")


def default_evidence(name: str, at: float, *, is_embedding: bool | None = None) -> Iterator[Evidence]:
    """What is taken for granted where nobody says anything; `is_embedding` by the name, if it isn't given."""
    if is_embedding is None:
        is_embedding = _first(known_names().embedding, split_name(name)) is not None
    context = DEFAULT_EMBEDDING_CONTEXT if is_embedding else DEFAULT_CONTEXT
    kind = "an embedding model" if is_embedding else "a model"
    yield Evidence("context_length", context, Source.DEFAULT, f"what {kind} has at the very least", at)
    if family_of(name) == UNKNOWN_FAMILY:
        yield Evidence("family", UNKNOWN_FAMILY, Source.DEFAULT, "no family that is known by its name", at)


def _on_tools(family: KnownFamily) -> str:
    says = {
        Answer.YES: "models called {} call tools",
        Answer.NO: "models called {} don't call tools",
        Answer.UNKNOWN: "some models called {} call tools, others don't",
    }[family.tools]
    return says.format(family.name) + (f": {family.note}" if family.note else "")


def _first(patterns: Iterable[_P], parts: NameParts) -> _P | None:
    return next((pattern for pattern in patterns if pattern.fits(parts)), None)


def _stands_in(stem: str, model: str) -> bool:
    """Does `stem` stand in `model` with an end of a word on both sides?"""
    open_end = stem.endswith("*")
    stem = stem.rstrip("*")
    start = model.find(stem)
    while start >= 0:
        end = start + len(stem)
        if not model[start - 1 : start].isalnum() and (open_end or _ends_word(model, end)):
            return True
        start = model.find(stem, start + 1)
    return False


def _ends_word(model: str, end: int) -> bool:
    rest = model[end : end + 2]
    return not rest[:1].isalnum() and not (rest[:1] == "." and rest[1:].isdigit())
