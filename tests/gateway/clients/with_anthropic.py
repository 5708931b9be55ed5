"""The `anthropic` package."""

from __future__ import annotations

from typing import Any

import anthropic

from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, TOOLS, Asked, Noted, asked

OWN_TOOLS: list[Any] = [
    {"name": each["name"], "description": each["description"], "input_schema": each["parameters"]}
    for each in (tool["function"] for tool in TOOLS)
]
# As an agent has them, too: nobody here runs it, and nothing fails.
ALL_TOOLS = [*OWN_TOOLS, {"type": "web_search_20250305", "name": "web_search"}]


def how(wanted: Asked, messages: list[Any], must: str) -> dict[str, Any]:
    choice = {"type": "tool", "name": must, "disable_parallel_tool_use": True} if must else {"type": "auto"}
    return {
        "model": wanted.model,
        "max_tokens": MOST_TOKENS,
        "system": [{"type": "text", "text": "Use your tools.", "cache_control": {"type": "ephemeral"}}],
        "messages": messages,
        "tools": ALL_TOOLS,
        "tool_choice": choice,
        "extra_body": {"temperature": 0},
    }


def results(message: Any, noted: Noted) -> list[Any]:
    """Of the calls in it."""
    calls = [block for block in message.content if block.type == "tool_use"]
    assert message.stop_reason in (["tool_use"] if calls else ["end_turn", "max_tokens"])
    assert message.usage.output_tokens > 0
    return [
        {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": [{"type": "text", "text": noted.called(call.name, call.input)}],
        }
        for call in calls
    ]


def text_of(message: Any) -> str:
    return "".join(block.text for block in message.content if block.type == "text")


def talk(client: anthropic.Anthropic, wanted: Asked, noted: Noted, *, stream: bool) -> None:
    messages: list[Any] = []

    def said(must: str = "") -> Any:
        if not stream:
            message = client.messages.create(**how(wanted, messages, must))
        else:
            with client.messages.stream(**how(wanted, messages, must)) as pieces:
                texts = [event.text for event in pieces if event.type == "text"]
                message = pieces.get_final_message()
            assert "".join(texts) == text_of(message)
        messages.append({"role": "assistant", "content": message.content})
        return message

    for tool, question in QUESTIONS.items():
        messages.append({"role": "user", "content": question})
        messages.append({"role": "user", "content": results(said(tool if wanted.must else ""), noted)})
        noted.answered(text_of(said()))
    counted = client.messages.count_tokens(model=wanted.model, messages=messages, tools=OWN_TOOLS)
    assert counted.input_tokens > 50
    assert wanted.model in [model.id for model in client.models.list()]
    noted.tell()


if __name__ == "__main__":
    told = asked()
    with anthropic.Anthropic(base_url=told.url, api_key="none") as opened:
        for way in told.ways:
            talk(opened, told, Noted(), stream=way)
