"""Every call with its result: results behind their calls and in their order, each id once, nothing left open."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence

import msgspec

from callgate.vocabulary import Message, ToolCall

INTERRUPTED = "Interrupted: this call has no result."


class Turn(msgspec.Struct, frozen=True):
    """A message; where it has calls, with a result for each of them.

    A result without a call is a message of role `tool` in a turn of its own.
    """

    message: Message
    results: tuple[Message, ...] = ()


Slot = tuple[int, int]
"""The message, and the place of the call in it."""


class _Open:
    """Calls that still wait for a result."""

    def __init__(self) -> None:
        self._by_id: defaultdict[str, list[deque[Slot]]] = defaultdict(list)
        self._latest: deque[Slot] = deque()
        self._latest_by_name: defaultdict[str, deque[Slot]] = defaultdict(deque)
        self._closed: set[Slot] = set()

    def add(self, index: int, calls: Sequence[ToolCall]) -> None:
        self._latest.clear()
        self._latest_by_name.clear()
        of_this_turn: defaultdict[str, deque[Slot]] = defaultdict(deque)
        for place, call in enumerate(calls):
            slot = index, place
            of_this_turn[call.id].append(slot)
            self._latest.append(slot)
            self._latest_by_name[call.name].append(slot)
        for id_, slots in of_this_turn.items():
            self._by_id[id_].append(slots)

    def take(self, result: Message) -> Slot | None:
        """The call that a result answers: of that id, the latest turn first and its calls in order; without an id, one
        of the latest turn, of that name if it has one.
        """
        if not result.call_id:
            return self._first(self._latest_by_name[result.name] if result.name else self._latest)
        turns = self._by_id.get(result.call_id, [])
        while turns:
            if (slot := self._first(turns[-1])) is not None:
                return slot
            turns.pop()
        return None

    def _first(self, slots: deque[Slot]) -> Slot | None:
        while slots:
            if (slot := slots.popleft()) not in self._closed:
                self._closed.add(slot)
                return slot
        return None


def are_paired(messages: Sequence[Message], sent: Callable[[str], str] | None) -> bool:
    """Whether there is nothing to do, as is usual: each call has its result right behind it, in their order, under an
    id of its own and the name that is `sent`.
    """
    ids: set[str] = set()
    due: list[ToolCall] = []
    for message in messages:
        if message.calls:
            if due or message.role == "tool":
                return False
            for call in message.calls:
                if not call.id or call.id in ids or isinstance(call.arguments, str):
                    return False
                if sent is not None and sent(call.name) != call.name:
                    return False
                ids.add(call.id)
            due = [*reversed(message.calls)]
        elif message.role == "tool":
            if not due:
                return False
            call = due.pop()
            if message.call_id != call.id or message.name not in (None, "", call.name) or message.images:
                return False
        elif due:
            return False
    return not due


def paired(messages: Sequence[Message]) -> list[Turn]:
    """The messages as turns. A call without a result gets one that says so; ids that occur twice are told apart."""
    waiting = _Open()
    results: dict[Slot, Message] = {}
    alone: set[int] = set()
    for index, message in enumerate(messages):
        if message.calls:
            waiting.add(index, message.calls)
        elif message.role == "tool":
            if (slot := waiting.take(message)) is None:
                alone.add(index)
            else:
                results[slot] = message
    ids = _Ids(call.id for message in messages for call in message.calls)
    turns: list[Turn] = []
    for index, message in enumerate(messages):
        if message.calls:
            answers = [results.get((index, place)) or _interrupted(call) for place, call in enumerate(message.calls)]
            turns.append(Turn(ids.told_apart(message), tuple(answers)))
        elif message.role != "tool" or index in alone:
            turns.append(Turn(message))
    return turns


def _interrupted(call: ToolCall) -> Message:
    return Message(role="tool", content=INTERRUPTED, call_id=call.id, name=call.name)


class _Ids:
    def __init__(self, known: Iterable[str]) -> None:
        self._known = set(known)
        self._used: set[str] = set()
        self._counts: defaultdict[str, int] = defaultdict(lambda: 1)

    def told_apart(self, message: Message) -> Message:
        calls = tuple(self._own(call) for call in message.calls)
        return message if calls == message.calls else msgspec.structs.replace(message, calls=calls)

    def _own(self, call: ToolCall) -> ToolCall:
        if call.id and call.id not in self._used:
            self._used.add(call.id)
            return call
        stem = call.id or "call"
        while True:
            self._counts[stem] += 1
            fresh = f"{stem}_{self._counts[stem]}"
            if fresh not in self._known and fresh not in self._used:
                self._used.add(fresh)
                return msgspec.structs.replace(call, id=fresh)
