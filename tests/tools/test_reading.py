from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import read_tools
from callgate.vocabulary import Tool, UsageError

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", "Tells the weather.", SCHEMA)


@pytest.mark.parametrize(
    "content",
    [
        [
            {
                "type": "function",
                "function": {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA},
            }
        ],
        [{"type": "function", "name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}],
        [{"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}],
        [{"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}],
        {"tools": [{"name": "weather", "description": "Tells the weather.", "inputSchema": SCHEMA}]},
    ],
    ids=["OpenAI and Ollama", "OpenAI's newer API", "flat", "Anthropic", "MCP"],
)
def test_each_form_gives_the_same_tool(content: object) -> None:
    assert read_tools(content) == (WEATHER,)


def test_a_tool_without_parameters_takes_an_empty_object() -> None:
    (tool,) = read_tools([{"name": "now"}])
    assert tool.parameters == {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("weather", "no list"),
        ({"name": "weather"}, "no list"),
        ([1], "tool 1 is no object"),
        ([{"name": "a"}, {"description": "x"}], "tool 2 has no name"),
        ([{"name": "a", "parameters": []}], "'a'"),
        ([{"name": "a", "parameters": {"type": "string"}}], "'a'"),
        ([{"name": "a", "description": 3}], "'a'"),
        ([{"name": "a"}, {"name": "a"}], "two tools called 'a'"),
    ],
)
def test_a_broken_tool_is_named(content: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_tools(content)


json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["tools", "name", "type", "function", "parameters", "description"]), inner)
    ),
    max_leaves=12,
)


@given(json)
def test_any_json_is_tools_or_a_usage_error(content: object) -> None:
    try:
        tools = read_tools(content)
    except UsageError:
        return
    assert all(tool.parameters["type"] == "object" for tool in tools)
