"""Reads what llama.cpp's `llama-server` says: `/props`, and the model's entry in `/v1/models`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from callgate.detect.hostile import flag, mapping, number, quoted, word, words
from callgate.vocabulary import Answer, Evidence, Facts, Source

_FIRST_WITH_JINJA_ON = 7170
"""The build from which `--jinja` is the default. `chat_template_caps` came 643 builds later."""

_SAME_NAME = (
    "supports_tools",
    "supports_tool_calls",
    "supports_parallel_tool_calls",
    "supports_system_role",
    "supports_string_content",
    "supports_typed_content",
    "supports_preserve_reasoning",
)
_ABOUT_TOOLS = ("supports_tools", "supports_tool_calls", "supports_parallel_tool_calls")


def llama_server_templates(props: Mapping[str, object] | None) -> dict[str, str] | None:
    """The chat templates in an answer of `/props`; `None` where it has none."""
    props = mapping(props)
    templates = {
        name: text
        for name, key in (("default", "chat_template"), ("tool_use", "chat_template_tool_use"))
        if isinstance(text := props.get(key), str) and text
    }
    return templates or None


def llama_server_tokens(props: Mapping[str, object] | None) -> dict[str, str]:
    """The special tokens in an answer of `/props`."""
    props = mapping(props)
    return {key: text for key in ("bos_token", "eos_token") if isinstance(text := props.get(key), str)}


def llama_server_evidence(facts: Facts) -> Iterator[Evidence]:
    props, listing = mapping(facts.answer), mapping(facts.listing)

    def say(claim: str, answer: Answer | int | str, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.ENGINE, detail, facts.at)

    yield from _template_caps(props, facts.at)
    if props:
        yield say("native_route", *_route(props))

    vision, audio = _modalities(props, listing)
    if vision is not None:
        yield say(
            "supports_vision", Answer.of(vision), f"llama.cpp says that it takes {'' if vision else 'no '}pictures"
        )
    if audio is not None:
        yield say("supports_audio", Answer.of(audio), f"llama.cpp says that it takes {'' if audio else 'no '}sounds")

    meta = mapping(listing.get("meta"))
    settings = mapping(props.get("default_generation_settings"))
    if loaded := number(settings.get("n_ctx")) or number(meta.get("n_ctx")):
        yield say("loaded_context", loaded, "llama.cpp runs it with n_ctx of this size")
    if trained := number(meta.get("n_ctx_train")):
        yield say("context_length", trained, "/v1/models says so in n_ctx_train")
    elif loaded:
        yield say("context_length", loaded, "llama.cpp runs it with n_ctx of this size, and says no more")
    if count := number(meta.get("n_params")):
        yield say("parameter_count", count, "/v1/models says so in n_params")
    if quantization := word(props.get("model_ftype")) or word(meta.get("ftype")):
        yield say("quantization", quantization, "llama.cpp says so")


def _template_caps(props: Mapping[str, object], at: float) -> Iterator[Evidence]:
    caps = {
        claim: value
        for claim in _SAME_NAME
        if (value := flag(mapping(props.get("chat_template_caps")).get(claim))) is not None
    }
    only_default = bool(props.get("chat_template_tool_use"))

    def say(claim: str, able: bool, detail: str) -> Evidence:
        return Evidence(claim, Answer.of(able), Source.ENGINE, detail, at)

    for claim, able in caps.items():
        # They describe the default template; where there is a variant for tools, they say nothing about tools.
        if not (only_default and claim in _ABOUT_TOOLS):
            yield say(claim, able, f"llama.cpp's chat_template_caps say {'yes' if able else 'no'}")
    if only_default or not {"supports_tools", "supports_tool_calls"} <= caps.keys():
        return
    match caps["supports_tools"], caps["supports_tool_calls"]:
        case True, True:
            yield say("tools", True, "llama.cpp's chat_template_caps have tools and tool calls")
        case True, False:
            yield say("tools", False, "llama.cpp's chat_template_caps have tools, but no tool calls")
        case False, True:
            yield say("tools", False, "llama.cpp's chat_template_caps have tool calls, but no tools")
        case _:
            yield say("tools", False, "llama.cpp's chat_template_caps have neither tools nor tool calls")


def _route(props: Mapping[str, object]) -> tuple[Answer, str]:
    """`/props` doesn't say whether Jinja is on (if not, tools get a 500), but in newer builds it is by default."""
    if props.get("chat_template_tool_use"):
        return Answer.YES, "llama-server runs with Jinja: only then it shows the template's variant for tools"
    build = word(props.get("build_info")) or ""
    number_of_build = re.match(r"b(\d{1,9})-", build)
    if number_of_build and int(number_of_build[1]) >= _FIRST_WITH_JINJA_ON:
        return Answer.YES, f"llama-server {quoted(build)} takes tools, unless it was started with --no-jinja"
    if "chat_template_caps" in props:
        return (
            Answer.YES,
            "a llama-server that gives chat_template_caps takes tools, unless it was started with --no-jinja",
        )
    return (
        Answer.UNKNOWN,
        "an older llama-server takes tools only if it was started with --jinja, which it doesn't show",
    )


def _modalities(props: Mapping[str, object], listing: Mapping[str, object]) -> tuple[bool | None, bool | None]:
    said = mapping(props.get("modalities"))
    inputs = words(mapping(listing.get("architecture")).get("input_modalities"))
    vision, audio = flag(said.get("vision")), flag(said.get("audio"))
    if inputs is not None:
        vision = "image" in inputs if vision is None else vision
        audio = "audio" in inputs if audio is None else audio
    return vision, audio
