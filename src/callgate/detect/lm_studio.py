"""Reads what LM Studio says of a model: its entry in `/api/v1/models` (from 0.4 on) or in `/api/v0/models`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from callgate.detect.hostile import flag, mapping, number, word, words
from callgate.vocabulary import Answer, Evidence, Facts, Source


def lm_studio_evidence(facts: Facts) -> Iterator[Evidence]:
    entry = {**mapping(facts.listing), **mapping(facts.answer)}

    def say(claim: str, answer: Answer | int | str, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.ENGINE, detail, facts.at)

    kind = word(entry.get("type"))
    if kind in ("embedding", "embeddings"):
        yield say("is_embedding", Answer.YES, "LM Studio says that it is an embedding model")
    elif kind in ("llm", "vlm"):
        yield say("is_embedding", Answer.NO, f"LM Studio says that it is of type {kind}")
        yield say(
            "native_route", Answer.YES, "LM Studio takes tools for every model, and describes them itself if need be"
        )
        if kind == "vlm":
            yield say("supports_vision", Answer.YES, "LM Studio says that it is of type vlm")
    yield from _capabilities(entry.get("capabilities"), facts.at)

    if context := number(entry.get("max_context_length")):
        yield say("context_length", context, "LM Studio says so in max_context_length")
    if loaded := number(entry.get("loaded_context_length")) or _context_of_instances(entry, facts.name):
        yield say("loaded_context", loaded, "LM Studio has it loaded with this context")
    quantization = entry.get("quantization")
    for claim, value in (
        ("architecture", entry.get("arch") or entry.get("architecture")),
        ("quantization", mapping(quantization).get("name") or quantization),
        ("parameter_size", entry.get("params_string")),
    ):
        if text := word(value):
            yield say(claim, text, "LM Studio says so")


def _capabilities(capabilities: object, at: float) -> Iterator[Evidence]:
    """A list of words in the older API, in which a missing word means little; an object of yes and no in the newer."""

    def say(claim: str, answer: Answer, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.ENGINE, detail, at)

    if "tool_use" in (words(capabilities) or ()):
        yield say("tools", Answer.YES, 'LM Studio lists "tool_use" among its capabilities')
    said = mapping(capabilities)
    if (trained := flag(said.get("trained_for_tool_use"))) is not None:
        yield say(
            "tools", Answer.of(trained), f"LM Studio says that it was {'' if trained else 'not '}trained for tool use"
        )
    if (vision := flag(said.get("vision"))) is not None:
        yield say(
            "supports_vision", Answer.of(vision), f"LM Studio says that it takes {'' if vision else 'no '}pictures"
        )
    options = words(mapping(said.get("reasoning")).get("allowed_options"))
    if options:
        yield say("supports_thinking", Answer.of(options != {"off"}), "LM Studio lists how it may reason")
        yield say("supports_enable_thinking", Answer.of("off" in options and len(options) > 1), "likewise")


def _context_of_instances(entry: Mapping[str, object], name: str) -> int | None:
    """Of the loaded instance of that name, or else of the first."""
    instances = entry.get("loaded_instances")
    loaded = [mapping(each) for each in instances[:64]] if isinstance(instances, list) else []
    loaded.sort(key=lambda each: each.get("id") != name)
    return next((size for each in loaded if (size := number(mapping(each.get("config")).get("context_length")))), None)
