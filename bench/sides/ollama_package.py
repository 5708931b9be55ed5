"""The `ollama` package's client."""

from collections.abc import AsyncIterator
from importlib.metadata import version

from ollama import AsyncClient

from bench.sides.streaming import measure


async def texts(url: str, model: str) -> AsyncIterator[str]:
    messages = [{"role": "user", "content": "Hi"}]
    async for part in await AsyncClient(url).chat(model=model, messages=messages, stream=True):
        if not part.done and part.message.content:
            yield part.message.content


measure("ollama", texts, f"ollama {version('ollama')}")
