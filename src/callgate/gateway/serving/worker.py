"""One of several processes that answer at the same address. Its parent starts it, hears it, and tells it to stop."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import threading
from contextlib import suppress
from itertools import count
from typing import BinaryIO, Literal

import msgspec

from callgate.gateway.app import App
from callgate.gateway.asgi import Refused
from callgate.gateway.dialect import Failure
from callgate.gateway.keeping import MOST_BYTES_EACH, Keeper
from callgate.gateway.serving.busy import Busy
from callgate.gateway.serving.running import run
from callgate.gateway.serving.siblings import (
    Asks,
    Count,
    Counted,
    Failed,
    FromWorker,
    Kept,
    Logged,
    Order,
    Ready,
    Sum,
    ToWorker,
    Wants,
)
from callgate.gateway.serving.siblings import line as as_line
from callgate.vocabulary import CallgateError

log = logging.getLogger(__name__)

OTHERS_SECONDS = 5.0
"""For all others to be asked, of which some may be busy."""
_SILENT = Failure(
    status=503,
    kind="workers",
    message="whether that answer is kept can't be told now: the parent of the workers doesn't answer",
    hint="ask again, or send the conversation as input",
)
_LONG = 64 << 10
"""What a pipe takes at once: more has to be waited for."""


class Link:
    """The way to the parent, and through it to the other workers."""

    def __init__(self, order: Order, reports: int) -> None:
        self.busy = Busy.shared(order.busy, order.options.workers, order.number)
        self.keeper: Keeper | None = ParentsMemory(self)
        self._reports = reports
        self._lock = threading.Lock()
        self._waiting: dict[int, asyncio.Future[Sum | Kept]] = {}
        self._numbers = count()

    def say(self, message: FromWorker) -> None:
        content = memoryview(as_line(message))
        with self._lock, suppress(OSError):  # a parent that has gone hears nothing
            while content:
                content = content[os.write(self._reports, content) :]

    async def others(self, own: msgspec.Raw) -> msgspec.Raw:
        """See `Siblings.others`."""
        number = next(self._numbers)
        answer = await self._told(number, Wants(number, own))
        assert isinstance(answer, Sum)
        return answer.snapshot

    async def ask(self, what: Literal["get", "put", "drop"], id_: str, content: bytes = b"") -> bytes | None:
        """Raises: TimeoutError."""
        number = next(self._numbers)
        answer = await self._told(number, Asks(number, what, id_, content), is_long=len(content) > _LONG)
        assert isinstance(answer, Kept)
        return answer.content

    async def _told(self, number: int, message: FromWorker, *, is_long: bool = False) -> Sum | Kept:
        answer: asyncio.Future[Sum | Kept] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            async with asyncio.timeout(OTHERS_SECONDS):
                if is_long:
                    await asyncio.to_thread(self.say, message)
                else:
                    self.say(message)
                return await answer
        finally:
            del self._waiting[number]

    def listen(self, source: BinaryIO, app: App, loop: asyncio.AbstractEventLoop) -> None:
        """Until the parent has nothing more to say, which is its end and so ours."""
        for line in source:
            with suppress(RuntimeError, msgspec.MsgspecError):  # the loop may be closed
                loop.call_soon_threadsafe(self._hear, msgspec.json.decode(line, type=ToWorker), app)
        os.kill(os.getpid(), signal.SIGTERM)

    def _hear(self, message: ToWorker, app: App) -> None:
        match message:
            case Count():
                self.say(Counted(app.count()))
            case Sum() | Kept():
                if (answer := self._waiting.get(message.number)) and not answer.done():
                    answer.set_result(message)


class ParentsMemory:
    """Earlier answers, kept by the parent for all workers."""

    def __init__(self, link: Link) -> None:
        self._link = link

    async def get(self, id_: str) -> bytes | None:
        return await self._asked("get", id_)

    async def put(self, id_: str, content: bytes) -> None:
        """Returns when it is there: whoever goes on from it may meet another worker."""
        if len(content) > MOST_BYTES_EACH:
            return
        try:
            await self._link.ask("put", id_, content)
        except TimeoutError:
            log.warning("an answer isn't kept: the parent of the workers doesn't answer")

    async def drop(self, id_: str) -> bool:
        return await self._asked("drop", id_) is not None

    async def _asked(self, what: Literal["get", "drop"], id_: str) -> bytes | None:
        try:
            return await self._link.ask(what, id_)
        except TimeoutError:
            raise Refused(_SILENT, [(b"retry-after", b"1")]) from None


class _ToParent(logging.Handler):
    """The parent knows where logs go. Of an exception only the kind is told, for its text may be anything."""

    def __init__(self, link: Link) -> None:
        super().__init__()
        self._link = link

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        if record.exc_info and record.exc_info[0]:
            text += f" ({record.exc_info[0].__name__})"
        text = text.encode("utf-8", "replace").decode()
        self._link.say(Logged(record.name, record.levelno, text, record.created))


def main() -> None:
    reports = os.dup(1)
    os.dup2(2, 1)  # whatever prints there
    source = os.fdopen(0, "rb", closefd=False)
    order: Order = pickle.load(source)  # noqa: S301 - our parent made it
    link = Link(order, reports)
    if order.log_level is not None:
        logger = logging.getLogger("callgate")
        logger.setLevel(order.log_level)
        logger.addHandler(_ToParent(link))
    try:
        app = App(order.settings, order.options, link)

        def on_ready() -> None:
            loop = asyncio.get_running_loop()
            threading.Thread(target=link.listen, args=(source, app, loop), name="parent", daemon=True).start()
            link.say(Ready())

        run(app, socket.socket(fileno=order.listening), order.options, on_ready)
    except CallgateError as error:
        link.say(Failed(error.message, error.hint))
