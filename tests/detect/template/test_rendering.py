"""Prompts out of the sandbox: what templates write, what they refuse, and what hostile ones can't do."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect import TemplateInput, TemplateSandbox
from callgate.vocabulary import CallgateError, TemplateError, TemplateTooCostly, UsageError
from tests.detect.template.samples import SAMPLES
from tests.detect.template.test_sandbox import BOMBS

HELLO = TemplateInput(messages=[{"role": "user", "content": "hello"}])
TOOL = {"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object"}}}


def test_the_prompt_is_what_the_template_writes(sandbox: TemplateSandbox) -> None:
    conversation = TemplateInput(messages=HELLO.messages, tools=[TOOL])
    prompt = sandbox.render(SAMPLES["tools and calls"].source, conversation)
    listed = '{"type": "function", "function": {"name": "f", "description": "", "parameters": {"type": "object"}}}'
    assert prompt == f"<tool>{listed}<user>hello<assistant>"


def test_special_tokens_and_variables_reach_it(sandbox: TemplateSandbox) -> None:
    conversation = TemplateInput(messages=HELLO.messages, variables={"mood": "merry"})
    source = "{{ bos_token }}{{ mood }}{{ messages[0].content }}{{ eos_token }}"
    assert sandbox.render(source, conversation, {"bos_token": "<s>"}) == "<s>merryhello"


def test_the_start_of_an_answer_comes_last(sandbox: TemplateSandbox) -> None:
    conversation = TemplateInput(messages=HELLO.messages, answer="Well, ")
    assert sandbox.render(SAMPLES["plain"].source, conversation) == "<user>hello<assistant>Well, "


def test_a_template_that_refuses_is_quoted_on_one_line(sandbox: TemplateSandbox) -> None:
    source = "{{ raise_exception('roles must\\n\\x1b[31malternate') }}"
    with pytest.raises(TemplateError, match=r"refuses this conversation: roles must \[31malternate$") as caught:
        sandbox.render(source, HELLO)
    assert not isinstance(caught.value, TemplateTooCostly)


def test_what_a_template_refuses_at_length_is_cut(sandbox: TemplateSandbox) -> None:
    with pytest.raises(TemplateError) as caught:
        sandbox.render("{{ raise_exception('no' * 10000) }}", HELLO)
    assert len(caught.value.message) < 500


@pytest.mark.parametrize("source", ["{{ messages[0] + 1 }}", "{{ messages.nothing.at.all }}", "{{ 1 / 0 }}"])
def test_a_template_that_fails_says_how(sandbox: TemplateSandbox, source: str) -> None:
    with pytest.raises(TemplateError, match=r"fails on this conversation: ."):
        sandbox.render(source, HELLO)


def test_a_template_that_doesnt_parse_is_an_error(sandbox: TemplateSandbox) -> None:
    with pytest.raises(TemplateError, match="line 1"):
        sandbox.render("{% for %}", HELLO)


def test_half_a_character_is_no_death(sandbox: TemplateSandbox) -> None:
    assert sandbox.render("a{{ '\\ud800' }}b", HELLO) == "a?b"


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_is_too_costly_and_the_next_conversation_is_rendered(name: str) -> None:
    with TemplateSandbox() as sandbox:
        with pytest.raises(TemplateTooCostly):
            sandbox.render(BOMBS[name], HELLO)
        assert sandbox.render(SAMPLES["plain"].source, HELLO) == "<user>hello<assistant>"


def test_probing_and_rendering_take_turns(sandbox: TemplateSandbox) -> None:
    for _ in range(2):
        assert sandbox.probe(SAMPLES["plain"].source).supports_string_content
        assert sandbox.render(SAMPLES["plain"].source, HELLO) == "<user>hello<assistant>"


@pytest.mark.parametrize("value", [object(), 1 << 70, "\ud800"])
def test_what_cant_be_handed_over_is_the_callers_to_mend(sandbox: TemplateSandbox, value: object) -> None:
    with pytest.raises(UsageError, match="can't be handed"):
        sandbox.render("{{ messages }}", TemplateInput(messages=[{"role": "user", "content": value}]))
    assert sandbox.render(SAMPLES["plain"].source, HELLO)


def test_a_conversation_nested_beyond_reason_is_no_crash(sandbox: TemplateSandbox) -> None:
    nested: Any = "x"
    for _ in range(100_000):
        nested = [nested]
    with pytest.raises(CallgateError):
        sandbox.render("{{ messages }}", TemplateInput(messages=[{"content": nested}]))
    assert sandbox.render(SAMPLES["plain"].source, HELLO)


WORDS = st.sampled_from([
    "{{", "}}", "{%", "%}", "{%-", "-%}", "messages", "tools", "for m in messages", "endfor", "if tools", "endif", "|",
    "tojson", "m.content", "raise_exception('x')", "strftime_now('%c')", "strftime_now", ".__self__", ".__class__",
    "range(99)", "* 99", "loop.index", "namespace(a=1)", "[", "]", "(", ")", "'", "\\x1b[2J", "\ud7ff", "{#", "#}",
    "set x = messages", "x.append(x)", "x", "joiner()", "macro f(n)", "endmacro", "f(f)", "generation", "endgeneration",
])  # fmt: skip


@given(st.lists(WORDS, max_size=25).map(" ".join) | st.text(max_size=80))
def test_whatever_a_template_says_there_is_a_prompt_or_an_error_of_ours(sandbox: TemplateSandbox, source: str) -> None:
    try:
        said = sandbox.render(source, HELLO)
    except CallgateError as error:
        said = error.message if error.message.isprintable() else "<class"
    assert "<class" not in said
    assert said.encode("utf-8", "replace").decode() == said
