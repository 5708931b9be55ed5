"""A chat: what the user types becomes turns and commands, one after the other, whoever shows it."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from callgate.chat.conversation import Conversation
from callgate.chat.items import Line
from callgate.chat.judging import Judgement
from callgate.chat.learning import Learner
from callgate.chat.meter import Meter
from callgate.chat.options import Describe
from callgate.chat.shelf import Shelf
from callgate.chat.store import Conversations
from callgate.chat.views import Kind, Status, View
from callgate.chat.words import as_kept, name_of, shortened
from callgate.runtime import Agent
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, ModelRef

log = logging.getLogger(__name__)

LONGEST_QUOTED = 60

Job = Callable[[], Awaitable[None]]


class _Queued(NamedTuple):
    job: Job
    message: str | None
    """What it says to a model."""


class Chat:
    """Belongs to one event loop. Jobs run one at a time, in the order in which they were asked for.

    Whatever asks the user something is part of a job, so that there is one question at a time.
    """

    def __init__(
        self, agent: Agent, view: View, conversations: Conversations, conversation: Conversation, describe: Describe
    ) -> None:
        self.agent = agent
        self.view = view
        self.conversations = conversations
        self.conversation = conversation
        self.describe = describe
        self.shelf = Shelf(agent.session)
        self.learner = Learner()
        self.meter = Meter()
        self.judgement: Judgement
        """Of the model that is talked to, once that has `begun`."""
        self.begun = asyncio.Event()
        self.asked: set[ModelRef] = set()
        """Models of which the user was asked whether they have tools."""
        self.unanswered: str | None = None
        """What the user said last, if nothing came of it."""
        self.loaded: dict[ModelRef, int] = {}
        """The context that models really have, once they are loaded."""
        self.correcting: asyncio.Task[None] | None = None
        self.tools_opening: asyncio.Task[None] | None = None
        self.starting_servers: tuple[str, ...] = ()
        self.failed_servers: dict[str, str] = {}
        """MCP servers that didn't start, and why."""
        self.is_over = asyncio.Event()
        self.failure: CallgateError | None = None
        """Why it couldn't go on."""
        self.was_interrupted = False
        """Before it had begun."""
        self.in_turn = False
        self._doing: list[str] = []
        self._jobs: asyncio.Queue[_Queued] = asyncio.Queue()
        self._job: asyncio.Task[None] | None = None
        self._aside: set[asyncio.Task[None]] = set()
        agent.session.on_observation = self.learner.hear

    @property
    def settings(self) -> Settings:
        return self.agent.session.settings

    @property
    def ref(self) -> ModelRef:
        return self.judgement.ref

    @property
    def context(self) -> int | None:
        return self.loaded.get(self.ref, self.judgement.context)

    @property
    def is_busy(self) -> bool:
        return self._job is not None or not self._jobs.empty()

    @property
    def is_in_job(self) -> bool:
        """Whether whoever asks this is the job that goes on."""
        return self._job is not None and self._job is asyncio.current_task()

    # --- Work

    def later(self, job: Job, *, message: str | None = None) -> None:
        """After all that was asked for before. With a `message` for the model, only if the user doesn't stop it."""
        self._jobs.put_nowait(_Queued(job, message))

    def beside(self, work: Awaitable[None]) -> None:
        """While other things go on."""
        _ = self.task(work)

    def task(self, work: Awaitable[None]) -> asyncio.Task[None]:
        """The same, for those who wait for it."""
        task = asyncio.ensure_future(self._told(work))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)
        return task

    async def work(self) -> None:
        """Until it is cancelled, or the chat is over."""
        while not self.is_over.is_set():
            queued = await self._jobs.get()
            self._job = asyncio.ensure_future(self._told(queued.job()))
            try:
                await asyncio.wait({self._job})
            finally:
                self._job.cancel()
                await asyncio.gather(self._job, return_exceptions=True)
                self._job = None
                self._jobs.task_done()

    async def _told(self, work: Awaitable[None]) -> None:
        """What goes wrong is told, and no more comes of it."""
        try:
            await work
        except CallgateError as error:
            self.view.failed(error)
        except Exception as error:
            log.exception("a mistake of ours in the chat (%s)", type(error).__name__)
            self.view.failed(_mistake(error))

    async def settled(self) -> None:
        """Nothing is left to do."""
        await self._jobs.join()

    def stop(self) -> bool:
        """Ends what goes on; whether there was anything. Commands that wait are still done, messages aren't sent."""
        was_busy = self.is_busy
        waiting = [self._jobs.get_nowait() for _ in range(self._jobs.qsize())]
        for queued in waiting:
            if queued.message is None:
                self._jobs.put_nowait(queued)
            else:
                self.view.tell(f"not sent: {shortened(queued.message, LONGEST_QUOTED)!r}")
        for _ in waiting:
            self._jobs.task_done()
        if self._job is not None:
            self._job.cancel()
        return was_busy

    def fail(self, error: CallgateError) -> None:
        """It can't go on."""
        self.failure = error
        self.is_over.set()

    async def close(self) -> None:
        for task in self._aside:
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)
        await self.shelf.close()
        self.conversation.close()

    # --- What is said

    def note(self, text: str, kind: Kind = "note", *, model: ModelRef | None = None) -> None:
        """Told, and kept with the conversation; never sent to a model."""
        kept = as_kept(model) if model else None
        self.view.tell(text, kind, {"model": kept} if kept else None)
        self.conversation.note(Line(text=text, kind="note" if kind == "note" else "swap", model=kept))

    @contextmanager
    def doing(self, what: str) -> Iterator[None]:
        """What is waited for, on the status line."""
        self._doing.append(what)
        self.show_status()
        try:
            yield
        finally:
            self._doing.remove(what)
            self.show_status()

    def show_status(self) -> None:
        if not self.begun.is_set():
            return
        known = self.judgement
        mode = known.mode if known.has_tools else "no tools"
        self.view.status(
            Status(
                model=name_of(known.ref),
                mode=f"{mode}{'?' if known.is_doubtful and known.has_tools else ''}",
                speed=self.meter.speed,
                used=self.meter.used,
                context=self.context,
                doing=self._doing[-1] if self._doing else "",
            )
        )

    def begin_anew(self, conversation: Conversation) -> None:
        """With another conversation."""
        self.conversation.close()
        self.conversation = conversation
        self.unanswered = None
        self.meter.forget(conversation.messages)
        self.show_status()


def _mistake(error: Exception) -> CallgateError:
    """Of its text nothing is told, for that may be anything."""
    at = error.__traceback__
    while at is not None and at.tb_next is not None:
        at = at.tb_next
    where = f" in {os.path.basename(at.tb_frame.f_code.co_filename)}, line {at.tb_lineno}" if at else ""
    return CallgateError(
        f"that failed inside callgate: {type(error).__name__}{where}",
        hint="the chat goes on; please report what you did, and this line",
    )
