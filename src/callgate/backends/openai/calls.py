"""Puts the calls of an answer together, in whatever pieces they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import msgspec

from callgate.backends.openai.shapes import CallPiece
from callgate.vocabulary import BadAnswer, ToolCall, ToolCallEvent

MOST_CALLS = 256
"""In one answer."""

_OUTSIDE_TEXT = re.compile(r'[{}\[\]"]')
_INSIDE_TEXT = re.compile(r'["\\]')


class Calls:
    """The calls of one answer.

    A piece belongs to the call that has its id, or else to the latest with its index, or else to the latest. Calls are
    told in the order of their arrival, each as soon as it is known to be whole.
    """

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._calls: list[_Call] = []
        self._by_id: dict[str, _Call] = {}
        self._by_index: dict[int, _Call] = {}
        self._told = 0

    def feed(self, pieces: list[CallPiece]) -> list[ToolCallEvent]:
        """The calls that `pieces` complete. Raises: BadAnswer, if there are too many."""
        for piece in pieces:
            function = piece.function
            name = function.name or "" if function else ""
            arguments = function.arguments if function else None
            call = self._call_of(piece, name, arguments)
            call.name = call.name or name
            call.add(arguments)
        ready = self._told
        while ready < len(self._calls) and self._calls[ready].is_whole and self._calls[ready].name:
            ready += 1
        return self._tell(ready)

    def close(self) -> list[ToolCallEvent]:
        """The calls that only the end shows to be whole, such as those without arguments."""
        return self._tell(len(self._calls))

    def _tell(self, ready: int) -> list[ToolCallEvent]:
        told, self._told = self._told, ready
        return [ToolCallEvent(call.told(self._new_id)) for call in self._calls[told:ready]]

    def _call_of(self, piece: CallPiece, name: str, arguments: str | dict[str, Any] | None) -> _Call:
        identity = "" if piece.id is None else str(piece.id)
        latest = self._calls[-1] if self._calls else None
        call = self._by_id.get(identity) if identity else None
        if call is not None:
            # Some servers give all the calls of a turn one id.
            is_another = name and call.name and piece.index is not None and piece.index != call.index
            return self._new("", piece.index) if is_another else call
        at_index = latest if piece.index is None else self._by_index.get(piece.index)
        if identity:
            if at_index is not None and not at_index.id and not name:
                at_index.id = identity
                self._by_id[identity] = at_index
                return at_index
            return self._new(identity, piece.index)
        if at_index is None and not name and latest is not None and latest.index is None:
            at_index = latest
        if at_index is None or at_index.is_done_before(name, arguments):
            return self._new("", piece.index)
        return at_index

    def _new(self, identity: str, index: int | None) -> _Call:
        if len(self._calls) >= MOST_CALLS:
            raise BadAnswer(f"the answer has more than {MOST_CALLS} tool calls")
        call = _Call(identity, index)
        self._calls.append(call)
        if identity:
            self._by_id[identity] = call
        if index is not None:
            self._by_index[index] = call
        return call


class _Call:
    """One call, while it comes."""

    def __init__(self, identity: str, index: int | None) -> None:
        self.id = identity
        self.index = index
        self.name = ""
        self.is_whole = False
        """Nothing can follow. `{}` isn't whole before the end: some servers send it first, and then what is meant."""
        self._object: dict[str, Any] | None = None
        self._text: _ObjectText | None = None

    def add(self, arguments: str | dict[str, Any] | None) -> None:
        if arguments is None or arguments == "" or self.is_whole:  # or it comes for the second time
            return
        if isinstance(arguments, dict):
            self._object, self._text = arguments, None
            self.is_whole = bool(arguments)
            return
        if self._object is not None and arguments.lstrip().startswith("{"):
            self._object = self._text = None
        if self._text is None:
            self._text = _ObjectText()
        self._object = self._text.add(arguments)
        self.is_whole = bool(self._object)

    def is_done_before(self, name: str, arguments: str | dict[str, Any] | None) -> bool:
        """Does a piece that has no id of its own begin another call?"""
        if not name or not self.name:
            return False
        if name != self.name:
            return True
        return self.is_whole and bool(arguments) and _object_in(arguments) != self._object

    def told(self, new_id: Callable[[], str]) -> ToolCall:
        raw = str(self._text) if self._text else None
        arguments: dict[str, Any] | str
        if self._object is not None or raw is None or not raw.strip():
            arguments = self._object or {}
        else:
            known = _object_in(raw)
            arguments = raw if known is None else known
        return ToolCall(self.id or new_id(), self.name, arguments, raw)


class _ObjectText:
    """The text of a JSON object, piece by piece. Its end is found in one pass, however small the pieces are."""

    def __init__(self) -> None:
        self._pieces: list[str] = []
        self._depth = 0
        self._in_text = False
        self._escaped = False
        self._broken = False

    def __str__(self) -> str:
        return "".join(self._pieces)

    def add(self, piece: str) -> dict[str, Any] | None:
        """The object, if this was its end."""
        self._pieces.append(piece)
        self._follow(piece)
        if self._broken or self._depth or self._in_text:
            return None
        text = str(self)
        if not text.strip():
            return None
        found = _object_in(text)
        self._broken = found is None
        return found

    def _follow(self, piece: str) -> None:
        at = 0
        if self._escaped:
            at, self._escaped = 1, False
        while match := (_INSIDE_TEXT if self._in_text else _OUTSIDE_TEXT).search(piece, at):
            at = match.end()
            match match.group():
                case "\\":
                    at += 1
                    self._escaped = at > len(piece)
                case '"':
                    self._in_text = not self._in_text
                case "{" | "[":
                    self._depth += 1
                case _:
                    self._depth -= 1


def _object_in(arguments: str | dict[str, Any] | None) -> dict[str, Any] | None:
    if not isinstance(arguments, str):
        return arguments
    try:
        found = msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None
    return found if isinstance(found, dict) else None
