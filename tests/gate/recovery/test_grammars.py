import pytest

from tests.gate.recovery.reading import PARIS, calls_in, cut

ARGUMENTS = '{"city": "Paris"}'
CALL = f'{{"name": "get_weather", "arguments": {ARGUMENTS}}}'


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>{CALL}",
        f"<tool_call>\n{CALL}\n</tool_call>",
        f"<tool_call>{CALL}}}</tool_call>",
        f"<tool_call>{CALL[:-1]}</tool_call>",
        f"<tool_call>{CALL}</tool_",
        f"<tool_call>```json\n{CALL}\n```</tool_call>",
        f"<tool_call>[{CALL}]</tool_call>",
        '<tool_call>{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}</tool_call>',
        "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris',},}</tool_call>",
        f'<tool_call>{{"id": 7, "tool_name": "get_weather", "parameters": {ARGUMENTS}}}</tool_call>',
        f"[TOOL_CALLS]get_weather{ARGUMENTS}",
        f"[TOOL_CALLS]get_weather[ARGS]{ARGUMENTS}",
        f"[TOOL_CALLS]get_weather[CALL_ID]123[ARGS]{ARGUMENTS}",
        f"[TOOL_CALLS] [{CALL}][/TOOL_CALLS]",
        f"<|tool_call_begin|>functions.get_weather:0<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>",
        f"<|tool_call_begin|>get_weather:12 <|tool_call_argument_begin|>{ARGUMENTS}",
        f"<｜tool▁call▁begin｜>get_weather<｜tool▁sep｜>{ARGUMENTS}<｜tool▁call▁end｜>",
        f"<|tool▁call▁begin|>function<|tool▁sep|>get_weather\n```json\n{ARGUMENTS}\n```<|tool▁call▁end|>",
        f"<dots_function_call>{CALL}</dots_function_call>",
        '<|tool_call>call:get_weather{city:<|"|>Paris<|"|>}',
        '<|tool_call>call:get_weather{city:"Paris"}<tool_call|>',
        '<|tool_call>call:get_weather{city:<|"|>Paris}<tool_call|>',
        "<start_function_call>call:get_weather{city:Paris}<end_function_call>",
        "<|python_tag|>get_weather.call(city='Paris')",
        "<|python_start|>[get_weather(city='Paris')]",
    ],
)
def test_this_is_a_call(text: str) -> None:
    assert calls_in(text) == PARIS
    assert calls_in(cut(text, 1)) == PARIS


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call>",
        "<tool_call></tool_call>",
        '<tool_call>{"name": "get_weather"',
        '<tool_call>{"name": "get_weather", "arguments": {',
        '<tool_call>{"name": "get_weather", "arguments": {"city": "Pa',
        '<tool_call>{"name": "get_weather", "arguments": "Paris"}</tool_call>',
        '<tool_call>{"arguments": {}}</tool_call>',
        "[TOOL_CALLS]get_weather",
        "[TOOL_CALLS] none",
        f"<|tool_call_begin|>get_weather<|tool_call_argument_begin|>{ARGUMENTS}<|tool_call_end|>",
        f"<｜tool▁call▁begin｜>get_weather{ARGUMENTS}<｜tool▁call▁end｜>",
        "<|tool_call_start|>[]<|tool_call_end|>",
        "<|tool_call_start|><|tool_call_end|>",
        "functools is a module",
        "<|channel|>commentary to=functions.get_weather<|message|>no json",
    ],
)
def test_this_is_none(text: str) -> None:
    assert calls_in(text) == []
    assert calls_in(cut(text, 1)) == []


def test_a_call_without_arguments_may_leave_them_out_where_it_is_announced() -> None:
    assert calls_in('<tool_call>{"name": "get_time"}</tool_call>') == [("get_time", {})]
    text = "<|tool_call_begin|>get_time:0<|tool_call_argument_begin|><|tool_call_end|>"
    assert calls_in(text) == [("get_time", {})]


def test_one_tag_may_hold_several_calls() -> None:
    for between in ("", "\n", ",", "; "):
        assert calls_in(f"<tool_call>{CALL}{between}{CALL}</tool_call>") == PARIS + PARIS
