"""What agents ask for and nobody here can give: it is no error, and what is said of it is true."""

from __future__ import annotations

from callgate.vocabulary import Done, ToolCall, ToolCallEvent
from tests.gateway.dialects.test_anthropic import HELLO, read
from tests.gateway.dialects.test_responses import HELLO as ASKED
from tests.gateway.dialects.test_responses import answered
from tests.gateway.dialects.test_responses import read as read_responses


def test_of_a_system_block_only_the_billing_line_is_dropped() -> None:
    texts = ("x-anthropic-billing-header: cch=1;\nYou are kind.\nAnd brief.", "Be quick.")
    first, last = ({"type": "text", "text": text} for text in texts)
    blocks = [first, {"type": "new"}, last]
    wish = read({**HELLO, "system": blocks})
    assert wish.request.messages[0].content == "You are kind.\nAnd brief.\n\nBe quick."
    assert [(notice.kind, "'new'" in notice.message) for notice in wish.notices] == [("parts_left_out", True)]


def test_tools_and_wishes_that_are_not_known_are_named_and_nothing_is_said_of_who_could_run_them() -> None:
    tools = [{"type": "bash_20250124", "name": "bash"}, {"type": "custom", "custom": {"name": "c2"}}]
    wish = read({**HELLO, "tools": tools, "mcp_servers": [{"url": "http://localhost"}]})
    assert wish.request.tools == ()
    assert [(notice.kind, notice.message) for notice in wish.notices] == [
        (
            "tools_left_out",
            "tools of kinds that callgate doesn't know were left out: 'bash (bash_20250124)', 'c2 (custom)'",
        ),
        ("wishes_left_out", "what isn't to be had here was left out: 'mcp_servers'"),
    ]


def test_an_effort_that_is_not_known_is_taken_for_another() -> None:
    wish = read({**HELLO, "thinking": {"type": "adaptive"}, "output_config": {"effort": "huge"}})
    assert wish.request.think == "high"
    assert [notice.kind for notice in wish.notices] == ["values_unknown"]


def test_a_result_that_only_names_a_tool_says_something() -> None:
    found = {"type": "tool_result", "tool_use_id": "1", "content": [{"type": "tool_reference", "tool_name": "mail"}]}
    wish = read({"messages": [{"role": "user", "content": [found]}]})
    assert [(message.role, message.content) for message in wish.request.messages] == [
        ("tool", "[The tool mail is there.]")
    ]
    assert wish.notices == ()


def test_a_free_text_tool_in_the_form_of_completions_is_one() -> None:
    tool = {"type": "custom", "custom": {"name": "patch", "description": "Edits.", "format": {"type": "text"}}}
    wish = read_responses({**ASKED, "tools": [tool]})
    assert [tool.name for tool in wish.request.tools] == ["patch"]
    assert wish.notices == ()
    told = answered(wish, ToolCallEvent(ToolCall("1", "patch", {"input": "*** Begin"})), Done("tool_calls"))
    assert "custom_tool_call" in str(told)


def test_values_that_are_not_known_are_taken_for_others_with_a_word() -> None:
    wish = read_responses({**ASKED, "reasoning": {"effort": "huge"}, "truncation": "some", "background": True})
    assert (wish.request.think, wish.request.whole_prompt) == ("medium", True)
    assert [(notice.kind, notice.message.partition(": ")[2]) for notice in wish.notices] == [
        ("wishes_left_out", "'background'"),
        ("values_unknown", "'effort=huge as medium', 'truncation=some as disabled'"),
    ]


def test_a_picture_elsewhere_is_not_fetched_and_it_is_said_so() -> None:
    content = [{"type": "input_image", "image_url": "https://example.org/x.png"}]
    wish = read_responses({"input": [{"role": "user", "content": content}]})
    assert "It isn't fetched" in wish.request.messages[0].content
    assert [notice.kind for notice in wish.notices] == ["parts_not_fetched"]
