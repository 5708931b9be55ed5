"""Reads what an Ollama says of a model: `/api/show`, and its entries in `/api/tags` and `/api/ps`.

Its `capabilities` are a substring test of the template, so they can be wrong about the model; but it answers 400 to a
request with tools where `tools` isn't among them, so they do decide whether tools can go through.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from callgate.detect.go_template import go_template_evidence, is_go_template
from callgate.detect.hostile import flag, mapping, number, quoted, word, words
from callgate.vocabulary import Answer, Evidence, Facts, Source

_FIRST_WITH_TOOLS = (0, 3, 0)
_FIRST_WITH_THINKING = (0, 9, 0)
_SELF_BUILT = (0, 0, 0)
"""A binary without a version: somebody built it, most likely from today's source."""

_CONTEXT_WORDS = ("context_length", "context_window")
_NUM_CTX = re.compile(r"^[ \t]*num_ctx[ \t]+\"?(\d{1,12})\"?[ \t]*$", re.MULTILINE)
_BUILT_IN = re.compile(r"^(RENDERER|PARSER)[ \t]+(\S{1,60})[ \t]*$", re.MULTILINE)
_BLOCK = re.compile(r'""".*?"""', re.DOTALL)
_LONGEST_TEXT = 1_000_000


def ollama_templates(answer: Mapping[str, object] | None) -> dict[str, str] | None:
    """The Jinja template in an answer of `/api/show`; `None` where the model has another or none that can be seen."""
    answer = mapping(answer)
    template = answer.get("template")
    if not isinstance(template, str) or not template.strip():
        return None
    if _built_in(answer).get("renderer") or is_go_template(template):
        return None
    return {"default": template}


def ollama_evidence(facts: Facts) -> Iterator[Evidence]:
    """Everything that an Ollama's answers say of a model."""
    show, listing, running = mapping(facts.answer), mapping(facts.listing), mapping(facts.running)
    yield from _tools(show, listing, facts)
    yield from _template(show, facts.at)
    yield from _other_capabilities(show, facts)
    yield from _model_info(show, facts.at)
    yield from _context(show, listing, running, facts.at)
    yield from _details(show, listing, facts.at)


def _tools(show: Mapping[str, object], listing: Mapping[str, object], facts: Facts) -> Iterator[Evidence]:
    def say(claim: str, answer: Answer, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.ENGINE, detail, facts.at)

    declared = words(show.get("capabilities"))
    built_in = _built_in(show)
    if declared is not None:
        able = "tools" in declared
        detail = f'/api/show lists {"" if able else "no "}"tools" among its capabilities'
        if able and (parser := built_in.get("parser")):
            detail += f", and Ollama has its own parser for the calls: {parser}"
        yield say("tools", Answer.of(able), detail)
        if able:
            yield say("native_route", Answer.YES, 'Ollama takes tools: /api/show lists "tools"')
        else:
            yield say("native_route", Answer.NO, 'Ollama answers 400 to tools where /api/show doesn\'t list "tools"')
        if able and built_in.get("renderer") and built_in.get("parser"):
            for claim in ("supports_tools", "supports_tool_calls"):
                yield say(claim, Answer.YES, f"Ollama renders it without a template: {built_in['renderer']}")
        return
    if "tools" in (words(listing.get("capabilities")) or ()):  # its silence means nothing: it never sees Jinja
        yield say("tools", Answer.YES, '/api/tags lists "tools" among its capabilities')
        yield say("native_route", Answer.YES, 'Ollama takes tools: /api/tags lists "tools"')
        return
    if show:
        yield say("native_route", *_route_of_an_old_server(show.get("template"), facts.server_version))


def _route_of_an_old_server(template: object, version_text: str | None) -> tuple[Answer, str]:
    """Before 0.6.4 there are no capabilities, but the same test of the Go template decides."""
    version = _version(version_text)
    if version is not None and _SELF_BUILT < version < _FIRST_WITH_TOOLS:
        return Answer.NO, f"Ollama takes tools from 0.3.0 on, and this is {quoted(version_text or '')}"
    if not isinstance(template, str) or not is_go_template(template):
        return Answer.UNKNOWN, "this Ollama doesn't list capabilities, and the model's Go template can't be seen"
    able = any(
        found.claim == "supports_tools" and found.answer == Answer.YES for found in go_template_evidence(template, 0)
    )
    if able:
        return Answer.YES, "this Ollama doesn't list capabilities, but the model's Go template uses .Tools"
    return Answer.NO, "Ollama answers 400 to tools where the Go template doesn't use .Tools"


def _template(show: Mapping[str, object], at: float) -> Iterator[Evidence]:
    template = show.get("template")
    # With a renderer of its own Ollama doesn't use the template, which then is a mere `{{ .Prompt }}`.
    if isinstance(template, str) and not _built_in(show).get("renderer") and is_go_template(template):
        yield from go_template_evidence(template, at)


def _other_capabilities(show: Mapping[str, object], facts: Facts) -> Iterator[Evidence]:
    def say(claim: str, answer: Answer, capability: str) -> Evidence:
        lists = "lists" if answer is Answer.YES else "doesn't list"
        return Evidence(
            claim, answer, Source.ENGINE, f'/api/show {lists} "{capability}" among its capabilities', facts.at
        )

    declared = words(show.get("capabilities"))
    if declared is None:
        return
    if "embedding" in declared and "completion" not in declared:
        yield say("is_embedding", Answer.YES, "embedding")
    elif "completion" in declared:
        yield Evidence("is_embedding", Answer.NO, Source.ENGINE, '/api/show lists "completion"', facts.at)
    yield say("supports_vision", Answer.of("vision" in declared), "vision")
    if "audio" in declared:  # its absence says little: most servers don't know the word
        yield say("supports_audio", Answer.YES, "audio")
    version = _version(facts.server_version)
    if "thinking" in declared:
        yield say("supports_thinking", Answer.YES, "thinking")
    elif version is not None and (version == _SELF_BUILT or version >= _FIRST_WITH_THINKING):
        yield say("supports_thinking", Answer.NO, "thinking")


def _model_info(show: Mapping[str, object], at: float) -> Iterator[Evidence]:
    info = mapping(show.get("model_info"))

    def say(claim: str, answer: Answer | int | str, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.HEADER, detail, at)

    for claim, ending in (
        ("is_embedding", ".pooling_type"),
        ("supports_vision", ".vision.block_count"),
        ("supports_audio", ".audio.block_count"),
    ):
        if key := next((key for key in info if key.endswith(ending)), None):
            yield say(claim, Answer.YES, f"its model_info has {quoted(key)}")
    if architecture := word(info.get("general.architecture")):
        yield say("architecture", architecture, f"its model_info says {quoted(architecture)}")
    if count := number(info.get("general.parameter_count")):
        yield say("parameter_count", count, "its model_info has general.parameter_count")

    if projector := mapping(show.get("projector_info")):
        if flag(projector.get("clip.has_vision_encoder")) is not False:
            yield say("supports_vision", Answer.YES, "it comes with a projector for pictures")
        if flag(projector.get("clip.has_audio_encoder")):
            yield say("supports_audio", Answer.YES, "it comes with a projector for sounds")


def _context(
    show: Mapping[str, object], listing: Mapping[str, object], running: Mapping[str, object], at: float
) -> Iterator[Evidence]:
    found: list[tuple[int, Source, str]] = []
    for key, value in mapping(show.get("model_info")).items():
        if any(part in key for part in _CONTEXT_WORDS) and (context := number(value)):
            found.append((context, Source.HEADER, f"its model_info's {quoted(key)}"))
    parameters = show.get("parameters")
    if isinstance(parameters, str):
        found += [
            (context, Source.ENGINE, "num_ctx in its parameters")
            for digits in _NUM_CTX.findall(parameters[:_LONGEST_TEXT])
            if (context := number(int(digits)))
        ]
    if not found and (context := number(mapping(listing.get("details")).get("context_length"))):
        found.append((context, Source.ENGINE, "its entry in /api/tags"))
    if found:
        context, source, where = max(found, key=lambda each: each[0])
        detail = where if len(found) == 1 else f"{where}, the largest of {len(found)}"
        yield Evidence("context_length", context, source, detail, at)
    if loaded := number(running.get("context_length")):
        yield Evidence("loaded_context", loaded, Source.ENGINE, "its entry in /api/ps: what it is loaded with", at)


def _details(show: Mapping[str, object], listing: Mapping[str, object], at: float) -> Iterator[Evidence]:
    for claim, key in (
        ("family", "family"),
        ("parameter_size", "parameter_size"),
        ("quantization", "quantization_level"),
    ):
        for details, where in ((show.get("details"), "/api/show"), (listing.get("details"), "/api/tags")):
            if (value := word(mapping(details).get(key))) and value.lower() != "unknown":
                yield Evidence(claim, value, Source.ENGINE, f"{where} says so in details.{key}", at)
                break


def _built_in(show: Mapping[str, object]) -> dict[str, str]:
    """The `renderer` and `parser` of Ollama's own that the model uses, where it does."""
    built_in = {key: named for key in ("renderer", "parser") if (named := word(show.get(key)))}
    modelfile = show.get("modelfile")
    if isinstance(modelfile, str):
        for instruction, named in _BUILT_IN.findall(_BLOCK.sub("", modelfile[:_LONGEST_TEXT])):
            built_in.setdefault(instruction.lower(), named)
    return {key: named for key, named in built_in.items() if named != "passthrough"}


def _version(text: str | None) -> tuple[int, int, int] | None:
    match = re.match(r"v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})", text or "")
    return (int(match[1]), int(match[2]), int(match[3])) if match else None
