from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callgate.gateway.given.choices import ToolChoice, chosen, offered
from callgate.gateway.given.tools import FunctionDefinition, ToolDefinition
from callgate.vocabulary import Tool

TOOLS = (Tool("add"), Tool("multiply"))
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
