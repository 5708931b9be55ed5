import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.openai.request import body_of
from callgate.vocabulary import ChatRequest, Image, Message, Tool, ToolCall

HELLO = Message(role="user", content="Hello")
WEATHER = Tool(
    "weather",
    "The weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


def body(*messages: Message, **more: Any) -> dict[str, Any]:
    sent: dict[str, Any] = json.loads(body_of(ChatRequest(model="m", messages=messages or (HELLO,), **more)))
    return sent


def test_a_plain_request_is_byte_for_byte_a_plain_one() -> None:
    request = ChatRequest(model="m", messages=(HELLO,), tools=(), tool_choice="required", parallel_tool_calls=True)
    assert body_of(request) == (
        b'{"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true,'
        b'"stream_options":{"include_usage":true}}'
    )


def test_an_answer_in_one_piece_is_asked_for_without_a_word_of_streams() -> None:
    assert body(stream=False) == {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


def test_tools_are_wrapped_and_their_schemas_whole() -> None:
    sent = body(tools=(WEATHER, Tool("now")))
    assert sent["tools"] == [
        {
            "type": "function",
            "function": {"name": "weather", "description": WEATHER.description, "parameters": WEATHER.parameters},
        },
        {"type": "function", "function": {"name": "now", "parameters": {"type": "object", "properties": {}}}},
    ]
    assert not {"tool_choice", "parallel_tool_calls"} & sent.keys()


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_a_choice_is_a_word(choice: str) -> None:
    assert body(tools=(WEATHER,), tool_choice=choice)["tool_choice"] == choice


def test_a_choice_may_name_the_tool() -> None:
    sent = body(tools=(WEATHER,), tool_choice="weather", parallel_tool_calls=False)
    assert sent["tool_choice"] == {"type": "function", "function": {"name": "weather"}}
    assert sent["parallel_tool_calls"] is False


def test_calls_and_their_results_are_told_in_openais_form() -> None:
    call = ToolCall("c1", "weather", {"city": "Köln"})
    messages = body(
        Message(role="assistant", calls=(call,), thinking="hm"),
        Message(role="tool", call_id="c1", name="weather", content="sunny"),
        Message(role="assistant", content="It is sunny."),
    )["messages"]
    function = {"name": "weather", "arguments": '{"city":"Köln"}'}
    assert messages == [
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hm",
            "tool_calls": [{"id": "c1", "type": "function", "function": function}],
        },
        {"role": "tool", "content": "sunny", "tool_call_id": "c1", "name": "weather"},
        {"role": "assistant", "content": "It is sunny."},
    ]


def sent_arguments(call: ToolCall) -> str:
    sent = body(Message(role="assistant", content="", calls=(call,)))
    arguments: str = sent["messages"][0]["tool_calls"][0]["function"]["arguments"]
    return arguments


@pytest.mark.parametrize(
    ("arguments", "raw", "expected"),
    [
        ({"a": 1}, '{ "a" : 1 }', '{ "a" : 1 }'),
        ({"a": 2}, '{ "a" : 1 }', '{"a":2}'),
        ({"a": 1}, "{a: 1}", '{"a":1}'),
        ({}, "", "{}"),
        ("[1, 2]", "[1, 2]", "[1, 2]"),
        ('{"a":', '{"a":', '"{\\"a\\":"'),
    ],
)
def test_arguments_go_back_as_the_model_wrote_them_if_that_is_json(
    arguments: dict[str, Any] | str, raw: str, expected: str
) -> None:
    assert sent_arguments(ToolCall("c", "f", arguments, raw)) == expected


@given(st.text(), st.none() | st.text())
def test_arguments_are_json_whatever_the_model_wrote(arguments: str, raw: str | None) -> None:
    msgspec.json.decode(sent_arguments(ToolCall("c", "f", arguments, raw)))


def test_images_are_data_urls() -> None:
    image = Image(b"\x89PNG", "image/png")
    url = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw=="}}
    sent = body(Message(role="user", content="What is it?", images=(image,)), Message(role="user", images=(image,)))
    assert sent["messages"][0]["content"] == [{"type": "text", "text": "What is it?"}, url]
    assert sent["messages"][1]["content"] == [url]


def test_an_answer_can_be_held_to_a_schema() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert body(schema=schema)["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "schema": schema, "strict": True},
    }


def test_options_go_by_their_names_here_and_what_we_do_not_know_as_it_is() -> None:
    options = {"temperature": 0, "stop": ["x"], "num_predict": 5, "num_ctx": 4096, "min_p": 0.1}
    sent = body(options=options, extra={"logit_bias": {"7": -100}, "stream_options": None})
    del sent["model"], sent["messages"], sent["stream"]
    assert sent == {
        "temperature": 0,
        "stop": ["x"],
        "max_tokens": 5,
        "min_p": 0.1,
        "logit_bias": {"7": -100},
        "stream_options": None,
    }
    assert body(options=options, max_tokens=9)["max_tokens"] == 9


@pytest.mark.parametrize(
    ("think", "expected"),
    [
        (False, {"chat_template_kwargs": {"enable_thinking": False}}),
        (True, {"chat_template_kwargs": {"enable_thinking": True}}),
        ("low", {"reasoning_effort": "low"}),
        ("max", {"reasoning_effort": "high"}),
    ],
)
def test_thinking_can_be_asked_for(think: bool | str, expected: dict[str, Any]) -> None:
    assert expected.items() <= body(think=think).items()
