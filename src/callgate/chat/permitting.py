"""Asks the user in the chat: may this tool be run, may this model be asked?"""

from __future__ import annotations

from callgate.chat.cleaning import on_one_line
from callgate.chat.views import Ask, View
from callgate.chat.words import name_of
from callgate.runtime import Question, Reply
from callgate.vocabulary import ModelRef

_REPLIES: dict[str, Reply] = {"y": "yes", "yes": "yes", "a": "always", "always": "always"}
_CHOICES = {"y": "this once", "n": "not this time", "always": "this tool of this source, from now on"}


class Asking:
    def __init__(self, view: View) -> None:
        self._view = view

    @property
    def is_possible(self) -> bool:
        return self._view.can_ask

    async def may_run(self, question: Question) -> Reply:
        """Anything but a yes is a no."""
        entry = question.entry
        before = f"run {on_one_line(entry.own_name)} of {on_one_line(entry.source)}: {on_one_line(question.arguments)}"
        reply = await self._view.ask(Ask(words="allow? (y/n/always)", before=(before,), choices=_CHOICES))
        return _REPLIES.get((reply or "").strip().lower(), "no")

    async def may_be_asked(self, ref: ModelRef) -> bool:
        words = f"{name_of(ref)} takes over? it runs on another machine, and may cost money (y/n)"
        reply = await self._view.ask(Ask(words=words, choices={"y": "ask it", "n": "don't"}))
        return (reply or "").strip().lower() in ("y", "yes")
