"""Reads what another callgate says of a model, in its entry in `/v1/models`."""

from __future__ import annotations

from collections.abc import Iterator

from callgate.detect.hostile import flag, mapping, number, word
from callgate.vocabulary import Answer, Evidence, Facts, Source

_FLAGS = (
    "is_embedding",
    "supports_parallel_tool_calls",
    "supports_system_role",
    "supports_thinking",
    "supports_enable_thinking",
    "supports_vision",
    "supports_audio",
)
_NUMBERS = ("context_length", "loaded_context", "parameter_count")
_WORDS = ("parameter_size", "quantization", "family", "architecture")
_WAYS = {
    "native": "the callgate there passes tools on to it",
    "emulated": "the callgate there lets it call tools, although it can't by itself",
}


def is_callgates(entry: object) -> bool:
    """Whether an entry of `/v1/models` is one of ours."""
    return word(mapping(mapping(entry).get("callgate")).get("mode")) is not None


def callgate_evidence(facts: Facts) -> Iterator[Evidence]:
    """Of what a client gets there, which may be more than the model can do by itself."""
    said = mapping(mapping(facts.listing).get("callgate"))
    known = mapping(said.get("capabilities"))

    def say(claim: str, answer: Answer | int | str, detail: str = "the callgate there says so") -> Evidence:
        return Evidence(claim, answer, Source.ENGINE, detail, facts.at)

    if way := _WAYS.get(word(said.get("mode")) or ""):
        yield say("tools", Answer.YES, way)
        yield say("native_route", Answer.YES, way)
    else:
        if said.get("tools") == Answer.NO:
            yield say("tools", Answer.NO)
        yield say("native_route", Answer.NO, "the callgate there leaves tools off")
    for claim in _FLAGS:
        if (able := flag(known.get(claim))) is not None:
            yield say(claim, Answer.of(able))
    for claim in _NUMBERS:
        if count := number(known.get(claim)):
            yield say(claim, count)
    for claim in _WORDS:
        if text := word(known.get(claim)):
            yield say(claim, text)
