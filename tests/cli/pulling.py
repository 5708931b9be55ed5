"""Runs the real command against a hub that a test plays."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tests.cli.command import CALLGATE, Done, environ
from tests.hub.played_hub import PlayedHub

NO_ENGINE = {"CALLGATE_LLAMACPP_SERVER": "/nowhere/llama-server"}


@asynccontextmanager
async def started(hub: PlayedHub, *words: str, **more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        *(*CALLGATE, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=environ(HF_ENDPOINT=hub.url, **more),
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def callgate(hub: PlayedHub, *words: str, **more: str) -> Done:
    async with started(hub, *words, **more) as process:
        out, err = await asyncio.wait_for(process.communicate(), 120)
    assert process.returncode is not None
    return Done(process.returncode, out.decode(), err.decode())


async def pull(hub: PlayedHub, *words: str, **more: str) -> Done:
    return await callgate(hub, "pull", *words, **{**NO_ENGINE, **more})
