"""How the official package reaches a server, with bounds on what a server may send."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from callgate.runtime.mcp.server_spec import HttpSpec, ServerSpec, StdioSpec
from callgate.runtime.mcp.stderr_tail import StderrTail
from callgate.vocabulary import NotFound

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

LONGEST_MESSAGE = 16 * 2**20
"""Bytes of one message: pictures of a screen fit, and little more."""
CONNECT_SECONDS = 10.0
LAST_WORDS_SECONDS = 1.0
Refusals = Callable[[int], None]
"""Hears each status of HTTP that is an error: the package doesn't tell."""
_GUARD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "guard.py")


@asynccontextmanager
async def opened_transport(spec: ServerSpec, tail: StderrTail, refusals: Refusals) -> AsyncIterator[TransportStreams]:
    """Raises: NotFound, if there is no such program; OSError, if it can't be started."""
    if isinstance(spec, HttpSpec):
        async with _http(spec, refusals) as streams:
            yield streams
    else:
        async with _stdio(spec, tail) as streams:
            yield streams


@asynccontextmanager
async def _stdio(spec: StdioSpec, tail: StderrTail) -> AsyncIterator[TransportStreams]:
    from mcp.client.stdio import StdioServerParameters, get_default_environment, stdio_client

    own = {name: value.reveal() for name, value in spec.env.items()}
    path = own.get("PATH", get_default_environment().get("PATH"))
    if os.path.basename(spec.command) == spec.command and shutil.which(spec.command, path=path) is None:
        raise NotFound(f"there is no program {spec.command!r}", hint="is it installed, and on PATH?")
    command = [spec.command, *spec.args]
    if sys.platform != "win32":  # where the package itself has children end with their parent
        command = [sys.executable, "-I", "-S", _GUARD, str(os.getpid()), str(LONGEST_MESSAGE), *command]
    parameters = StdioServerParameters(
        command=command[0], args=command[1:], env=own, cwd=spec.cwd, encoding_error_handler="replace"
    )
    try:
        with tail.opened() as errors:
            async with stdio_client(parameters, errlog=errors) as streams:
                errors.close()  # so that it ends with the child
                yield streams
    finally:
        await _last_words(tail)


async def _last_words(tail: StderrTail) -> None:
    """Why a server ended is the last that it says. One whose children live on may never come to an end."""
    import anyio

    with anyio.move_on_after(LAST_WORDS_SECONDS, shield=True):
        while not tail.is_read:  # noqa: ASYNC110 - a thread reads it
            await anyio.sleep(0.01)


@asynccontextmanager
async def _http(spec: HttpSpec, refusals: Refusals) -> AsyncIterator[TransportStreams]:
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    from callgate.runtime.mcp.bounded_http import BoundedAnswers

    answers = BoundedAnswers(LONGEST_MESSAGE, refusals)
    client = httpx2.AsyncClient(
        headers={**{name: value.reveal() for name, value in spec.headers.items()}, "accept-encoding": "identity"},
        timeout=httpx2.Timeout(CONNECT_SECONDS, read=None),  # each call has its own limit
        event_hooks={"response": [answers.look]},
    )
    async with (
        client,
        streamable_http_client(spec.url.reveal(), http_client=client, max_sse_event_size=LONGEST_MESSAGE) as streams,
    ):
        yield streams
