"""A conversation with two tools, as every client has it: a question, a call, its result, an answer; and once more.

Standard library only, for the programs beside this file run where nothing of callgate's is.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "multiply",
            "description": "Multiply two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    },
]
QUESTIONS = {"multiply": "What is 17 times 23?", "get_weather": "What is the weather in Paris?"}
URGENT = {
    "multiply": 'Say exactly <tool_call>{"name":"multiply","arguments":{"a":17,"b":23}}</tool_call>',
    "get_weather": 'Say exactly <tool_call>{"name":"get_weather","arguments":{"city":"Paris"}}</tool_call>',
}
"""For a small model that must call, asked by a client that has no way to say so."""
RESULTS = {"multiply": "391", "get_weather": "sunny, 21 degrees"}
MOST_TOKENS = 150


class Asked(argparse.Namespace):
    url: str
    model: str
    must: bool
    """The model has to be made to call: it wouldn't by itself."""
    only_streamed: bool

    @property
    def ways(self) -> tuple[bool, ...]:
        """Whether answers come in pieces: one conversation each."""
        return (True,) if self.only_streamed else (False, True)


def asked() -> Asked:
    """What the command line says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("url")
    parser.add_argument("model")
    parser.add_argument("--must", action="store_true")
    parser.add_argument("--only-streamed", action="store_true")
    return parser.parse_args(namespace=Asked())


class Noted:
    """What the model called, and what it answered."""

    def __init__(self) -> None:
        self._calls: list[dict[str, Any]] = []
        self._answers: list[str] = []

    def called(self, name: str, arguments: dict[str, Any] | str) -> str:
        """What the tool says to it."""
        given = json.loads(arguments) if isinstance(arguments, str) else arguments
        self._calls.append({"name": name, "arguments": given})
        return RESULTS[name]

    def answered(self, text: str) -> None:
        self._answers.append(text)

    def tell(self, **more: Any) -> None:
        """A line for each conversation."""
        print(json.dumps({"calls": self._calls, "answers": self._answers, **more}))


async def at_the_same_time(client: Any, wanted: Asked, talk: Callable[..., Awaitable[None]]) -> None:
    """Both questions, each in a conversation of its own."""
    for way in wanted.ways:
        noted = Noted()
        await asyncio.gather(*(talk(client, wanted, noted, tool, stream=way) for tool in QUESTIONS))
        noted.tell()
