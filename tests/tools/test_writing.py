from __future__ import annotations

from typing import Any, get_args

import mcp_types
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import Form, read_tools, write_tools
from callgate.vocabulary import Tool, UsageError

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string", "minLength": 1}, "near": {"$ref": "#/$defs/Place"}},
    "required": ["city"],
    "$defs": {"Place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
}
WEATHER = Tool("weather", "Tells the weather.", SCHEMA)
NOW = Tool("now")
EMPTY = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("form", "weather", "now"),
    [
        (
            "openai",
            {
                "type": "function",
                "function": {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA},
            },
            {"type": "function", "function": {"name": "now", "parameters": EMPTY}},
        ),
        (
            "openai_functions",
            {"name": "weather", "description": "Tells the weather.", "parameters": SCHEMA},
            {"name": "now", "parameters": EMPTY},
        ),
        (
            "openai_responses",
            {
                "type": "function",
                "name": "weather",
                "description": "Tells the weather.",
                "parameters": SCHEMA,
                "strict": False,
            },
            {"type": "function", "name": "now", "parameters": EMPTY, "strict": False},
        ),
        (
            "anthropic",
            {"name": "weather", "description": "Tells the weather.", "input_schema": SCHEMA},
            {"name": "now", "input_schema": EMPTY},
        ),
        (
            "mcp",
            {"name": "weather", "description": "Tells the weather.", "inputSchema": SCHEMA},
            {"name": "now", "inputSchema": EMPTY},
        ),
        (
            "ollama",
            {
                "type": "function",
                "function": {
                    "name": "weather",
                    "description": "Tells the weather.",
                    "parameters": {
                        "type": "object",
                        "properties": {
                            "city": {"type": "string", "description": "(at least 1 character)"},
                            "near": {"type": "object", "properties": {"lat": {"type": "number"}}},
                        },
                        "required": ["city"],
                    },
                },
            },
            {"type": "function", "function": {"name": "now", "description": "", "parameters": EMPTY}},
        ),
    ],
)
def test_each_form_is_written_as_its_readers_have_it(form: Form, weather: object, now: object) -> None:
    assert write_tools([WEATHER, NOW], form) == [weather, now]


def test_the_mcp_package_reads_what_we_write_for_it() -> None:
    (written,) = write_tools([WEATHER], "mcp")
    assert read_tools([mcp_types.Tool.model_validate(written)]) == (WEATHER,)


def test_the_same_tools_are_written_once_and_the_list_is_the_callers() -> None:
    first = write_tools([WEATHER, NOW], "ollama")
    first.reverse()
    second = write_tools((WEATHER, NOW), "ollama")
    assert [one["function"]["name"] for one in second] == ["weather", "now"]
    assert second[0] is first[1]
    assert write_tools([WEATHER, NOW], "openai")[0] != second[0]


def test_alternatives_at_the_root_are_merged_for_anthropic() -> None:
    schema = {
        "type": "object",
        "properties": {},
        "oneOf": [
            {"properties": {"kind": {"const": "file"}, "path": {"type": "string"}}, "required": ["kind", "path"]},
            {"properties": {"kind": {"const": "url"}, "url": {"$ref": "#/$defs/Url"}}, "required": ["kind", "url"]},
        ],
        "$defs": {"Url": {"type": "string", "format": "uri"}},
    }
    (written,) = write_tools([Tool("open", "", schema)], "anthropic")
    assert written["input_schema"] == {
        "type": "object",
        "properties": {
            "kind": {"enum": ["file", "url"]},
            "path": {"type": "string"},
            "url": {"$ref": "#/$defs/Url"},
        },
        "required": ["kind"],
        "$defs": {"Url": {"type": "string", "format": "uri"}},
    }


schemas = st.recursive(
    st.sampled_from([{"type": "string"}, {"type": "integer", "minimum": 1}, {"enum": ["a", 1]}, {}]),
    lambda inner: (
        st.builds(lambda part: {"type": "array", "items": part}, inner)
        | st.builds(lambda parts: {"anyOf": parts}, st.lists(inner, min_size=1, max_size=3))
        | st.builds(
            lambda parts: {"type": "object", "properties": parts, "required": sorted(parts)[:1]},
            st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
        )
    ),
    max_leaves=8,
)
tools = st.builds(
    lambda name, description, properties: Tool(name, description, {"type": "object", "properties": properties}),
    st.text("ab./_", min_size=1, max_size=5),
    st.text(max_size=10),
    st.dictionaries(st.sampled_from("abc"), schemas, max_size=3),
)
sets = st.lists(tools, max_size=4, unique_by=lambda tool: tool.name)


@pytest.mark.parametrize("form", [form for form in get_args(Form) if form != "ollama"])
@given(offered=sets)
def test_what_is_written_reads_back_as_it_was(form: Form, offered: list[Tool]) -> None:
    assert list(read_tools(write_tools(offered, form))) == offered


@given(sets)
def test_what_is_written_for_ollama_keeps_names_and_required_parameters_and_stays_as_it_is(offered: list[Tool]) -> None:
    read = read_tools(write_tools(offered, "ollama"))
    assert [tool.name for tool in read] == [tool.name for tool in offered]
    for tool, was in zip(read, offered, strict=True):
        assert tool.parameters["properties"].keys() == was.parameters["properties"].keys()
    assert write_tools(read, "ollama") == write_tools(offered, "ollama")


@pytest.mark.parametrize("form", ["nope", "OpenAI", ""])
def test_a_form_that_there_is_not_is_refused_and_those_that_there_are_are_named(form: Any) -> None:
    with pytest.raises(UsageError, match=repr(form)) as caught:
        write_tools([WEATHER], form)
    assert all(known in str(caught.value.hint) for known in get_args(Form))
