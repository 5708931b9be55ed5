"""The `ollama` package."""

from __future__ import annotations

from typing import Any

import ollama

from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, TOOLS, URGENT, Asked, Noted, asked


def talk(client: ollama.Client, wanted: Asked, noted: Noted, *, stream: bool) -> None:
    def said() -> dict[str, Any]:
        how: dict[str, Any] = {"model": wanted.model, "messages": messages, "tools": TOOLS}
        how["options"] = {"temperature": 0, "num_predict": MOST_TOKENS}
        if not stream:
            answer = client.chat(**how)
            assert answer.done_reason in ("stop", "length")
            message: dict[str, Any] = answer.message.model_dump(exclude_none=True)
            return message
        whole: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
        for part in client.chat(**how, stream=True):
            whole["content"] += part.message.content or ""
            whole["tool_calls"] += [call.model_dump() for call in part.message.tool_calls or ()]
        return whole

    messages: list[Any] = []
    for question in (URGENT if wanted.must else QUESTIONS).values():
        # A small model repeats what it did before, rather than what it is told.
        messages = [*([] if wanted.must else messages), {"role": "user", "content": question}]
        message = said()
        messages.append(message)
        for call in message.get("tool_calls", ()):
            result = noted.called(call["function"]["name"], call["function"]["arguments"])
            messages.append({"role": "tool", "tool_name": call["function"]["name"], "content": result})
        messages.append(said())
        noted.answered(messages[-1]["content"])
    noted.tell()


if __name__ == "__main__":
    told = asked()
    with ollama.Client(host=told.url) as opened:
        for way in told.ways:
            talk(opened, told, Noted(), stream=way)
