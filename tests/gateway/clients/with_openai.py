"""The `openai` package."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import openai

from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, TOOLS, Asked, Noted, asked

STREAMED = {"stream": True, "stream_options": {"include_usage": True}}


def talk(client: openai.OpenAI, wanted: Asked, noted: Noted, *, stream: bool) -> None:
    modes: list[str] = []
    messages: list[Any] = []

    def said(must: str = "") -> dict[str, Any]:
        raw = client.chat.completions.with_raw_response.create(
            model=wanted.model,
            messages=messages,
            tools=TOOLS,
            tool_choice={"type": "function", "function": {"name": must}} if must else "auto",
            temperature=0,
            max_tokens=MOST_TOKENS,
            **(STREAMED if stream else {}),
        )
        modes.append(raw.headers["x-callgate-mode"])
        return together(raw.parse()) if stream else whole(raw.parse())

    for tool, question in QUESTIONS.items():
        messages.append({"role": "user", "content": question})
        message = said(tool if wanted.must else "")
        messages.append(message)
        for call in message["tool_calls"]:
            result = noted.called(call["function"]["name"], call["function"]["arguments"])
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
        messages.append(said())
        noted.answered(messages[-1]["content"])
    noted.tell(modes=modes)


def whole(completion: Any) -> dict[str, Any]:
    assert completion.usage.completion_tokens > 0
    message: dict[str, Any] = completion.choices[0].message.model_dump(exclude_none=True)
    assert completion.choices[0].finish_reason in (["tool_calls"] if "tool_calls" in message else ["stop", "length"])
    return message


def together(chunks: Iterable[Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    finish, tokens = "", 0
    for chunk in chunks:
        if chunk.usage:
            tokens = chunk.usage.completion_tokens
        for choice in chunk.choices:
            finish = choice.finish_reason or finish
            message["content"] += choice.delta.content or ""
            message["tool_calls"] += [call.model_dump(exclude={"index"}) for call in choice.delta.tool_calls or ()]
    assert tokens > 0
    assert finish in (["tool_calls"] if message["tool_calls"] else ["stop", "length"])
    return message if message["tool_calls"] else {"role": "assistant", "content": message["content"]}


if __name__ == "__main__":
    told = asked()
    with openai.OpenAI(base_url=f"{told.url}/v1", api_key="none") as opened:
        for way in told.ways:
            talk(opened, told, Noted(), stream=way)
