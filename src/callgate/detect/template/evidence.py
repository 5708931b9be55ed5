"""What follows from a model's chat templates for the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TypeVar

import msgspec

from callgate.detect.template.report import TemplateReport
from callgate.vocabulary import Answer, Evidence, Source, TemplateError

T = TypeVar("T")
TOOL_USE = "tool_use"
DEFAULT = "default"
_BOOLEANS = tuple(field.name for field in msgspec.structs.fields(TemplateReport) if field.type is bool)
_TOOL_CLAIMS = frozenset(
    {
        "supports_tools",
        "supports_tool_calls",
        "supports_tool_responses",
        "supports_parallel_tool_calls",
        "requires_object_arguments",
        "requires_string_arguments",
    }
)
"""What is said about tools is said by the `tool_use` variant, where a model has one."""


_CHATML = {
    "tools": Answer.NO,
    "supports_tools": Answer.NO,
    "supports_tool_calls": Answer.NO,
    "supports_parallel_tool_calls": Answer.NO,
    "supports_tool_responses": Answer.NO,
    "supports_system_role": Answer.YES,
    "supports_string_content": Answer.YES,
    "supports_typed_content": Answer.NO,
}
"""What engines use where a model brings no template of its own."""


Examined = TemplateReport | TemplateError
"""What came of examining a template."""


def templates_that_count(templates: Mapping[str, T]) -> dict[str, T]:
    """Of a model's templates, by name: the default one, and the variant for tools. Nobody uses another unasked."""
    return {name: templates[name] for name in (DEFAULT, TOOL_USE) if name in templates}


def template_evidence(examined: Mapping[str, Examined], at: float) -> Iterator[Evidence]:
    """`examined` has what came of each of a model's templates, by the template's name."""
    counted = templates_that_count(examined)
    if not counted:
        for claim, known in _CHATML.items():
            yield Evidence(claim, known, Source.TEMPLATE, "it has no chat template: plain ChatML, without tools", at)
        return
    for_tools = TOOL_USE if TOOL_USE in counted else DEFAULT
    for_chat = DEFAULT if DEFAULT in counted else TOOL_USE
    yield _verdict(counted[for_tools], _called(for_tools), at)
    for claim in _BOOLEANS:
        name = for_tools if claim in _TOOL_CLAIMS else for_chat
        if isinstance(report := counted[name], TemplateReport):
            answer: bool = getattr(report, claim)
            yield Evidence(claim, Answer.of(answer), Source.TEMPLATE, f"seen by rendering {_called(name)}", at)
    for name, report in counted.items():
        if isinstance(report, TemplateReport):
            yield from (Evidence("note", note, Source.TEMPLATE, _called(name), at) for note in report.notes)
            if name == for_chat:
                yield from _thinking(report, at)


def _called(name: str) -> str:
    return "its chat template" if name == DEFAULT else f"its template {name!r}"


def _verdict(report: Examined, template: str, at: float) -> Evidence:
    if isinstance(report, TemplateError):
        return Evidence("tools", Answer.UNKNOWN, Source.TEMPLATE, f"{template} can't be examined: {report.message}", at)
    match report.supports_tools, report.supports_tool_calls:
        case True, True:
            answer, why = Answer.YES, f"{template} shows the model its tools, and the calls that it made"
        case True, False:
            answer, why = Answer.NO, f"{template} shows tools but no tool calls (supports_tool_calls=false)"
        case False, True:
            answer, why = Answer.NO, f"{template} shows tool calls but no tools (supports_tools=false)"
        case _:
            answer, why = Answer.NO, f"{template} has no tools (supports_tools=false)"
    return Evidence("tools", answer, Source.TEMPLATE, why, at)


def _thinking(report: TemplateReport, at: float) -> Iterator[Evidence]:
    if report.thinking_switch:
        detail = f"what its chat template writes depends on {report.thinking_switch}"
        yield Evidence("thinking_switch", report.thinking_switch, Source.TEMPLATE, detail, at)
        yield Evidence("supports_thinking", Answer.YES, Source.TEMPLATE, detail, at)
    elif report.supports_preserve_reasoning:
        yield Evidence(
            "supports_thinking", Answer.YES, Source.TEMPLATE, "its chat template has a place for thinking", at
        )
