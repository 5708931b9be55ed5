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
from typing import BinaryIO

import msgspec

from callgate.gateway.app import App
from callgate.gateway.serving.busy import Busy
from callgate.gateway.serving.running import run
from callgate.gateway.serving.siblings import (
    Count,
    Counted,
    Failed,
    FromWorker,
    Logged,
    Order,
    Ready,
    Sum,
    ToWorker,
    Wants,
)
from callgate.gateway.serving.siblings import line as as_line
from callgate.vocabulary import CallgateError

OTHERS_SECONDS = 5.0
"""For all others to be asked, of which some may be busy."""


class Link:
    """The way to the parent, and through it to the other workers."""

    def __init__(self, order: Order, reports: int) -> None:
        self.busy = Busy.shared(order.busy, order.options.workers, order.number)
        self._reports = reports
        self._lock = threading.Lock()
        self._waiting: dict[int, asyncio.Future[msgspec.Raw]] = {}
        self._numbers = count()

    def say(self, message: FromWorker) -> None:
        content = memoryview(as_line(message))
        with self._lock, suppress(OSError):  # a parent that has gone hears nothing
            while content:
                content = content[os.write(self._reports, content) :]

    async def others(self, own: msgspec.Raw) -> msgspec.Raw:
        """See `Siblings.others`."""
        number = next(self._numbers)
        answer: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        try:
            self.say(Wants(number, own))
            async with asyncio.timeout(OTHERS_SECONDS):
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
            case Sum(number, snapshot):
                if (answer := self._waiting.get(number)) and not answer.done():
                    answer.set_result(snapshot)


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
