"""The `openai` package, asynchronous: both questions at the same time, each a conversation of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import openai

from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, TOOLS, Asked, Noted, asked, at_the_same_time
from tests.gateway.clients.with_openai import STREAMED, together, whole


async def talk(client: openai.AsyncOpenAI, wanted: Asked, noted: Noted, tool: str, *, stream: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTIONS[tool]}]

    async def said(choice: str | dict[str, Any] = "auto") -> dict[str, Any]:
        answer = await client.chat.completions.create(
            model=wanted.model,
            messages=messages,
            tools=TOOLS,
            tool_choice=choice,
            temperature=0,
            max_tokens=MOST_TOKENS,
            **(STREAMED if stream else {}),
        )
        return together([chunk async for chunk in answer]) if stream else whole(answer)

    message = await (said({"type": "function", "function": {"name": tool}}) if wanted.must else said())
    messages.append(message)
    for call in message["tool_calls"]:
        result = noted.called(call["function"]["name"], call["function"]["arguments"])
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    noted.answered((await said())["content"])


async def main() -> None:
    wanted = asked()
    async with openai.AsyncOpenAI(base_url=f"{wanted.url}/v1", api_key="none") as client:
        await at_the_same_time(client, wanted, talk)


if __name__ == "__main__":
    asyncio.run(main())
