"""Reads what other OpenAI-compatible servers say of a model: vLLM, SGLang, and those that we don't know."""

from __future__ import annotations

from collections.abc import Iterator

from callgate.detect.hostile import flag, mapping, number, quoted, word, words
from callgate.vocabulary import Answer, Evidence, Facts, Source

_CONTEXT_KEYS = ("max_model_len", "context_length", "context_window", "max_context_length")


def vllm_evidence(facts: Facts) -> Iterator[Evidence]:
    yield from _context(facts)
    detail = "vLLM takes tools only with --enable-auto-tool-choice and --tool-call-parser, which it doesn't show"
    yield Evidence("native_route", Answer.UNKNOWN, Source.ENGINE, detail, facts.at)


def sglang_evidence(facts: Facts) -> Iterator[Evidence]:
    """`facts.answer` is that of `/model_info`, which older versions call `/get_model_info`."""
    info = mapping(facts.answer)

    def say(claim: str, answer: Answer | str, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.ENGINE, detail, facts.at)

    yield from _context(facts)
    if parser := word(info.get("tool_call_parser")):
        yield say("native_route", Answer.YES, f"SGLang runs with --tool-call-parser {quoted(parser)}")
    elif "tool_call_parser" in info:
        yield say("native_route", Answer.NO, "SGLang runs without --tool-call-parser, so that calls come back as text")
    else:
        yield say("native_route", Answer.UNKNOWN, "SGLang needs --tool-call-parser, which this version doesn't show")
    if (generates := flag(info.get("is_generation"))) is not None:
        yield say("is_embedding", Answer.of(not generates), f"SGLang says is_generation: {str(generates).lower()}")
    for claim, key in (("supports_vision", "has_image_understanding"), ("supports_audio", "has_audio_understanding")):
        if (able := flag(info.get(key))) is not None:
            yield say(claim, Answer.of(able), f"SGLang says {key}: {str(able).lower()}")
    if parser := word(info.get("reasoning_parser")):
        yield say("supports_thinking", Answer.YES, f"SGLang runs with --reasoning-parser {quoted(parser)}")
    if architecture := word(info.get("model_type")):
        yield say("architecture", architecture, "SGLang says so in model_type")


def openai_evidence(facts: Facts) -> Iterator[Evidence]:
    yield from _context(facts)
    entry = {**mapping(facts.listing), **mapping(facts.answer)}
    if "tools" in (words(entry.get("supported_parameters")) or ()):
        detail = 'the server lists "tools" among its supported_parameters'
        yield Evidence("native_route", Answer.YES, Source.ENGINE, detail, facts.at)
    else:
        detail = "an OpenAI-compatible server doesn't say whether it takes tools"
        yield Evidence("native_route", Answer.UNKNOWN, Source.ENGINE, detail, facts.at)


def _context(facts: Facts) -> Iterator[Evidence]:
    """What the server allows is also what it runs the model with."""
    for entry in (mapping(facts.answer), mapping(facts.listing)):
        for key in _CONTEXT_KEYS:
            if context := number(entry.get(key)):
                yield Evidence("context_length", context, Source.ENGINE, f"the server says so in {key}", facts.at)
                if key == "max_model_len":
                    yield Evidence("loaded_context", context, Source.ENGINE, f"the server says so in {key}", facts.at)
                return
