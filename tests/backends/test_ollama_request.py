import json
from types import MappingProxyType

import pytest

from callgate.backends.ollama.request import body_of, encoded, prompt_tokens
from callgate.vocabulary import ChatRequest, Image, Message, Tool, ToolCall, UsageError
from tests.backends.played_ollama import QUESTION, WEATHER, PlayedOllama, asking, end, heard

PLAIN = b'{"model":"m","messages":[{"role":"user","content":"What is the weather in Paris?"}],"stream":true}'


async def test_without_tools_a_request_is_byte_for_byte_a_plain_one() -> None:
    ollama = PlayedOllama(end())
    for request in (asking(), asking(tool_choice="auto", parallel_tool_calls=True), asking(tools=(), options={})):
        await heard(ollama, request)
    assert ollama.bodies == [PLAIN] * 3


async def test_with_tools_it_is_the_plain_one_and_the_tools() -> None:
    ollama = PlayedOllama(end())
    await heard(ollama, asking(tools=(WEATHER,)))
    sent = ollama.last
    assert sent.pop("tools") == [
        {
            "type": "function",
            "function": {
                "name": "get_weather",
                "description": "Get the weather in a city",
                "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
            },
        }
    ]
    assert sent == json.loads(PLAIN)


@pytest.mark.parametrize("parameters", [{}, {"type": "object"}, {"required": []}, MappingProxyType({})])
def test_a_tool_always_has_a_whole_object_schema(parameters: dict[str, object]) -> None:
    [tool] = body_of(asking(tools=(Tool("f", "", parameters),)))["tools"]
    sent = json.loads(encoded(tool))["function"]["parameters"]
    assert sent["type"] == "object"
    assert sent["properties"] == {}


def test_what_ollama_would_drop_from_a_tools_schema_is_inlined_or_said_in_words() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "array", "items": {"$ref": "#/$defs/x"}}]}},
        "$defs": {"x": {"type": "object", "properties": {"y": {"type": "integer", "default": 3}}}},
    }
    body = body_of(asking(tools=(Tool("f", "", schema),), schema=schema))
    item = {"type": "object", "properties": {"y": {"type": "integer", "description": "(default 3)"}}}
    assert body["tools"][0]["function"]["parameters"] == {
        "type": "object",
        "properties": {"a": {"anyOf": [{"type": "null"}, {"type": "array", "items": item}]}},
    }
    assert body["format"] == schema


def test_a_choice_of_none_sends_no_tools() -> None:
    assert encoded(body_of(asking(tools=(WEATHER,), tool_choice="none"))) == PLAIN


def test_history_is_written_with_objects_names_and_ids() -> None:
    calls = (ToolCall("a", "f", {"x": 1}), ToolCall("b", "g", '{"y": [2]}'), ToolCall("c", "h", "no object"))
    messages = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="Look", images=(Image(b"\x89PNG"), Image(b"\xff\xd8", "image/jpeg"))),
        Message(role="assistant", thinking="Hm", calls=calls),
        Message(role="tool", content="1", call_id="a", name="f"),
        Message(role="tool", content="2", call_id="b"),
        Message(role="tool", content="3"),
    )
    assert body_of(ChatRequest(model="m", messages=messages))["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look", "images": ["iVBORw==", "/9g="]},
        {
            "role": "assistant",
            "content": "",
            "thinking": "Hm",
            "tool_calls": [
                {"id": "a", "function": {"name": "f", "arguments": {"x": 1}}},
                {"id": "b", "function": {"name": "g", "arguments": {"y": [2]}}},
                {"id": "c", "function": {"name": "h", "arguments": {"arguments": "no object"}}},
            ],
        },
        {"role": "tool", "content": "1", "tool_name": "f", "tool_call_id": "a"},
        {"role": "tool", "content": "2", "tool_name": "g", "tool_call_id": "b"},
        {"role": "tool", "content": "3"},
    ]


def test_options_get_ollamas_names() -> None:
    options = {"temperature": 0, "top_p": 0.9, "seed": 1, "stop": "END", "repetition_penalty": 1.1, "num_ctx": 512}
    assert body_of(asking(max_tokens=20, options=options))["options"] == {
        "num_predict": 20,
        "temperature": 0,
        "top_p": 0.9,
        "seed": 1,
        "stop": ["END"],
        "repeat_penalty": 1.1,
        "num_ctx": 512,
    }


def test_what_we_do_not_know_reaches_the_server_as_it_is() -> None:
    extra = {"keep_alive": "10m", "truncate": False, "options": {"mirostat": 2, "temperature": 1}}
    body = body_of(asking(extra=extra, options={"temperature": 0, "seed": 4}))
    assert (body["keep_alive"], body["truncate"]) == ("10m", False)
    assert body["options"] == {"temperature": 1, "seed": 4, "mirostat": 2}


def test_keep_alive_is_sent_only_if_the_user_set_it() -> None:
    assert "keep_alive" not in body_of(asking(options={"seed": 1}))
    body = body_of(asking(options={"keep_alive": 0}))
    assert body["keep_alive"] == 0
    assert "options" not in body


@pytest.mark.parametrize("think", [True, False, "low", "max"])
def test_thinking_is_asked_for_or_not_mentioned(think: object) -> None:
    assert body_of(asking(think=think))["think"] == think
    assert "think" not in body_of(asking())


@pytest.mark.parametrize("value", [object(), {1, 2}.__iter__(), "\ud800"])
def test_what_json_cannot_say_is_the_callers_to_mend(value: object) -> None:
    with pytest.raises(UsageError, match="can't be written as JSON"):
        encoded(body_of(asking(extra={"x": value})))


def test_a_loop_is_the_callers_to_mend() -> None:
    loop: dict[str, object] = {}
    loop["x"] = loop
    with pytest.raises(UsageError, match="can't be written as JSON"):
        encoded(body_of(asking(extra=loop)))


def test_a_prompt_is_rather_taken_for_too_long() -> None:
    def tokens(**more: object) -> int:
        request = asking(**more)
        return prompt_tokens(request, encoded(body_of(request)))

    words = Message(role="user", content="word " * 1000)
    assert 1000 < tokens(messages=(words,)) < 2500
    assert tokens(messages=(words,), tools=(WEATHER,) * 20) > tokens(messages=(words,)) + 20 * 30
    picture = Message(role="user", content="", images=(Image(b"x" * 300_000),))
    assert 1000 <= tokens(messages=(picture,)) < 1100
    assert tokens(messages=(Message(role="user", content="日本語" * 100),)) >= 300
    assert tokens(messages=(QUESTION,)) < 100
