"""What a turn shows of a model against what is believed of it: the user decides what to make of that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from callgate.chat.views import Ask
from callgate.chat.words import name_of
from callgate.gate import Observation
from callgate.vocabulary import Answer, CallgateError, ModelRef, StorageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

SECONDS_BETWEEN = 60.0
_CHOICES = {"y": "keep that", "n": "for this session only"}


def shown_by(observation: Observation, believed: Answer) -> bool | None:
    """Whether the model has tools, if that isn't what is `believed`. A call that was held to a schema shows nothing."""
    match observation.kind:
        case "native_call" | "text_call":
            return None if believed is Answer.YES else True
        case "tools_refused" | "tools_ignored":
            return False if believed is Answer.YES else None
    return None


class Learner:
    """Hears what turns show; asks after them."""

    def __init__(self) -> None:
        self._seen: dict[ModelRef, list[Observation]] = {}
        self._asked_at: dict[ModelRef, float] = {}
        self.believed: dict[ModelRef, Answer] = {}
        """What the turn that was begun goes by."""

    def hear(self, ref: ModelRef, observation: Observation) -> None:
        self._seen.setdefault(ref, []).append(observation)

    async def learn(self, chat: Chat) -> bool:
        """After a turn; whether anything is believed now that wasn't before."""
        seen, self._seen = self._seen, {}
        changed = False
        if chat.settings.detect.learn == "never":
            return False
        for ref, observations in seen.items():
            believed = await self._believed(chat, ref)
            shown = [found for one in observations if (found := shown_by(one, believed)) is not None]
            if shown:
                changed |= await self._learn(chat, ref, shown[-1])
        return changed

    async def _believed(self, chat: Chat, ref: ModelRef) -> Answer:
        """Also of a model that took over in the middle of a turn."""
        if ref in self.believed:
            return self.believed[ref]
        try:
            return (await chat.agent.session.find(ref)).capabilities.tools
        except CallgateError:
            return Answer.UNKNOWN

    async def _learn(self, chat: Chat, ref: ModelRef, tools: bool) -> bool:
        knowledge = chat.agent.session.knowledge
        now = time.monotonic()
        if chat.settings.detect.learn == "ask":
            if now - self._asked_at.get(ref, float("-inf")) < SECONDS_BETWEEN:
                return False
            self._asked_at[ref] = now
            does = "support" if tools else "not support"
            did = "called a tool" if tools else "didn't take the tools that it was offered"
            reply = await chat.view.ask(
                Ask(
                    words=f"This model appears to {does} tools. Update metadata? (y/n)",
                    before=(f"{name_of(ref)} {did}, against what is known of it",),
                    choices=_CHOICES,
                    gives_way=True,
                )
            )
            if (reply or "").strip().lower() in ("y", "yes"):
                try:
                    knowledge.say(ref, tools=tools)
                except StorageError as error:
                    chat.view.tell(f"that holds for this session only: {error.message}", "warning")
                else:
                    knowledge.notes.forget(ref)
                    return True
        knowledge.note(ref, tools=tools, why="a turn showed it")
        return True
