from __future__ import annotations

from itertools import count
from types import SimpleNamespace
from typing import Any

import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import read_tools, repair
from callgate.vocabulary import Tool, UsageError

SCHEMA: dict[str, Any] = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = Tool("weather", "Tells the weather.", SCHEMA)

MULTIPLYING: dict[str, Any] = {
    "properties": {"a": {"$ref": "#/$defs/d0"}},
    "$defs": {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(25)} | {"d25": {"type": "null"}},
}


def weather(city: str, **_: object) -> None:
    """Tells the weather."""


def nested(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object"}
    for _ in range(depth):
        schema = {"type": "object", "properties": {"inner": schema}}
    return schema


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
        [{"type": "custom", "name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA}],
        {"tools": [{"name": "weather", "description": "Tells the weather.", "inputSchema": SCHEMA}]},
        {"functions": [{"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA}]},
        [mcp_types.Tool(name="weather", description="Tells the weather.", input_schema=SCHEMA)],
        mcp_types.ListToolsResult(
            tools=[mcp_types.Tool(name="weather", description="Tells the weather.", input_schema=SCHEMA)]
        ),
        [SimpleNamespace(name="weather", description="Tells the weather.", inputSchema=SCHEMA)],
        (WEATHER,),
        iter([weather]),
    ],
    ids=[
        "OpenAI and Ollama",
        "OpenAI's newer API",
        "flat",
        "Anthropic",
        "Anthropic with a type",
        "MCP",
        "OpenAI's older API",
        "the mcp package",
        "the mcp package's list",
        "the mcp package before v2",
        "ours",
        "a function",
    ],
)
def test_each_form_gives_the_same_tool(content: object) -> None:
    (tool,) = read_tools(content)
    assert (tool.name, tool.description) == ("weather", "Tells the weather.")
    assert {key: value for key, value in tool.parameters.items() if key != "additionalProperties"} == SCHEMA


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
        ([{"name": " \n"}], "tool 1 has no name"),
        ([{"name": "a" * 1000}], "'aaa.*longer"),
        ([Tool("")], "no name"),
        ([Tool("a", "", {"properties": 3})], "'a'"),
        ([{"type": "web_search"}], "tool 1 is of the type 'web_search'"),
        ([{"name": "a", "parameters": {"properties": []}}], "'a' .* no JSON Schema at /properties"),
        ([{"name": "a", "parameters": {"properties": {"b": {"type": "text"}}}}], "'a' .* at /properties/b/type"),
        ([{"name": "a", "parameters": {"properties": {"b": {"pattern": "("}}}}], "'a' .* at /properties/b/pattern: '"),
        ([{"name": "a", "parameters": {"patternProperties": {"(": {}}}}], "'a' .* no regular expression"),
        (
            [{"name": "a", "parameters": {"patternProperties": {"x": {"type": 3}}}}],
            "'a' .* no JSON Schema at /patternProperties/x/type",
        ),
        ([{"name": "a", "parameters": {"properties": {"b": {"pattern": "a" * 2000}}}}], "'a' .* no regular expression"),
        ([{"name": "a", "parameters": {"properties": {"b": {"$ref": "#/$defs/none"}}}}], "'a'.*none"),
        ([{"name": "a", "parameters": {"properties": {"b": {"$ref": "http://localhost:9/x"}}}}], "'a'"),
        ([{"name": "a", "parameters": {"$defs": {"x": {1: object()}}}}], "'a' have a key that is no text"),
        ([{"name": "a", "parameters": {"default": object()}}], "'a' hold a value .* 'object'"),
        ([{"name": "a", "parameters": nested(100)}], "'a' are more than a model could read"),
        ([{"name": "a", "parameters": {"enum": list(range(30_000))}}], "'a' are more than a model could read"),
        (({"name": f"{number}"} for number in count()), "no list"),
        ([{"name": "a\nb"}], r"'a\\nb' has a character in it that can't be seen"),
        ([{"name": "a\x1b[31m"}], r"'a\\x1b\[31m'"),
        ([{"name": "a\u202eb"}], r"'a\\u202eb'"),
        ([{"name": "a\u2028"}], r"'a\\u2028'"),
        ([Tool("a\0")], r"'a\\x00'"),
        ([{"name": "a", "parameters": MULTIPLYING}], "'a' can't be used: .* references multiply"),
        ([{"name": "a", "parameters": {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}}], "'a' .* over and over"),
    ],
)
def test_a_broken_tool_is_named(content: object, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        read_tools(content)


def test_a_schema_is_kept_whole() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": {"a": {"anyOf": [{"$ref": "#/$defs/x"}, {"type": "null"}], "default": None}, "b": True},
        "$defs": {"x": {"type": "object", "properties": {"x": {"$ref": "#/$defs/x"}}, "x-of-ours": 1}},
        "additionalProperties": False,
    }
    (tool,) = read_tools([{"name": "a", "parameters": schema}])
    assert tool.parameters == schema


def test_a_dialect_that_nobody_knows_is_no_reason_to_refuse_a_tool() -> None:
    (tool,) = read_tools([{"name": "a", "parameters": {"$schema": "urn:ours", "type": ["object", "null"]}}])
    assert tool.parameters == {"$schema": "urn:ours", "type": "object", "properties": {}}


@pytest.mark.parametrize(
    "pattern",
    [
        r"^\d{3}$",
        r"\p{L}{1000}",
        "(a{1000}){1000}",
        "(?<year>[0-9]+)",
        "([[a]{9,99}){999}",
        r"(?<!-)\b\w+",
        "a{1,100000}",
    ],
)
def test_patterns_of_every_kind_and_cost_are_taken(pattern: str) -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "string", "pattern": pattern}}}
    (tool,) = read_tools([{"name": "a", "parameters": schema}])
    assert tool.parameters == schema


@pytest.mark.parametrize("pattern", [r"\Z", "(?P<x>a)(?P=x)", "(a{1000}){1000}"])
def test_a_pattern_that_only_others_know_is_taken_and_not_checked(pattern: str) -> None:
    properties = {"p": {"type": "string", "pattern": pattern}, "n": {"type": "integer"}}
    schema = {"properties": properties, "patternProperties": {pattern: {"type": "boolean"}}}
    (tool,) = read_tools([{"name": "a", "parameters": {**schema, "additionalProperties": False}}])
    found = repair({"p": "b", "n": "5", "other": 1}, tool.parameters)
    assert found.arguments == {"p": "b", "n": 5, "other": 1}
    assert found.errors == ()


def test_more_patterns_than_can_be_looked_at_are_refused() -> None:
    def tool(number: int) -> dict[str, Any]:
        patterns = {f"p{one}": {"pattern": f"{number}.{one}"} for one in range(150)}
        return {"name": f"t{number}", "parameters": {"type": "object", "properties": patterns}}

    assert len(read_tools([tool(number) for number in range(10)])) == 10
    assert len(read_tools([{**tool(0), "name": f"t{number}"} for number in range(30)])) == 30
    with pytest.raises(UsageError, match="the tools before 't14'"):
        read_tools([tool(number) for number in range(30)])


def test_patterns_without_number_are_no_longer_looked_at() -> None:
    costly = {f"p{number}": {"pattern": rf"{number}(\p{{L}}\p{{N}}){{999}}"} for number in range(4_000)}
    (tool,) = read_tools([{"name": "a", "parameters": {"type": "object", "properties": costly}}])
    assert len(tool.parameters["properties"]) == 4_000


def test_the_same_content_gives_the_same_records_whatever_becomes_of_it_later() -> None:
    content = [{"name": "kept", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}]
    first = read_tools(content)
    content[0]["parameters"]["properties"]["a"]["type"] = "integer"  # type: ignore[index]
    second = read_tools(content)
    content[0]["parameters"]["properties"]["a"]["type"] = "string"  # type: ignore[index]
    assert read_tools(content)[0] is first[0]
    assert first[0].parameters["properties"]["a"] == {"type": "string"}
    assert second[0].parameters["properties"]["a"] == {"type": "integer"}


WORDS = [
    "tools",
    "name",
    "type",
    "function",
    "parameters",
    "description",
    "properties",
    "$ref",
    "anyOf",
    "enum",
    "items",
]
json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["object", "string", "function", "#", "#/properties", "#/$defs/a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=6),
    max_leaves=12,
)


@given(json)
def test_any_json_is_tools_or_a_usage_error(content: object) -> None:
    try:
        tools = read_tools(content)
    except UsageError:
        return
    assert all(tool.parameters["type"] == "object" for tool in tools)


@given(st.dictionaries(st.sampled_from([*WORDS, "$defs", "pattern", "required"]), json, max_size=4))
def test_any_schema_is_one_or_a_usage_error_that_names_the_tool(schema: dict[str, Any]) -> None:
    content = [{"name": "it", "parameters": schema}]
    try:
        tools = read_tools(content)
    except UsageError:
        with pytest.raises(UsageError, match="'it'"):
            read_tools(content)
        return
    assert tools[0].parameters["type"] == "object"
