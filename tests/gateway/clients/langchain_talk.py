"""The conversation as a program has it that is written with LangChain: tools are functions, messages are objects."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import add
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, ToolMessage
from langchain_core.tools import tool

from tests.gateway.clients.talk import Noted


def talk(model: Any, questions: Mapping[str, str], noted: Noted, *, must: bool, stream: bool) -> None:
    """`must`: the model has to be made to call, and the client can say so."""

    def multiply(a: float, b: float) -> str:
        """Multiply two numbers."""
        return noted.called("multiply", {"a": a, "b": b})

    def get_weather(city: str) -> str:
        """Get the weather in a city."""
        return noted.called("get_weather", {"city": city})

    tools = {"multiply": tool(multiply), "get_weather": tool(get_weather)}
    free = model.bind_tools(list(tools.values()))
    messages: list[BaseMessage] = []

    def said(by: Any) -> AIMessage:
        message = reduce(add, by.stream(messages)) if stream else by.invoke(messages)
        assert isinstance(message, AIMessage)
        return message

    for name, question in questions.items():
        messages.append(HumanMessage(question))
        message = said(model.bind_tools(list(tools.values()), tool_choice=name) if must else free)
        messages.append(message)
        for call in message.tool_calls:
            result = tools[call["name"]].invoke(call)
            assert isinstance(result, ToolMessage)
            messages.append(result)
        messages.append(said(free))
        noted.answered(str(messages[-1].text))
