from __future__ import annotations

from hypothesis import given

from callgate.runtime.ollama_prompts import as_ollama_hands_it_on
from callgate.vocabulary import ChatRequest, Message, Tool
from tests.vocabulary.strategies import json_values

HELLO = Message(role="user", content="hello")
SYSTEM = Message(role="system", content="Be brief.")


def asking(*messages: Message, tools: tuple[Tool, ...] = ()) -> ChatRequest:
    return ChatRequest(model="m", messages=messages, tools=tools)


def roles(request: ChatRequest) -> list[tuple[str, str]]:
    return [(message.role, message.content) for message in request.messages]


def test_a_models_own_system_message_and_examples_come_first() -> None:
    show = {"system": "Be kind.", "messages": [{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"}]}
    handed_on = as_ollama_hands_it_on(asking(HELLO), show)
    assert roles(handed_on) == [("system", "Be kind."), ("user", "a"), ("assistant", "b"), ("user", "hello")]


def test_a_system_message_of_the_conversation_takes_the_place_of_its_own() -> None:
    handed_on = as_ollama_hands_it_on(asking(SYSTEM, HELLO), {"system": "Be kind."})
    assert roles(handed_on) == [("system", "Be brief."), ("user", "hello")]


def test_of_a_schema_only_what_ollama_keeps_is_left_in_its_order() -> None:
    schema = {
        "properties": {
            "n": {"description": "how many", "type": "integer"},
            "z": {"items": {"type": "object", "description": "x"}, "type": "array"},
            "u": {"anyOf": [{"description": "d", "type": "string"}]},
        },
        "required": ["n"],
        "type": "object",
        "additionalProperties": False,
    }
    (tool,) = as_ollama_hands_it_on(asking(HELLO, tools=(Tool("f", "does", schema),)), {}).tools
    assert str(tool.parameters) == str(
        {
            "type": "object",
            "required": ["n"],
            "properties": {
                "n": {"type": "integer", "description": "how many"},
                "z": {"type": "array", "items": {"description": "x", "type": "object"}},
                "u": {"anyOf": [{"type": "string", "description": "d"}]},
            },
        }
    )


@given(json_values, json_values)
def test_whatever_a_server_says_of_its_model_the_conversation_is_kept(system: object, messages: object) -> None:
    handed_on = as_ollama_hands_it_on(asking(HELLO), {"system": system, "messages": messages})
    assert handed_on.messages[-1] == HELLO
