"""The parent of several workers: it starts them, starts those again that die, adds up what they count and ends them."""

from __future__ import annotations

import asyncio
import logging
import os
import pickle
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import PIPE, Process
from collections.abc import Callable, Coroutine
from contextlib import suppress

import msgspec

from callgate.gateway.keeping import OwnMemory
from callgate.gateway.metrics import Metrics
from callgate.gateway.options import Options
from callgate.gateway.serving.busy import Busy, room_for
from callgate.gateway.serving.siblings import (
    LONGEST_LINE,
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
    line,
)
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, UsageError

log = logging.getLogger(__name__)

COUNT_SECONDS = 1.0
"""For a worker to say what it has counted; what it said last counts otherwise."""
LAST_SECONDS = 5.0
"""After `drain`, before a worker that doesn't end is killed."""
STEADY_SECONDS = 10.0
"""A worker that dies sooner is started again after a pause, which grows."""
LONGEST_PAUSE = 30.0
_WORKER = "callgate.gateway.serving.worker"


class _Worker:
    def __init__(self, number: int, process: Process) -> None:
        self.number = number
        self.process = process
        self.is_ready = False
        self.failure: CallgateError | None = None
        self.counted: msgspec.Raw | None = None
        """What it said last that it has seen."""
        self._news = asyncio.Event()

    def say(self, message: ToWorker) -> None:
        assert self.process.stdin
        with suppress(OSError, RuntimeError):  # it may have ended
            self.process.stdin.write(line(message))

    def signal(self, number: int) -> None:
        with suppress(ProcessLookupError):
            self.process.send_signal(number)

    def tells(self, snapshot: msgspec.Raw) -> None:
        self.counted = snapshot
        self._news.set()

    async def count(self) -> None:
        self._news.clear()
        self.say(Count())
        with suppress(TimeoutError):
            async with asyncio.timeout(COUNT_SECONDS):
                await self._news.wait()


class Workers:
    """They share the socket, so it is the system that gives each request to one of those who have time."""

    def __init__(self, settings: Settings, options: Options, listening: socket.socket) -> None:
        """Raises: UsageError, where processes can't share a socket in this way."""
        if sys.platform == "win32":
            raise UsageError("several workers can't share an address on Windows", hint="leave out --workers")
        self._settings, self._options = settings, options
        self._listening = listening
        self._common = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the workers
        os.ftruncate(self._common.fileno(), room_for(options.workers))
        self._busy = Busy.shared(self._common.fileno(), options.workers)
        self._now: dict[int, _Worker] = {}
        self._gone = Metrics()
        """What those have counted that have ended."""
        self._answers = OwnMemory()
        """To go on from, of all of them."""
        self._ending = asyncio.Event()
        self._all_ready = asyncio.Event()
        self._under_way: set[asyncio.Task[None]] = set()
        self._failure: CallgateError | None = None

    async def run(self, on_ready: Callable[[], None]) -> None:
        """Until SIGINT or SIGTERM; a SIGINT after that ends what is under way.

        Raises: CallgateError, if they don't start.
        """
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._told, number)
        with self._common:
            keepers = [asyncio.create_task(self._keep(number)) for number in range(self._options.workers)]
            ready = asyncio.create_task(self._all_ready.wait())
            ending = asyncio.create_task(self._ending.wait())
            try:
                await asyncio.wait([ready, ending], return_when=asyncio.FIRST_COMPLETED)
                if not self._ending.is_set():
                    on_ready()
                await ending
            finally:
                self._end()
                self._listening.close()  # or those who come now would wait for nobody
                await self._ended(keepers)
                ready.cancel()
        if self._failure:
            raise self._failure

    def _told(self, number: int) -> None:
        if not self._ending.is_set():
            self._end()
        elif number == signal.SIGINT:
            for worker in self._now.values():
                worker.signal(signal.SIGINT)  # which cuts short what is under way, so it is for nobody else to send

    def _end(self) -> None:
        """In order: what is under way may end. What comes after the first time changes nothing."""
        if not self._ending.is_set():
            self._ending.set()
            for worker in self._now.values():
                worker.signal(signal.SIGTERM)

    async def _ended(self, keepers: list[asyncio.Task[None]]) -> None:
        _, late = await asyncio.wait(keepers, timeout=self._options.drain + LAST_SECONDS)
        for worker in self._now.values():
            worker.signal(signal.SIGKILL)
        if late:
            await asyncio.wait(late)

    async def _keep(self, number: int) -> None:
        pause = 0.0
        while not self._ending.is_set():
            started_at = time.monotonic()
            failure = await self._lived(number)
            if self._ending.is_set():
                return
            if not self._all_ready.is_set():
                self._failure = failure
                self._end()
                return
            pause = 0.0 if time.monotonic() - started_at > STEADY_SECONDS else min(pause * 2 or 1, LONGEST_PAUSE)
            _tell(f"{failure.message}; it is started again")
            with suppress(TimeoutError):
                async with asyncio.timeout(pause):
                    await self._ending.wait()

    async def _lived(self, number: int) -> CallgateError:
        """One worker, from its start to its end; why it ended."""
        try:
            worker = self._now[number] = await self._started(number)
        except OSError as error:
            return CallgateError(f"no process can be started for a worker: {error.strerror}")
        try:
            await self._heard(worker)
        except ValueError:  # a line that is longer than any that it should say
            worker.signal(signal.SIGKILL)
        status = await worker.process.wait()
        del self._now[number]
        self._busy.forget(number)
        if worker.counted is not None:
            self._gone.add(worker.counted, is_over=True)
        hint = "try it with one: --workers 1"
        return worker.failure or CallgateError(f"worker {number} ended with status {status}", hint=hint)

    async def _started(self, number: int) -> _Worker:
        files = self._listening.fileno(), self._common.fileno()
        # What we import is what it imports: whatever lies in the folder that we were started in is nothing to it.
        code = f"import sys; sys.path[:] = {list(filter(None, sys.path))!r}; from {_WORKER} import main; main()"
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-c", code),
            stdin=PIPE,
            stdout=PIPE,
            pass_fds=files,
            process_group=0,  # a key that is pressed is for us
            limit=LONGEST_LINE,
        )
        logger = logging.getLogger("callgate")
        order = Order(
            settings=self._settings,
            options=self._options,
            number=number,
            listening=files[0],
            busy=files[1],
            log_level=logger.getEffectiveLevel() if _is_heard(logger) else None,
        )
        assert process.stdin
        with suppress(OSError):  # one that died at once is noticed when it is waited for
            process.stdin.write(pickle.dumps(order))
            await process.stdin.drain()
        worker = _Worker(number, process)
        if self._ending.is_set():  # it was too young to be told
            worker.signal(signal.SIGTERM)
        return worker

    async def _heard(self, worker: _Worker) -> None:
        assert worker.process.stdout
        while said := await worker.process.stdout.readline():
            with suppress(msgspec.MsgspecError):
                self._hear(worker, msgspec.json.decode(said, type=FromWorker))

    def _hear(self, worker: _Worker, message: FromWorker) -> None:
        match message:
            case Ready():
                worker.is_ready = True
                if len(self._now) == self._options.workers and all(each.is_ready for each in self._now.values()):
                    self._all_ready.set()
            case Failed(text, hint):
                worker.failure = UsageError(text, hint=hint)
            case Logged(name, level, text, at):
                self._log(worker, name, level, text, at)
            case Counted(snapshot):
                worker.tells(snapshot)
            case Wants(number, own):
                worker.counted = own
                self._begin(self._gather(worker, number))
            case Asks():
                self._begin(self._remember(worker, message))

    def _begin(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._under_way.discard)

    async def _remember(self, asker: _Worker, asks: Asks) -> None:
        content = None
        match asks.what:
            case "get":
                content = await self._answers.get(asks.id)
            case "put":
                await self._answers.put(asks.id, asks.content)
            case "drop":
                content = b"" if await self._answers.drop(asks.id) else None
        asker.say(Kept(asks.number, content))

    async def _gather(self, asker: _Worker, number: int) -> None:
        others = [each for each in self._now.values() if each is not asker and each.is_ready]
        await asyncio.gather(*(each.count() for each in others))
        total = Metrics()
        total.add(self._gone.snapshot())
        for each in others:
            if each.counted is not None:
                total.add(each.counted)
        asker.say(Sum(number, total.snapshot()))

    def _log(self, worker: _Worker, name: str, level: int, text: str, at: float) -> None:
        known = {"name": name, "levelno": level, "levelname": logging.getLevelName(level), "msg": text, "created": at}
        logging.getLogger(name).handle(logging.makeLogRecord({**known, "process": worker.process.pid}))


def _is_heard(logger: logging.Logger) -> bool:
    return logger.hasHandlers() and bool(logger.level)


def _tell(what: str) -> None:
    """Whoever started us, also where nobody wants a log."""
    if _is_heard(logging.getLogger("callgate")):
        log.warning("%s", what)
    else:
        with suppress(OSError, ValueError):  # it may be closed
            print(f"callgate: {what}", file=sys.stderr, flush=True)
