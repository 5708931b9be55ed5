"""An agent as people write them: OpenAI's client, two tools, and a loop."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import openai

MOST_CALLS = 4
NOTES = {"milk": "two litres"}


def multiply(a: int, b: int) -> int:
    return a * b


def read_note(name: str) -> str:
    return NOTES[name]


FUNCTIONS: dict[str, Callable[..., object]] = {"multiply": multiply, "read_note": read_note}
TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "multiply",
            "description": "Multiply two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
                "required": ["a", "b"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "read_note",
            "description": "Read the note with this name.",
            "parameters": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
        },
    },
]


def answer(client: openai.OpenAI, question: str, model: str) -> tuple[str, list[str]]:
    """The answer, and the tools that were called on the way."""
    messages: list[Any] = [{"role": "user", "content": question}]
    called: list[str] = []
    while True:
        message = client.chat.completions.create(model=model, messages=messages, tools=TOOLS).choices[0].message
        if not message.tool_calls or len(called) > MOST_CALLS:
            return message.content or "", called
        messages.append(message)
        for call in message.tool_calls:
            result = FUNCTIONS[call.function.name](**json.loads(call.function.arguments))
            called.append(call.function.name)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": str(result)})


def answer_by_environment(question: str) -> tuple[str, list[str]]:
    """As a program that knows nothing but its environment."""
    with openai.OpenAI() as client:
        return answer(client, question, os.environ["AGENT_MODEL"])
