"""One process that serves: uvicorn, with our own ways to begin and to end."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from secrets import token_hex
from types import FrameType

import msgspec
import uvicorn

from callgate.gateway.app import App
from callgate.gateway.options import Options
from callgate.gateway.serving.connection import Connection
from callgate.gateway.serving.managed import Manager
from callgate.settings import Settings
from callgate.vocabulary import UsageError

KEEP_ALIVE_SECONDS = 60
TICK_SECONDS = 1.0
"""How often answers have a new date."""
_BACKLOG = 2048
_MOST_FILES = (65_536, 10_240)
"""The second is what macOS allows at most, whatever it says."""
_OBJECTS_BEFORE_SEARCH = 20_000


def serve(settings: Settings, options: Options, *, on_ready: Callable[[str], None]) -> None:
    """Until SIGINT or SIGTERM; answers that are under way then have `options.drain` seconds to end. `on_ready` gets
    the server's URL as soon as it answers, and a service manager hears of it.

    Raises: UsageError, if the options are no good, or the address can't be had.
    """
    manager = Manager()
    options = msgspec.structs.replace(options, instance=options.instance or token_hex(8))
    app = App(settings, options)
    _allow_many_connections()
    with _listening(options) as listening:
        host, port = listening.getsockname()[:2]
        url = f"http://{f'[{host}]' if ':' in host else host}:{port}"

        def ready() -> None:
            on_ready(url)
            manager.tell_ready(url)

        if options.workers == 1:
            run(app, listening, options, ready)
        else:
            asyncio.run(_by_several(settings, options, listening, ready))
            gc.freeze()  # or the process would look all through once more before it ends


async def _by_several(
    settings: Settings, options: Options, listening: socket.socket, on_ready: Callable[[], None]
) -> None:
    from callgate.gateway.serving.workers import Workers

    await Workers(settings, options, listening).run(on_ready)


def run(app: App, listening: socket.socket, options: Options, on_ready: Callable[[], None]) -> None:
    """In this very process. `on_ready` is called in its event loop. Raises: CallgateError, if it can't be started."""
    config = uvicorn.Config(
        app,
        log_config=None,
        log_level="critical",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        lifespan="on",
        http=partial(Connection, head_seconds=options.limits.body_seconds),  # type: ignore[arg-type]
        ws="none",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=options.drain,  # type: ignore[arg-type]  # it is only waited for
        backlog=_BACKLOG,
    )
    server = _Server(config, on_ready)
    with listening, _told_by_signals(server):
        try:
            server.run(sockets=[listening])
        except SystemExit:  # which is how uvicorn says that the application didn't start
            if app.failure:
                raise app.failure from None
            raise


def _search_seldom_for_cycles() -> None:
    """What is there now stays, and an answer leaves hardly any behind."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_OBJECTS_BEFORE_SEARCH, *gc.get_threshold()[1:])


def _allow_many_connections() -> None:
    """Each answer may take two, and many systems allow but a thousand unless they are asked."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for most in _MOST_FILES:
        wanted = most if hard == resource.RLIM_INFINITY else min(most, hard)
        if soft == resource.RLIM_INFINITY or soft >= wanted:
            return
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            return


@contextmanager
def _told_by_signals(server: uvicorn.Server) -> Iterator[None]:
    """What comes before uvicorn listens to signals isn't lost. It raises them anew when it has ended in order; then
    there is nothing left to do.
    """

    def end(*_: object) -> None:
        server.should_exit = True

    before = {number: signal.signal(number, end) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Server(uvicorn.Server):
    def __init__(self, config: uvicorn.Config, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_ready = on_ready
        self._loop: asyncio.AbstractEventLoop | None = None
        self._told = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            _search_seldom_for_cycles()
            # Nobody leaves a stream open, so the event loop needn't note each of them for the end.
            sys.set_asyncgen_hooks(firstiter=None)
            self._on_ready()

    async def main_loop(self) -> None:
        """As uvicorn's, which looks ten times a second whether it was told to stop: so this one wakes less, and ends
        sooner.
        """
        while not await self.on_tick(0):
            with suppress(TimeoutError):
                async with asyncio.timeout(TICK_SECONDS):
                    await self._told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, which waits a while for connections to end, also where there are none."""
        if self.server_state.connections or self.server_state.tasks or self.force_exit:
            await super().shutdown(sockets)
            return
        for server in self.servers:
            server.close()
        for each in sockets or ():
            each.close()
        await self.lifespan.shutdown()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._told.set)


def _listening(options: Options) -> socket.socket:
    family = socket.AF_INET6 if ":" in options.host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        if sys.platform != "win32":  # where it would let a second server have the same address
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
