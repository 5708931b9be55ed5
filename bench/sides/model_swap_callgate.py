"""`/model` in a chat without a screen: to a model that nobody has looked at, away from it, and to it again."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from time import perf_counter
from typing import Any

from bench.measure import emit
from callgate.chat.options import ChatOptions
from callgate.chat.plain_view import PlainView
from callgate.chat.preloading import loaded
from callgate.chat.running import converse
from callgate.chat.views import Kind
from callgate.runtime import ModelReport
from callgate.settings import load_settings

MODEL = "model-7:latest"


class Screenless(PlainView):
    """As a terminal, it goes on while facts are waited for; what is told is kept with its time."""

    goes_line_by_line = False

    def __init__(self) -> None:
        super().__init__()
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()
        self._told: asyncio.Queue[tuple[float, str]] = asyncio.Queue()

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._typed.get()) is not None:
            yield line

    def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:  # noqa: ARG002
        self._told.put_nowait((perf_counter(), text))

    async def first_line(self) -> str:
        return (await self._told.get())[1]

    async def answered(self, line: str) -> tuple[float, str]:
        """How long it took until something was told, and what."""
        started = perf_counter()
        self._typed.put_nowait(line)
        told_at, text = await self._told.get()
        return told_at - started, text

    def leave(self) -> None:
        self._typed.put_nowait(None)


def described(report: ModelReport, *, why: bool) -> str:
    raise AssertionError(report, why)


async def main(url: str, home: str) -> None:
    settings = load_settings({"ollama.host": url, "storage.home": home, "ollama.models": home, "detect.refresh": "off"})
    view = Screenless()
    talking = asyncio.create_task(converse(view, ChatOptions(model="tiny"), settings, described))
    await view.first_line()
    await loaded()
    for name, line in (
        ("swap of models, cold", f"/model {MODEL}"),
        ("", "/model tiny"),
        ("swap of models, known", f"/model {MODEL}"),
    ):
        taken, told = await view.answered(line)
        assert told.startswith(f"now {line.removeprefix('/model ')} · tools native · context "), told
        if name:
            emit(name, taken * 1e3, "ms")
    view.leave()
    await talking


with tempfile.TemporaryDirectory() as folder:
    asyncio.run(main(sys.argv[1], folder))
