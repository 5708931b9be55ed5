from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callgate.gateway.given import GivenMessage, ToolChoice, ToolDefinition, chosen, is_no_time, messages_of, tools_of
from callgate.runtime import read_messages
from callgate.tools import read_tools
from callgate.vocabulary import Tool, UsageError

TOOLS = (Tool("add"), Tool("multiply"))
MESSAGES: list[Any] = [
    {"role": "developer", "content": "be brief"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "eA=="}}],
    },
    {"role": "user", "content": "and here", "images": ["eHl6"]},
    {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [{"function": {"name": "x"}}]},
    {"role": "assistant", "thinking": "hm", "tool_calls": [{"id": "1", "function": {"name": "x", "arguments": "{}"}}]},
    {"role": "assistant", "reasoning": "hm", "tool_calls": [{"function": {"name": "x", "arguments": {"a": 1}}}]},
    {"role": "tool", "tool_call_id": "1", "content": "391", "strange": True},
    {"role": "tool", "tool_name": "x", "content": ""},
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_read_as_it_is_written(message: dict[str, Any]) -> None:
    given = msgspec.convert([message], list[GivenMessage])
    assert messages_of(given) == read_messages([message])


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "x", "description": "y", "parameters": {"type": "object"}}},
        {"function": {"name": "x"}, "strange": True},
        {"name": "x", "description": "y", "parameters": {"properties": {"a": {"type": "string"}}}},
        {"name": "x", "input_schema": {"type": "object", "$defs": {"a": {}}}},
    ],
)
def test_a_tool_is_read_as_it_is_written(tool: dict[str, Any]) -> None:
    assert tools_of(msgspec.convert([tool], list[ToolDefinition])) == read_tools([tool])


def test_tools_that_only_their_makers_can_run_are_refused() -> None:
    with pytest.raises(UsageError, match="'web_search', which only its maker's server can run"):
        tools_of([ToolDefinition(type="web_search")])


@pytest.mark.parametrize(
    ("choice", "names", "must"),
    [
        (None, ["add", "multiply"], None),
        ("required", ["add", "multiply"], "required"),
        ({"type": "function", "function": {"name": "add"}}, ["add", "multiply"], "add"),
        (
            {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [{"function": {"name": "add"}}]}},
            ["add"],
            "auto",
        ),
    ],
)
def test_a_choice_says_which_tools_may_and_which_must_be_called(
    choice: Any, names: list[str], must: str | None
) -> None:
    tools, wanted = chosen(msgspec.convert(choice, ToolChoice | None), TOOLS)
    assert ([tool.name for tool in tools], wanted) == (names, must)


@pytest.mark.parametrize(
    ("span", "is_none"),
    [(0, True), (0.0, True), ("0", True), ("0m0.0s", True), (None, False), (5, False), (-1, False), ("5m", False)],
)
def test_a_span_of_no_time_is_known_however_it_is_written(span: str | float | None, is_none: bool) -> None:
    assert is_no_time(span) is is_none


def test_a_span_of_no_end_is_read_all_the_same() -> None:
    assert not is_no_time("0" * 20_000 + "x")
    assert not is_no_time("0s" * 20_000 + "x")
