from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callgate.gateway.given import (
    FunctionDefinition,
    GivenMessage,
    ToolChoice,
    ToolDefinition,
    chosen,
    is_no_time,
    messages_of,
    offered,
    tools_of,
)
from callgate.runtime import read_messages
from callgate.tools import read_tools
from callgate.vocabulary import Tool

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


FOREIGN = [
    ToolDefinition(type="web_search"),
    ToolDefinition(type="custom", name="patch"),
    ToolDefinition(type="strange", function=FunctionDefinition("odd")),
    ToolDefinition(type="function", function=FunctionDefinition("add")),
]


@pytest.mark.parametrize(
    ("choice", "must", "kinds"),
    [
        (None, None, ["tools_left_out"]),
        ("required", "required", ["tools_left_out"]),
        ({"type": "function", "function": {"name": "add"}}, "add", ["tools_left_out"]),
        ({"type": "function", "function": {"name": "patch"}}, "auto", ["tools_left_out", "choice_left_out"]),
    ],
)
def test_tools_that_only_their_makers_can_run_are_left_out(choice: Any, must: str | None, kinds: list[str]) -> None:
    offer = offered(FOREIGN, msgspec.convert(choice, ToolChoice | None))
    assert ([tool.name for tool in offer.tools], offer.choice) == (["add"], must)
    assert [notice.kind for notice in offer.notices] == kinds
    assert offer.notices[0].message.endswith(": 'web_search', 'patch (custom)', 'odd (strange)'")


def test_where_all_are_left_out_none_must_be_called() -> None:
    offer = offered(FOREIGN[:1], "required")
    assert (offer.tools, offer.choice) == ((), "auto")


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
    offer = chosen(msgspec.convert(choice, ToolChoice | None), TOOLS)
    assert ([tool.name for tool in offer.tools], offer.choice) == (names, must)


@pytest.mark.parametrize(
    ("span", "is_none"),
    [(0, True), (0.0, True), ("0", True), ("0m0.0s", True), (None, False), (5, False), (-1, False), ("5m", False)],
)
def test_a_span_of_no_time_is_known_however_it_is_written(span: str | float | None, is_none: bool) -> None:
    assert is_no_time(span) is is_none


def test_a_span_of_no_end_is_read_all_the_same() -> None:
    assert not is_no_time("0" * 20_000 + "x")
    assert not is_no_time("0s" * 20_000 + "x")
