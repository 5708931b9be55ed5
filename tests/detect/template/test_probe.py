from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from callgate.detect.template.choose import probe
from callgate.detect.template.differences import first_difference
from callgate.detect.template.jinja_engine import JinjaEngine
from callgate.detect.template.minijinja_engine import MinijinjaEngine, Unsure
from callgate.detect.template.probe import examine
from callgate.detect.template.report import TemplateReport
from callgate.vocabulary import TemplateError
from tests.detect.template.samples import SAMPLES


def answers(report: TemplateReport) -> frozenset[str]:
    return frozenset(name for name, value in msgspec.structs.asdict(report).items() if value is True)


@pytest.mark.parametrize("name", SAMPLES)
def test_each_sample_can_do_what_it_was_written_to_do(name: str) -> None:
    assert answers(probe(SAMPLES[name].source, {})) == SAMPLES[name].can


@pytest.mark.parametrize("name", SAMPLES)
def test_both_engines_give_the_same_answers_on_each_sample(name: str) -> None:
    agree(SAMPLES[name].source)


@pytest.mark.corpus
def test_every_answer_on_the_corpus_is_right(corpus: Path) -> None:
    truth = json.loads((corpus / "truth.json").read_text())
    wrong = []
    for name, known in truth.items():
        report = probe((corpus / "templates" / name).read_text(), {})
        wrong += [(name, cap) for cap, value in known["caps"].items() if getattr(report, cap) is not value]
    assert wrong == []
    assert truth


@pytest.mark.corpus
def test_both_engines_give_the_same_answers_on_every_template_of_the_corpus(corpus: Path) -> None:
    sources = [path.read_text() for path in sorted((corpus / "templates").iterdir())]
    sure = [source for source in sources if agree(source)]
    assert len(sure) > len(sources) * 0.8, "the fast path is hardly ever taken"


def agree(source: str) -> bool:
    """Holds minijinja to Jinja2's answers, where it is sure of them."""
    if first_difference(source):
        return False
    try:
        fast = examine(MinijinjaEngine(source), source, {})
    except Unsure:
        return False
    if not (fast.supports_string_content or fast.supports_typed_content):
        return False
    authority = examine(JinjaEngine(source), source, {})
    assert answers(fast) == answers(authority)
    assert (fast.thinking_switch, fast.notes) == (authority.thinking_switch, authority.notes)
    return True


def test_no_parameters_in_the_prompt_is_a_note_and_no_reason_to_say_no() -> None:
    source = (
        "{% for t in tools or [] %}{{ t.function.name }}: {{ t.function.description }}{% endfor %}"
        + SAMPLES["plain"].source
    )
    report = probe(source, {})
    assert report.supports_tools
    assert report.notes == ("a tool's parameters don't reach the prompt",)


def test_a_tools_name_in_a_list_is_not_taken_for_its_call() -> None:
    arguments_only = "{%- for call in message.tool_calls or [] %}{{- call.function.arguments | tojson }}{%- endfor %}"
    source = SAMPLES["tools and calls"].source
    start, end = source.index("{%- for call"), source.index("{%- endfor %}", source.index("{%- for call"))
    report = probe(source[:start] + arguments_only + source[end + len("{%- endfor %}") :], {})
    assert report.supports_tools
    assert not report.supports_tool_calls


def test_the_switch_for_thinking_is_named() -> None:
    assert probe(SAMPLES["a switch for thinking"].source, {}).thinking_switch == "enable_thinking"
    assert probe(SAMPLES["plain"].source + "{{ thinking }}", {}).thinking_switch == "thinking"
    assert probe(SAMPLES["plain"].source, {}).thinking_switch is None


def test_flat_tools_and_host_variables_are_noted() -> None:
    assert "flat form" in probe(SAMPLES["tools in the flat form"].source, {}).notes[0]
    assert probe(SAMPLES["variables of its host"].source, {}).notes[-1].endswith("sets: name1")


def test_special_tokens_are_what_the_model_says() -> None:
    needs_its_own = "{% if bos_token != '<own>' %}{{ raise_exception('foreign') }}{% endif %}" + SAMPLES["plain"].source
    assert not probe(needs_its_own, {}).supports_string_content
    assert probe(needs_its_own, {"bos_token": "<own>"}).supports_string_content


def test_a_template_that_does_not_parse_says_where() -> None:
    with pytest.raises(TemplateError, match="line 2"):
        probe("{{ messages }}\n{% for %}", {})


def test_an_empty_template_shows_nothing() -> None:
    assert answers(probe("", {})) == frozenset()


@pytest.mark.parametrize("first", ["{{ unknown_function(messages) }}", "{{ raise_exception('never') }}"])
def test_a_template_that_fails_on_everything_tells_how(first: str) -> None:
    report = probe(first + "{{ messages }}{{ tools }}", {})
    assert not report.supports_tools
    (note,) = report.notes
    assert "every ordinary conversation makes it fail" in note
    assert "unknown_function" in note or "never" in note
