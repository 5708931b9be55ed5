"""What follows from a model's chat templates for the model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from callgate.detect.template.report import TemplateReport
from callgate.vocabulary import Answer, Evidence, Source

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


def template_evidence(reports: Mapping[str, TemplateReport], at: float) -> Iterator[Evidence]:
    """`reports` has what each of a model's templates can do, by the template's name."""
    if not reports:
        for claim, known in _CHATML.items():
            yield Evidence(claim, known, Source.TEMPLATE, "it has no chat template: plain ChatML, without tools", at)
        return
    for_tools = TOOL_USE if TOOL_USE in reports else _main(reports)
    for_chat = _main(reports)
    yield _verdict(reports[for_tools], _called(for_tools), at)
    for claim in _BOOLEANS:
        name = for_tools if claim in _TOOL_CLAIMS else for_chat
        answer: bool = getattr(reports[name], claim)
        yield Evidence(claim, Answer.of(answer), Source.TEMPLATE, f"seen by rendering {_called(name)}", at)
    yield from _thinking(reports[for_chat], at)
    for name in dict.fromkeys((for_tools, for_chat)):
        for note in reports[name].notes:
            yield Evidence("note", note, Source.TEMPLATE, _called(name), at)


def _main(reports: Mapping[str, TemplateReport]) -> str:
    return DEFAULT if DEFAULT in reports else next(iter(reports))


def _called(name: str) -> str:
    return "its chat template" if name == DEFAULT else f"its template {name!r}"


def _verdict(report: TemplateReport, template: str, at: float) -> Evidence:
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
