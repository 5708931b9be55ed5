"""What a turn shows of a model against what is believed of it: the user decides what to make of that."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from callgate.chat.views import Ask
from callgate.gate import Observation
from callgate.vocabulary import Answer, ModelRef, StorageError

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
        self._surprises: dict[ModelRef, bool] = {}
        self._asked_at: dict[ModelRef, float] = {}
        self.believed: dict[ModelRef, Answer] = {}
        """What turns go by."""

    def hear(self, ref: ModelRef, observation: Observation) -> None:
        shown = shown_by(observation, self.believed.get(ref, Answer.UNKNOWN))
        if shown is not None:
            self._surprises[ref] = shown

    async def learn(self, chat: Chat) -> bool:
        """After a turn; whether anything is believed now that wasn't before."""
        surprises, self._surprises = self._surprises, {}
        changed = False
        for ref, tools in surprises.items():
            if chat.settings.detect.learn != "never":
                changed |= await self._learn(chat, ref, tools)
        return changed

    async def _learn(self, chat: Chat, ref: ModelRef, tools: bool) -> bool:
        knowledge = chat.agent.session.knowledge
        now = time.monotonic()
        if chat.settings.detect.learn == "ask":
            if now - self._asked_at.get(ref, float("-inf")) < SECONDS_BETWEEN:
                return False
            self._asked_at[ref] = now
            does = "support" if tools else "not support"
            reply = await chat.view.ask(
                Ask(words=f"This model appears to {does} tools. Update metadata? (y/n)", choices=_CHOICES)
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
