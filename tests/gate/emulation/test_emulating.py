"""Requests with tools, for models that have none."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import jsonschema_rs
import msgspec
import pytest

from callgate.gate.emulation import emulation_of
from callgate.gate.recovery import Found, Text
from callgate.vocabulary import Capabilities, ChatRequest, Means, Message, Tool, ToolCall, UsageError
from tests.gate.emulation.gbnf import Grammar


def emulate(request: ChatRequest, means: Means, capabilities: Capabilities) -> ChatRequest:
    return emulation_of(request, means, capabilities).request


KNOWN = Capabilities(name="m")
BY_SCHEMA = Means(schema=True)
BY_GRAMMAR = Means(schema=True, grammar=True)
BY_WORDS = Means()
WEATHER = Tool(
    "get_weather",
    "Get the   weather.",
    {
        "type": "object",
        "properties": {"city": {"type": "string", "description": "Its name"}, "unit": {"enum": ["c", "f"]}},
        "required": ["city"],
    },
)
NOW = Tool("now", "Tell the time.")
HISTORY = (
    Message(role="system", content="Be kind."),
    Message(role="user", content="Paris?"),
    Message(role="assistant", content="Let me look.", calls=(ToolCall("1", "get_weather", {"city": "Paris"}),)),
    Message(role="tool", content="Sunny", call_id="1"),
)


def asking(*messages: Message, **more: Any) -> ChatRequest:
    said = messages or (Message(role="user", content="Hi"),)
    return ChatRequest(model="m", messages=said, **{"tools": (WEATHER, NOW), **more})


def grammar_of(request: ChatRequest) -> Grammar:
    return Grammar(request.extra["grammar"])


CALL = '<tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>'
OTHER = '<tool_call>{"name":"now","arguments":{}}</tool_call>'


@pytest.mark.parametrize("means", [BY_SCHEMA, BY_GRAMMAR, BY_WORDS])
def test_tools_are_described_and_not_sent(means: Means) -> None:
    sent = emulate(asking(tool_choice="required", parallel_tool_calls=True), means, KNOWN)
    assert (sent.tools, sent.tool_choice, sent.parallel_tool_calls) == ((), None, None)
    told = sent.messages[0].content
    assert sent.messages[0].role == "system"
    assert '- get_weather(city: string, unit?: "c" | "f"): Get the weather.\n    city: Its name\n' in told
    assert "- now(): Tell the time." in told


def test_without_a_system_role_the_user_tells_of_them() -> None:
    sent = emulate(asking(), BY_SCHEMA, Capabilities(name="m", supports_system_role=False))
    assert [message.role for message in sent.messages] == ["user"]
    assert sent.messages[0].content.endswith("\n\nHi")


def test_the_request_itself_is_left_alone() -> None:
    request = asking(*HISTORY, extra={"x": 1})
    before = msgspec.json.encode(request)
    emulate(request, BY_GRAMMAR, KNOWN)
    assert msgspec.json.encode(request) == before


# --- by schema ---


def takes(schema: Mapping[str, Any] | None, answer: object) -> bool:
    assert schema is not None
    return jsonschema_rs.is_valid(dict(schema), answer)


def test_the_schema_takes_a_reply_or_a_call() -> None:
    schema = emulate(asking(), BY_SCHEMA, KNOWN).schema
    assert takes(schema, {"reply": ["Hello"]})
    assert takes(schema, {"calls": [{"name": "get_weather", "parameters": {"city": "Paris"}}]})
    assert not takes(schema, {"calls": []})
    assert not takes(schema, {"calls": [{"name": "get_weather", "parameters": {"town": "Paris"}}]})
    assert not takes(schema, {"calls": [{"name": "other", "parameters": {}}]})


def test_required_takes_calls_alone_and_a_name_that_tool_alone() -> None:
    reply, call = {"reply": ["Hello"]}, {"calls": [{"name": "now", "parameters": {}}]}
    required = emulate(asking(tool_choice="required"), BY_SCHEMA, KNOWN).schema
    assert takes(required, call)
    assert not takes(required, reply)
    named = emulate(asking(tool_choice="get_weather"), BY_SCHEMA, KNOWN)
    assert not takes(named.schema, call)
    assert not takes(named.schema, reply)
    assert "now()" not in named.messages[0].content


def test_only_one_call_is_taken_unless_more_are_wanted_or_known() -> None:
    two = {"calls": [{"name": "now", "parameters": {}}] * 2}
    able = Capabilities(name="m", supports_parallel_tool_calls=True)
    assert not takes(emulate(asking(), BY_SCHEMA, KNOWN).schema, two)
    assert takes(emulate(asking(parallel_tool_calls=True), BY_SCHEMA, KNOWN).schema, two)
    assert takes(emulate(asking(), BY_SCHEMA, able).schema, two)
    assert not takes(emulate(asking(parallel_tool_calls=False), BY_SCHEMA, able).schema, two)


def test_the_users_own_form_of_reply_is_kept_with_its_references() -> None:
    own = {
        "type": "object",
        "properties": {"city": {"$ref": "#/$defs/city"}, "like": {"enum": [{"$ref": "#/x"}]}},
        "required": ["city"],
        "$defs": {"city": {"type": "string", "minLength": 3}},
    }
    emulation = emulation_of(asking(schema=own), BY_GRAMMAR, KNOWN)
    schema = emulation.request.schema
    assert takes(schema, {"reply": {"city": "Oslo", "like": {"$ref": "#/x"}}})
    assert not takes(schema, {"reply": {"city": "X"}})
    assert takes(schema, {"calls": [{"name": "now", "parameters": {}}]})
    assert "grammar" not in emulation.request.extra
    assert emulation.answer().feed('{"reply":{"city":"Oslo"}}') == [Text('{"city":"Oslo"}')]


def test_few_tokens_make_short_arguments() -> None:
    short = json.dumps(emulate(asking(max_tokens=64), BY_SCHEMA, KNOWN).schema)
    assert '"maxLength": 1999' in short  # the reply's
    assert not takes(
        emulate(asking(max_tokens=64), BY_SCHEMA, KNOWN).schema,
        {"calls": [{"name": "get_weather", "parameters": {"city": "x" * 200}}]},
    )


# --- by grammar ---


def test_the_grammar_takes_words_until_a_call_opens() -> None:
    grammar = grammar_of(emulate(asking(), BY_GRAMMAR, KNOWN))
    for words in ("", "Hello", "a < b <tool <tool_cal", "<<<", f"See: {CALL}", CALL, OTHER, f"<tool_{CALL}"):
        assert grammar.matches(words), words
    for broken in ("<tool_call>", CALL + "x", CALL.replace("city", "town"), CALL + OTHER, "<tool_call>{}"):
        assert not grammar.matches(broken), broken


def test_the_grammar_takes_calls_alone_where_they_are_required() -> None:
    grammar = grammar_of(emulate(asking(tool_choice="required"), BY_GRAMMAR, KNOWN))
    assert grammar.matches(CALL)
    assert not grammar.matches("Hello")
    assert not grammar.matches(CALL + CALL)
    several = grammar_of(emulate(asking(tool_choice="required", parallel_tool_calls=True), BY_GRAMMAR, KNOWN))
    assert several.matches(f"{CALL}\n{OTHER}{CALL}")
    assert not several.matches(CALL * 5)
    assert not several.matches("")


def test_a_grammar_of_the_users_own_is_kept() -> None:
    emulation = emulation_of(asking(extra={"grammar": "root ::= .*"}), BY_GRAMMAR, KNOWN)
    assert emulation.request.extra == {"grammar": "root ::= .*"}
    assert not emulation.held


def test_long_texts_fit_where_there_is_room() -> None:
    roomy = Capabilities(name="m", context_length=65536)
    grammar = grammar_of(emulate(asking(tool_choice="get_weather"), BY_GRAMMAR, roomy))
    assert grammar.matches(CALL.replace("Paris", "x" * 5000))
    assert not grammar.matches(CALL.replace("Paris", "x" * 9000))


# --- by words ---


def test_where_nothing_holds_it_the_prompt_alone_asks() -> None:
    emulation = emulation_of(asking(), BY_WORDS, KNOWN)
    assert emulation.request.schema is None
    assert not emulation.request.extra
    assert not emulation.held
    assert "<tool_call>" in emulation.request.messages[0].content


# --- choices ---


@pytest.mark.parametrize("means", [BY_SCHEMA, BY_GRAMMAR, BY_WORDS])
def test_none_is_a_plain_request(means: Means) -> None:
    emulation = emulation_of(asking(tool_choice="none"), means, KNOWN)
    assert emulation.request == ChatRequest(model="m", messages=(Message(role="user", content="Hi"),))
    assert not emulation.shapes


def test_a_tool_that_is_not_offered_cannot_be_required() -> None:
    with pytest.raises(UsageError, match="'nope' must be called, but isn't offered"):
        emulate(asking(tool_choice="nope"), BY_SCHEMA, KNOWN)


def test_a_model_does_not_think_where_it_would_have_to_think_in_json() -> None:
    able = Capabilities(name="m", supports_enable_thinking=True)
    assert emulate(asking(), BY_SCHEMA, able).think is False
    assert emulate(asking(), BY_GRAMMAR, able).think is None
    assert emulate(asking(tool_choice="required"), BY_GRAMMAR, able).think is False
    assert emulate(asking(think=True), BY_SCHEMA, able).think is True
    assert emulate(asking(), BY_SCHEMA, KNOWN).think is None


# --- history ---


@pytest.mark.parametrize(
    ("means", "call"),
    [
        (BY_SCHEMA, '{"calls":[{"name":"get_weather","parameters":{"city":"Paris"}}]}'),
        (BY_GRAMMAR, CALL),
        (BY_WORDS, CALL),
    ],
)
def test_past_calls_have_the_form_that_the_prompt_teaches(means: Means, call: str) -> None:
    emulation = emulation_of(asking(*HISTORY), means, KNOWN)
    system, _, called, answered = emulation.request.messages
    assert system.content.startswith("Be kind.\n\nYou can use these tools:")
    assert called.content == f"Let me look.\n\n{call}"
    assert answered == Message(role="user", content='<tool_response name="get_weather">\nSunny\n</tool_response>')
    (found,) = [piece for piece in emulation.answer().feed(call) if isinstance(piece, Found)]
    assert (found.name, found.arguments) == ("get_weather", {"city": "Paris"})
