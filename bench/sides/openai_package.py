"""The `openai` package's client."""

from collections.abc import AsyncIterator
from importlib.metadata import version

from openai import AsyncOpenAI

from bench.sides.streaming import measure


async def texts(url: str, model: str) -> AsyncIterator[str]:
    async with AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        async for part in await client.chat.completions.create(
            model=model,
            messages=[{"role": "user", "content": "Hi"}],
            stream=True,
            stream_options={"include_usage": True},
        ):
            if part.choices and (text := part.choices[0].delta.content):
                yield text


measure("openai", texts, f"openai {version('openai')}")
