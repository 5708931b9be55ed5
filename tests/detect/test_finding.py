from collections.abc import Mapping

import pytest

from callgate.detect import TemplateReport, TemplateSandbox, find_in
from callgate.vocabulary import Answer, Facts, ServerKind, TemplateError, Unreachable
from tests.runtime.played import PLAIN, TOOLS

BROKEN = "{% if %}"


class Counting(TemplateSandbox):
    def __init__(self) -> None:
        super().__init__()
        self.probed: list[str] = []

    def probe(self, source: str, tokens: Mapping[str, str] | None = None) -> TemplateReport:
        self.probed.append(source)
        return super().probe(source, tokens)


def facts(header: dict[str, object] | None = None, /, **templates: str) -> Facts:
    return Facts(name="some", templates=templates, header=header, at=1)


@pytest.mark.parametrize(
    ("templates", "tools"),
    [
        ({"default": TOOLS}, Answer.YES),
        ({"default": PLAIN}, Answer.NO),
        ({"default": PLAIN, "tool_use": TOOLS}, Answer.YES),
        ({"default": TOOLS, "tool_use": PLAIN}, Answer.NO),
        ({"rag": TOOLS}, Answer.NO),
        ({"default": BROKEN, "tool_use": TOOLS}, Answer.YES),
        ({"default": TOOLS, "tool_use": BROKEN}, Answer.UNKNOWN),
        ({}, Answer.NO),
    ],
)
def test_the_template_for_tools_decides(sandbox: TemplateSandbox, templates: dict[str, str], tools: Answer) -> None:
    known = find_in(facts({}, **templates), sandbox).capabilities
    assert (known.tools, known.has_tool_use_template) == (tools, "tool_use" in templates)


def test_a_template_that_is_all_there_is_must_be_good(sandbox: TemplateSandbox) -> None:
    with pytest.raises(TemplateError):
        find_in(facts(default=BROKEN), sandbox)


@pytest.mark.parametrize("server", [None, ServerKind.OLLAMA])
def test_a_broken_template_of_a_model_leaves_it_open(sandbox: TemplateSandbox, server: ServerKind | None) -> None:
    looked = Facts(name="some", templates={"default": BROKEN}, header=None if server else {}, server=server, at=1)
    finding = find_in(looked, sandbox)
    known = finding.capabilities
    assert known.tools is Answer.UNKNOWN
    assert isinstance(finding.flaw, TemplateError)
    assert any("can't be examined" in found.detail for found in known.evidence)


def test_a_good_name_does_not_make_up_for_a_broken_template(sandbox: TemplateSandbox) -> None:
    looked = Facts(name="qwen3-8b.gguf", templates={"default": BROKEN}, header={}, at=1)
    assert find_in(looked, sandbox).capabilities.tools is Answer.UNKNOWN


def test_a_verdict_by_name_alone_is_a_guess(sandbox: TemplateSandbox) -> None:
    known = find_in(Facts(name="qwen3-8b.gguf", header={}, at=1), sandbox).capabilities
    assert (known.tools, known.guess) == (Answer.YES, True)


def test_a_thousand_templates_cost_no_more_than_two() -> None:
    many = {f"variant{number}": "{{ messages }}" for number in range(1000)}
    with Counting() as sandbox:
        find_in(facts(**many, default=PLAIN, tool_use=TOOLS), sandbox)
        assert sandbox.probed == [PLAIN, TOOLS]


def test_what_follows_from_a_failure_is_a_guess(sandbox: TemplateSandbox) -> None:
    why = Unreachable("no answer")
    finding = find_in(Facts(name="qwen3:8b", failure="no answer", at=5), sandbox, why)
    assert (finding.failure, finding.capabilities.guess, finding.capabilities.cached_at) == (why, True, 5)
