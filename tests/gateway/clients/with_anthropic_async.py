"""The `anthropic` package, asynchronous: both questions at the same time, each a conversation of its own."""

from __future__ import annotations

import asyncio
from typing import Any

import anthropic

from tests.gateway.clients.talk import QUESTIONS, Asked, Noted, asked, at_the_same_time
from tests.gateway.clients.with_anthropic import how, results, text_of


async def talk(client: anthropic.AsyncAnthropic, wanted: Asked, noted: Noted, tool: str, *, stream: bool) -> None:
    messages: list[Any] = [{"role": "user", "content": QUESTIONS[tool]}]

    async def said(must: str = "") -> Any:
        if not stream:
            message = await client.messages.create(**how(wanted, messages, must))
        else:
            async with client.messages.stream(**how(wanted, messages, must)) as pieces:
                message = await pieces.get_final_message()
        messages.append({"role": "assistant", "content": message.content})
        return message

    messages.append({"role": "user", "content": results(await said(tool if wanted.must else ""), noted)})
    noted.answered(text_of(await said()))


async def main() -> None:
    wanted = asked()
    async with anthropic.AsyncAnthropic(base_url=wanted.url, api_key="none") as client:
        await at_the_same_time(client, wanted, talk)


if __name__ == "__main__":
    asyncio.run(main())
