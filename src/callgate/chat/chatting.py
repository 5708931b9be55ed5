"""A chat: what the user types becomes turns and commands, one after the other, whoever shows it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from callgate.chat.conversation import Conversation
from callgate.chat.items import Line
from callgate.chat.judging import Judgement
from callgate.chat.learning import Learner
from callgate.chat.meter import Meter
from callgate.chat.options import Describe
from callgate.chat.shelf import Shelf
from callgate.chat.store import Conversations
from callgate.chat.views import Kind, Status, View
from callgate.chat.words import name_of
from callgate.runtime import Agent
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, ModelRef

Job = Callable[[], Awaitable[None]]


class Chat:
    """Belongs to one event loop. Jobs run one at a time, in the order in which they were asked for."""

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
        """Of the model that is talked to."""
        self.asked: set[ModelRef] = set()
        """Models of which the user was asked whether they have tools."""
        self.unanswered: str | None = None
        """What the user said last, if nothing came of it."""
        self.loaded: dict[ModelRef, int] = {}
        """The context that models really have, once they are loaded."""
        self.correcting: asyncio.Task[None] | None = None
        self.tools_opening: asyncio.Task[None] | None = None
        self.failed_servers: dict[str, str] = {}
        """MCP servers that didn't start, and why."""
        self.is_over = asyncio.Event()
        self.in_turn = False
        self._doing = ""
        self._jobs: asyncio.Queue[Job] = asyncio.Queue()
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

    # --- Work

    def later(self, job: Job) -> None:
        """After all that was asked for before."""
        self._jobs.put_nowait(job)

    def beside(self, work: Awaitable[None]) -> None:
        """While other things go on."""
        task = asyncio.ensure_future(_unharmed(work))
        self._aside.add(task)
        task.add_done_callback(self._aside.discard)

    async def work(self) -> None:
        """Until it is cancelled."""
        while True:
            job = await self._jobs.get()
            self._job = asyncio.ensure_future(self._done(job))
            try:
                await asyncio.wait({self._job})
            finally:
                self._job.cancel()
                await asyncio.gather(self._job, return_exceptions=True)
                self._job = None
                self._jobs.task_done()

    async def _done(self, job: Job) -> None:
        try:
            await job()
        except CallgateError as error:
            self.view.failed(error)

    async def settled(self) -> None:
        """Nothing is left to do."""
        await self._jobs.join()

    def stop(self) -> bool:
        """Ends what goes on, and forgets what waits; whether there was anything."""
        was_busy = self.is_busy
        while not self._jobs.empty():
            self._jobs.get_nowait()
            self._jobs.task_done()
        if self._job is not None:
            self._job.cancel()
        return was_busy

    async def close(self) -> None:
        for task in self._aside:
            task.cancel()
        await asyncio.gather(*self._aside, return_exceptions=True)
        await self.shelf.close()
        self.conversation.close()

    # --- What is said

    def note(self, text: str, kind: Kind = "note", *, model: ModelRef | None = None) -> None:
        """Told, and kept with the conversation; never sent to a model."""
        data = {"model": str(model)} if model else None
        self.view.tell(text, kind, data)
        self.conversation.note(
            Line(text=text, kind="note" if kind == "note" else "swap", model=_as_kept(model) if model else None)
        )

    def doing(self, what: str) -> None:
        """What is waited for, on the status line."""
        self._doing = what
        self.show_status()

    def show_status(self) -> None:
        known: Judgement | None = getattr(self, "judgement", None)
        if known is None:
            return
        mode = known.mode if known.has_tools else "no tools"
        self.view.status(
            Status(
                model=name_of(known.ref),
                mode=f"{mode}{'?' if known.is_doubtful and known.has_tools else ''}",
                speed=self.meter.speed,
                used=self.meter.used,
                context=self.context,
                doing=self._doing,
            )
        )

    def begin_anew(self, conversation: Conversation) -> None:
        """With another conversation."""
        self.conversation.close()
        self.conversation = conversation
        self.unanswered = None
        self.meter.forget(conversation.messages)
        self.show_status()


def _as_kept(ref: ModelRef) -> str:
    """A password isn't kept."""
    return ref.name if "@" in (ref.endpoint or "") else str(ref)


async def _unharmed(work: Awaitable[None]) -> None:
    try:
        await work
    except CallgateError:
        return
