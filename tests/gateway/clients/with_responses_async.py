"""The `openai` package's `responses`, asynchronous: both questions at the same time."""

from __future__ import annotations

import asyncio
from typing import Any

import openai

from tests.gateway.clients.talk import QUESTIONS, Asked, Noted, asked, at_the_same_time
from tests.gateway.clients.with_responses import how, results


async def talk(client: openai.AsyncOpenAI, wanted: Asked, noted: Noted, tool: str, *, stream: bool) -> None:
    async def said(items: list[Any], must: str = "", previous: str | None = None) -> Any:
        asked_for = {**how(wanted, items, must), "previous_response_id": previous}
        if not stream:
            return await client.responses.create(**asked_for)
        last: Any = None
        async for event in await client.responses.create(**asked_for, stream=True):
            last = event
        assert last.type in ("response.completed", "response.incomplete")
        return last.response

    response = await said([{"role": "user", "content": QUESTIONS[tool]}], tool if wanted.must else "")
    answer = await said(results(response, noted), previous=response.id)
    noted.answered(answer.output_text)


async def main() -> None:
    wanted = asked()
    async with openai.AsyncOpenAI(base_url=f"{wanted.url}/v1", api_key="none") as client:
        await at_the_same_time(client, wanted, talk)


if __name__ == "__main__":
    asyncio.run(main())
