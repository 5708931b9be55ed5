"""Calls that nothing announces, and what only looks like one."""

import json

import pytest

from callgate.gate.recovery import FORMATS
from callgate.vocabulary import Tool
from tests.gate.recovery.reading import PARIS, TOOLS, calls_in, pieces_of, words_in

CALL = '{"name": "get_weather", "arguments": {"city": "Paris"}}'
PYTHONIC = "[get_weather(city='Paris')]"
LLAMA = (FORMATS["llama3_json"],)


@pytest.mark.parametrize(
    "text",
    [
        CALL,
        f"\n\n  {CALL}\n",
        f"I look it up.\n{CALL}",
        f"I look it up.\n\n{CALL}<|im_end|>\n",
        f"[{CALL}]",
        f"[{CALL}",
        '{"arguments": {"city": "Paris"}, "name": "get_weather"}',
        '{"name": "get_weather", "parameters": {"city": "Paris"}}',
        '{"type": "function", "function": {"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}}',
        f'{{"tool_calls": [{CALL}]}}',
        "{'name': 'get_weather', 'arguments': {'city': 'Paris',}}",
        f"<think>Hm.</think>{CALL}",
        f"```json\n{CALL}\n```",
        f"```\n[{CALL}]\n```\n",
        PYTHONIC,
        f"Here it comes:\n{PYTHONIC}",
        "get_weather(city='Paris')",
        'get_weather\n{"city": "Paris"}',
        "get_weather\n<arg_key>city</arg_key>\n<arg_value>Paris</arg_value>",
        'get_weather<｜tool▁sep｜>{"city": "Paris"}',
        'call:get_weather{city:<|"|>Paris<|"|>}',
    ],
)
def test_this_is_a_call(text: str) -> None:
    assert calls_in(text) == PARIS
    assert calls_in(list(text)) == PARIS


@pytest.mark.parametrize(
    "text",
    [
        f"It is written as {CALL} in most cases.",
        f"Like so: `{CALL}`",
        f"The format of a call is:\n\n{CALL}\n\nwhere name is the function.",
        f"config:\n{CALL}\nis what it says.",
        f"{CALL} is what I would send.",
        f"{CALL}\n{CALL}\nare two lines of a log.",
        f'Log:\n{CALL}\n{{"level": "info"}}\n{CALL}\n',
        f"Code:\n\n    {CALL}",
        f"> {CALL}",
        f"See {PYTHONIC} for more",
        f"Options: {PYTHONIC} are the two.",
        f"Here it comes: {PYTHONIC}",
        f"Options:\n{PYTHONIC}\nare the two.",
        f"An example:\n```json\n{CALL}\n```",
        f"```json\n{CALL}\n```\nshows a call.",
        f"```python\nprint({CALL})\n```",
        f'{{"name": "jeff"}}{CALL}',
        f'{{"name": "jeff"}} {CALL}',
        f'{{"examples": [{CALL}]}}',
        f'{{"example":\n{CALL}}}',
        f"calls = [\n  {CALL},\n]",
        '{"name": "get_weather", "arguments": {"city": "Paris"}, "score": 3}',
        '{"name": "get_weather", "description": "…", "parameters": {"type": "object"}}',
        '{"name": "get_weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}',
        '{"name": "get_weather"}',
        '{"name": "get_weather", "arguments": ["Paris"]}',
        '{"name": "get_weather", "arguments": {',
        '{"name": 7, "arguments": {}}',
        "The [get_weather](https://example.org) tool.",
        "x = [get_weather(city='Paris')]",
        "[get_weather(city=c) for c in cities]",
        "[get_weather('Paris')]",
        "get_weather() is what you need.",
        "get_weather(city='Paris') is what you need.",
        "get_weather()",
        "get_weather(town='Paris')",
        "get_weather\n\nis a tool.",
        'get_weather\n{"city": "Paris"}\nis how it is called.',
        "[]",
        "[1, 2, 3]",
    ],
)
def test_this_is_none(text: str) -> None:
    assert calls_in(text) == []
    assert words_in(pieces_of(text)) == text


def test_a_model_that_is_known_to_write_bare_calls_may_do_so_within_a_line() -> None:
    assert calls_in(f"Sure: {CALL} There.", TOOLS, LLAMA) == PARIS
    assert calls_in(f"Sure: {CALL} There.", None) == PARIS


def test_json_that_is_no_call_goes_out_at_the_first_key_that_says_so() -> None:
    from callgate.gate.recovery import Recovery, Text
    from callgate.tools import Names

    recovery = Recovery(Names(TOOLS))
    assert list(recovery.feed('{"na')) == []
    out = list(recovery.feed('tion": "France", "cities": ['))
    assert "".join(piece.raw for piece in out if isinstance(piece, Text)).startswith('{"nation": "France", "cities": ')


def test_several_bare_calls_may_follow_each_other() -> None:
    for between in ("; ", " ; ", "\n", "", ",\n"):
        assert calls_in(f"{CALL}{between}{CALL}") == PARIS + PARIS


def test_a_tool_definition_is_no_call_of_the_tool() -> None:
    definition = {"type": "function", "function": {"name": "get_weather", "parameters": dict(TOOLS[0].parameters)}}
    assert calls_in(json.dumps(definition)) == []


def test_a_tool_without_parameters_needs_more_than_its_name_to_be_called() -> None:
    tools = (Tool("main"), Tool("print"))
    assert calls_in("main()\n", tools) == []
    assert calls_in("main()\n", None) == [("main", {})]
