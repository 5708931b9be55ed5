from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect.go_template import go_template_evidence, is_go_template
from callgate.vocabulary import Answer, Evidence, Source

WHOLE = """{{- if .System }}<|system|>{{ .System }}{{ end }}
{{- if $.Tools }}<tools>{{ range $.Tools }}{{ json . }}{{ end }}</tools>{{ end }}
{{- range $i, $m := .Messages }}
{{- if eq .Role "tool" }}<result>{{ .Content }}</result>
{{- else }}{{ .Content }}{{ range $m.ToolCalls }}<call>{{ .Function.Name }} {{ .Function.Arguments }}</call>{{ end }}
{{- end }}{{ end }}"""


def answers(text: str) -> dict[str, Evidence]:
    return {found.claim: found for found in go_template_evidence(text, 7.0)}


def test_a_template_with_tools_and_calls_is_a_yes() -> None:
    found = answers(WHOLE)
    assert found["tools"].answer == Answer.YES
    for claim in (
        "supports_tools",
        "supports_tool_calls",
        "supports_tool_responses",
        "supports_system_role",
        "supports_parallel_tool_calls",
    ):
        assert found[claim].answer == Answer.YES, claim
    assert all(each.source is Source.TEMPLATE_TEXT and each.at == 7.0 for each in found.values())


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("{{ range .Tools }}{{ . }}{{ end }}{{ .Content }}", "no .ToolCalls"),
        ("{{ range .Messages }}{{ range .ToolCalls }}{{ . }}{{ end }}{{ end }}", "no .Tools"),
        ("{{ .System }}{{ .Prompt }}", "neither"),
    ],
)
def test_one_half_alone_is_a_no_that_names_the_missing_one(text: str, missing: str) -> None:
    found = answers(text)["tools"]
    assert found.answer == Answer.NO
    assert missing in found.detail


@pytest.mark.parametrize(
    "text",
    [
        '{{ "the .Tools and .ToolCalls" }}',
        "{{ `.Tools` }}{{ `.ToolCalls` }}",
        "{{/* .Tools .ToolCalls */}}{{ .Prompt }}",
        "{{- /* .Tools }} .ToolCalls */ -}}",
        "The words .Tools and .ToolCalls outside of actions. {{ .Prompt }}",
        r'{{ "an \" escaped .Tools .ToolCalls" }}',
        "{{ .ToolsOfTrade }}{{ .ToolCallsMade }}",
        "{{ .Tools and .ToolCalls in an action that never ends",
    ],
)
def test_strings_comments_and_longer_words_dont_count(text: str) -> None:
    found = answers(text)
    assert found["supports_tools"].answer == Answer.NO
    assert found["supports_tool_calls"].answer == Answer.NO


@pytest.mark.parametrize("word", ["tool_call", "<tool>", "function_call"])
def test_words_about_tools_are_a_hint_and_no_answer(word: str) -> None:
    found = answers(f"Use {word} for that. {{{{ .Prompt }}}}")["tools"]
    assert found.answer == Answer.UNKNOWN
    assert word in found.detail


def test_a_string_that_holds_closing_braces_doesnt_end_the_action() -> None:
    assert answers('{{ printf "}}" .Tools }}{{ .ToolCalls }}')["tools"].answer == Answer.YES


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("{{ .System }}", Answer.YES),
        ("{{ range .Messages }}<|{{ .Role }}|>{{ .Content }}{{ end }}", Answer.YES),
        ('{{ range .Messages }}{{ if eq .Role "system" }}{{ .Content }}{{ end }}{{ end }}', Answer.YES),
        ("{{ .Prompt }}", Answer.NO),
    ],
)
def test_a_place_for_the_system_text(text: str, answer: Answer) -> None:
    assert answers(text)["supports_system_role"].answer == answer


def test_nothing_is_said_of_roles_where_content_may_be_printed_for_any() -> None:
    found = answers('{{ range .Messages }}{{ if eq .Role "user" }}U:{{ end }}{{ .Content }}{{ end }}')
    assert "supports_system_role" not in found
    assert "supports_tool_responses" not in found


def test_thinking_and_its_switch() -> None:
    assert "supports_thinking" not in answers("{{ .Prompt }}")
    assert "supports_enable_thinking" not in answers("{{ .Thinking }}")
    found = answers("{{ if and $.IsThinkSet $.Think }}/think{{ end }}{{ .Thinking }}")
    assert found["supports_thinking"].answer == found["supports_enable_thinking"].answer == Answer.YES


@pytest.mark.parametrize(
    "text",
    [
        WHOLE,
        "{{ .Prompt }}",
        "{{- range .Messages }}{{ end }}",
        "{{ json .Messages }}",
        '{{ if (eq .Role "user") }}x{{ end }}',
        "{{ $last := 1 }}",
        "{{/* nothing but a comment */}}",
    ],
)
def test_go_is_told_from_jinja(text: str) -> None:
    assert is_go_template(text)


@pytest.mark.parametrize(
    "text",
    [
        "{% for m in messages %}{{ m.content }}{% endfor %}",
        "{{ messages[0]['content'] }}",
        "{{ bos_token }}{{ messages | map(attribute='content') | join('\\n') }}",
        "{%- if tools %}{{ tools | tojson }}{% endif %}",
        "{{ '.Tools' }}",
        "{{ message.Role }}",
        "no action at all",
        "",
    ],
)
def test_jinja_is_told_from_go(text: str) -> None:
    assert not is_go_template(text)


def test_a_template_that_is_too_long_isnt_read() -> None:
    (found,) = go_template_evidence("{{ .Tools }}{{ .ToolCalls }}" + "x" * 1_000_000, 0)
    assert (found.claim, found.answer) == ("tools", Answer.UNKNOWN)


@pytest.mark.parametrize("piece", ['{{"', "{{ /*", "{{ `", "{{ '", '{{ a "\\', "{{ range ", "{{ x  ", "{% "])
@pytest.mark.timeout(20)
def test_a_hostile_template_takes_no_more_than_linear_time(piece: str) -> None:
    text = (piece * 1_000_000)[:999_999]
    assert not is_go_template(text + "{% if %}")
    assert "tools" in answers(text)


@given(st.text(alphabet="{}-/*\"`'.$ ToolCallsrange\\\n%", max_size=200))
def test_any_text_gets_an_answer(text: str) -> None:
    is_go_template(text)
    found = answers(text)
    both = found["supports_tools"].answer == found["supports_tool_calls"].answer == Answer.YES
    assert (found["tools"].answer == Answer.YES) == both


@given(st.text(max_size=50))
def test_a_raw_string_hides_whatever_it_holds(text: str) -> None:
    hidden = text.replace("`", "")
    assert answers("{{ `" + hidden + ".Tools` }}")["supports_tools"].answer == Answer.NO
