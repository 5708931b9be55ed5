from __future__ import annotations

import msgspec
import pytest

from callgate.detect.template.choose import probe
from callgate.detect.template.evidence import template_evidence
from callgate.detect.template.report import TemplateReport
from callgate.vocabulary import Answer, Capabilities, Evidence, Source
from tests.detect.template.samples import SAMPLES


def report(name: str) -> TemplateReport:
    return probe(SAMPLES[name].source, {})


def claims(reports: dict[str, TemplateReport]) -> dict[str, Evidence]:
    return {found.claim: found for found in template_evidence(reports, 7.0)}


@pytest.mark.parametrize(
    ("name", "answer", "why"),
    [
        ("tools and calls", Answer.YES, "shows the model its tools"),
        ("tools without calls", Answer.NO, "supports_tool_calls=false"),
        ("calls without tools", Answer.NO, "supports_tools=false"),
        ("plain", Answer.NO, "has no tools"),
    ],
)
def test_yes_needs_both_halves_and_no_names_the_missing_one(name: str, answer: Answer, why: str) -> None:
    verdict = claims({"default": report(name)})["tools"]
    assert (verdict.answer, verdict.source, verdict.at) == (answer, Source.TEMPLATE, 7.0)
    assert why in verdict.detail


def test_the_tool_use_variant_decides_on_tools_and_the_default_on_the_rest() -> None:
    found = claims({"default": report("no system role"), "tool_use": report("tools and calls")})
    assert found["tools"].answer == Answer.YES
    assert "tool_use" in found["tools"].detail
    assert found["supports_parallel_tool_calls"].answer == Answer.YES
    assert found["supports_system_role"].answer == Answer.NO


def test_a_tool_use_variant_without_tools_says_no_even_if_the_default_has_them() -> None:
    assert claims({"default": report("tools and calls"), "tool_use": report("plain")})["tools"].answer == Answer.NO


def test_a_model_without_a_template_is_chatml_without_tools() -> None:
    found = claims({})
    assert found["tools"].answer == Answer.NO
    assert found["supports_system_role"].answer == Answer.YES
    assert "ChatML" in found["tools"].detail


def test_a_switch_for_thinking_means_that_it_thinks() -> None:
    found = claims({"default": report("a switch for thinking")})
    assert found["thinking_switch"].answer == "enable_thinking"
    assert found["supports_thinking"].answer == Answer.YES
    assert "supports_thinking" not in claims({"default": report("plain")})


def test_notes_come_along() -> None:
    assert "flat form" in str(claims({"default": report("tools in the flat form")})["note"].answer)


def test_every_answer_of_a_report_is_a_field_of_the_capabilities() -> None:
    fields = {field.name for field in msgspec.structs.fields(Capabilities)}
    assert {field.name for field in msgspec.structs.fields(TemplateReport)} - {"notes", "engine"} <= fields
