"""Runs the application with uvicorn, until it is told to stop."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import uvicorn

from callgate.gateway.app import App
from callgate.gateway.options import Options
from callgate.settings import Settings
from callgate.vocabulary import UsageError

KEEP_ALIVE_SECONDS = 60
_BACKLOG = 2048


def serve(settings: Settings, options: Options, *, on_ready: Callable[[str], None]) -> None:
    """Until SIGINT or SIGTERM; answers that are under way then have `options.drain` seconds to end. `on_ready` gets
    the server's URL as soon as it answers.

    Raises: UsageError, if the options are no good, or the address can't be had.
    """
    app = App(settings, options)
    listening = _listening(options)
    host, port = listening.getsockname()[:2]
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=round(options.drain),
        backlog=_BACKLOG,
    )
    with listening, _told_by_signals():
        _Server(config, lambda: on_ready(url)).run(sockets=[listening])


@contextmanager
def _told_by_signals() -> Iterator[None]:
    """uvicorn raises the signal anew when it has ended in order; then there is nothing left to do."""
    before = {number: signal.signal(number, lambda *_: None) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._on_ready()


def _listening(options: Options) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((options.host, options.port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        raise UsageError(
            f"{options.host}:{options.port} can't be listened at: {error.strerror}",
            hint="--port 0 takes one that is free",
        ) from None
    return listening
