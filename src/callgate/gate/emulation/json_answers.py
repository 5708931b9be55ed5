"""Answers by the convention of JSON: one object, with calls or with a reply."""

from __future__ import annotations

import re
from collections.abc import Mapping

from callgate.gate.emulation.answers import LONGEST_HELD, EmulatedAnswer, call_in
from callgate.gate.emulation.conventions import CALLS, REPLY
from callgate.gate.emulation.schema_text import LONGEST_TEXT
from callgate.gate.emulation.shapes import Shape
from callgate.gate.emulation.strays import NewReader
from callgate.gate.emulation.unquoting import Unquoted, ValueEnd
from callgate.gate.recovery import Half, Text

PARAGRAPH = "\n\n"
_LONGEST_HEAD = 200
_HEAD = re.compile(rf'\s*\{{\s*"({CALLS}|{REPLY})"\s*:\s*(?=\S)')
_HEADS = (f'{{"{CALLS}":', f'{{"{REPLY}":')
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s,]*")
_ENDS = re.compile(r"[\s\]}]*")


class JsonAnswer(EmulatedAnswer):
    """An answer that is one JSON object: with calls, or with a reply.

    `plain_reply` is false where the reply is JSON of the user's own: then it is given out as JSON. `otherwise` makes
    what reads an answer that is no such object.
    """

    def __init__(
        self, shapes: Mapping[str, Shape], *, plain_reply: bool = True, otherwise: NewReader | None = None
    ) -> None:
        super().__init__(shapes, otherwise)
        self._plain_reply = plain_reply
        self._step = self._head
        self._end: ValueEnd | None = None
        self._seen = 0
        self._part = Unquoted()
        self._joint = ""

    def _end_with(self, left: str) -> None:
        if self._step == self._paragraph:
            self._say(self._part.rest())
        elif self._step == self._call and (found := call_in(left, "json", self._shapes, cut=True)):
            self._out.append(found)
        elif self._step == self._head:
            calls, reply = (head.startswith(_SPACE.sub("", left)) for head in _HEADS)
            self._out += (*([Half()] if calls and not reply else ()), *self._strays.read(left))
        elif self._step == self._call:
            self._out.append(Half())
            self._say(left)
        elif self._step == self._own_reply:
            self._say(left)

    def _say(self, text: str) -> None:
        if text:
            self._out.append(Text(text))

    def _head(self) -> bool:
        if found := _HEAD.match(self._buffer):
            opens = self._buffer[found.end()]
            if found[1] == REPLY and not self._plain_reply:
                self._step = self._own_reply
            elif opens == "[":
                self._step = self._next_call if found[1] == CALLS else self._next_paragraph
                self._buffer = self._buffer[found.end() + 1 :]
                return True
            elif found[1] == REPLY and opens == '"':
                self._step = self._next_paragraph
            else:
                self._step = self._stray
                return True
            self._buffer = self._buffer[found.end() :]
            return True
        bare = _SPACE.sub("", self._buffer)
        if len(self._buffer) <= _LONGEST_HEAD and any(head.startswith(bare) or bare == head for head in _HEADS):
            return False
        self._step = self._stray
        return True

    def _stray(self) -> bool:
        """It isn't what it should be."""
        self._out += self._strays.read(self._buffer)
        self._buffer = ""
        return False

    def _words(self) -> bool:
        """It no longer is what it should be."""
        self._say(self._buffer)
        self._buffer = ""
        return False

    def _next_call(self) -> bool:
        self._skip(_BETWEEN)
        if not self._buffer:
            return False
        if self._buffer[0] == "{":
            self._end, self._seen, self._step = ValueEnd(), 0, self._call
        else:
            self._step = self._tail
        return True

    def _call(self) -> bool:
        raw = self._value()
        if raw is None:
            if len(self._buffer) > LONGEST_HELD:
                self._step = self._words
                return True
            return False
        if found := call_in(raw, "json", self._shapes):
            self._out.append(found)
        else:
            self._out += (*self._strays.read(raw), *self._strays.end())
        self._step = self._next_call
        return True

    def _own_reply(self) -> bool:
        if not self._buffer:
            return False
        if self._end is None:
            self._end = ValueEnd()
        end = self._end.find(self._buffer)
        self._say(self._buffer if end is None else self._buffer[:end])
        self._buffer = "" if end is None else self._buffer[end:]
        if end is None:
            return False
        self._step = self._tail
        return True

    def _next_paragraph(self) -> bool:
        self._skip(_BETWEEN)
        if not self._buffer:
            return False
        if self._buffer[0] == '"':
            self._buffer = self._buffer[1:]
            self._part, self._step = Unquoted(), self._paragraph
        else:
            self._step = self._tail
        return True

    def _paragraph(self) -> bool:
        said, self._buffer = self._part.read(self._buffer)
        if said:
            self._say(self._joint + said)
            self._joint = ""
        if not self._part.is_whole:
            return False
        # One that is as long as may be was cut by the schema, not by its author.
        self._joint = (
            "" if self._part.length >= LONGEST_TEXT else self._joint or (PARAGRAPH if self._part.length else "")
        )
        self._step = self._next_paragraph
        return True

    def _tail(self) -> bool:
        self._skip(_ENDS)
        if self._buffer:
            self._step = self._words
            return True
        return False

    def _skip(self, what: re.Pattern[str]) -> None:
        if found := what.match(self._buffer):
            self._buffer = self._buffer[found.end() :]

    def _value(self) -> str | None:
        """The JSON value that the buffer starts with, taken out of it, once it is whole."""
        assert self._end is not None
        end = self._end.find(self._buffer, self._seen)
        if end is None:
            self._seen = len(self._buffer)
            return None
        raw, self._buffer = self._buffer[:end], self._buffer[end:]
        return raw
