"""Reads an emulated answer while it is written: words at once, calls when they are whole.

An answer that doesn't keep to its convention is read by whoever knows others, or else given out as it is. So is a call
that was cut off within its arguments: half of what a tool was to be told is no call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import msgspec

from callgate.gate.emulation.conventions import ARGUMENTS, CALLS, CLOSE, NAME, OPEN, REPLY, Convention
from callgate.gate.emulation.schema_text import LONGEST_TEXT
from callgate.gate.emulation.shapes import Shape
from callgate.gate.emulation.strays import NewReader, Strays
from callgate.gate.emulation.understanding import understood
from callgate.gate.emulation.unquoting import Unquoted, ValueEnd
from callgate.gate.recovery import Found, Piece, Text

FORMAT = "emulated"
PARAGRAPH = "\n\n"
LONGEST_HELD = 200_000
"""A call that is longer was never held to anything: it is given out as it is."""
_LONGEST_HEAD = 200
_HEAD = re.compile(rf'\s*\{{\s*"({CALLS}|{REPLY})"\s*:\s*(?=\S)')
_HEADS = (f'{{"{CALLS}":', f'{{"{REPLY}":')
_SPACE = re.compile(r"\s+")
_BETWEEN = re.compile(r"[\s,]*")
_ENDS = re.compile(r"[\s\]}]*")


class EmulatedAnswer(Protocol):
    """Takes an answer's text as it arrives."""

    def feed(self, text: str) -> Sequence[Piece]: ...

    def close(self) -> Sequence[Piece]: ...


class JsonAnswer:
    """An answer that is one JSON object: with calls, or with a reply.

    `plain_reply` is false where the reply is JSON of the user's own: then it is given out as JSON. `otherwise` makes
    what reads an answer that is no such object.
    """

    def __init__(
        self, shapes: Mapping[str, Shape], *, plain_reply: bool = True, otherwise: NewReader | None = None
    ) -> None:
        self._shapes = shapes
        self._strays = Strays(otherwise)
        self._plain_reply = plain_reply
        self._buffer = ""
        self._step = self._head
        self._out: list[Piece] = []
        self._end: ValueEnd | None = None
        self._seen = 0
        self._part = Unquoted()
        self._joint = ""

    def feed(self, text: str) -> Sequence[Piece]:
        self._buffer += text
        while self._step():
            pass
        out, self._out = self._out, []
        return out

    def close(self) -> Sequence[Piece]:
        left, self._buffer = self._buffer, ""
        if self._step == self._paragraph:
            self._say(self._part.rest())
        elif self._step == self._call and (found := _call(left, "json", self._shapes, cut=True)):
            self._out.append(found)
        elif self._step == self._head:
            self._out += self._strays.read(left)
        elif self._step in (self._call, self._own_reply):
            self._say(left)
        self._out += self._strays.end()
        self._step = self._words
        out, self._out = self._out, []
        return out

    def _say(self, text: str) -> None:
        if text:
            self._out.append(Text(text))

    # Each step takes what it can from the buffer, and says whether the next one may go on.

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
        if found := _call(raw, "json", self._shapes):
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


class TagAnswer:
    """An answer in words, with calls in tags. `otherwise` makes what looks for calls of another form in the words."""

    def __init__(self, shapes: Mapping[str, Shape], *, otherwise: NewReader | None = None) -> None:
        self._shapes = shapes
        self._strays = Strays(otherwise)
        self._buffer = ""
        self._step = self._words
        self._out: list[Piece] = []
        self._end = ValueEnd()
        self._seen = 0
        self._space = ""
        self._behind_call = False

    def feed(self, text: str) -> Sequence[Piece]:
        self._buffer += text
        while self._step():
            pass
        out, self._out = self._out, []
        return out

    def close(self) -> Sequence[Piece]:
        left, self._buffer = self._buffer, ""
        if self._step == self._closing:
            self._give(left[: self._seen], left[self._seen :])
        elif self._step == self._call and (found := _call(left[len(OPEN) :], "tags", self._shapes, cut=True)):
            self._out += (*self._strays.end(), found)
        else:
            if self._step == self._call:
                self._out += self._strays.give_up()
            self._say(left)
        self._out += self._strays.end()
        self._step = self._words
        out, self._out = self._out, []
        return out

    def _say(self, text: str) -> None:
        # White space between and behind calls is nobody's words.
        if self._behind_call:
            self._space += text
            if not self._space or self._space.isspace():
                return
            text, self._space, self._behind_call = self._space, "", False
        self._out += self._strays.read(text)

    def _words(self) -> bool:
        at = self._buffer.find(OPEN)
        if at >= 0:
            self._say(self._buffer[:at])
            self._buffer = self._buffer[at:]
            self._end, self._seen, self._step = ValueEnd(), len(OPEN), self._call
            return True
        kept = _overlap(self._buffer, OPEN)
        self._say(self._buffer[: len(self._buffer) - kept])
        self._buffer = self._buffer[len(self._buffer) - kept :]
        return False

    def _call(self) -> bool:
        if self._seen == len(OPEN):
            inside = self._buffer[len(OPEN) :].lstrip()
            if not inside:
                return self._too_long()
            if inside[0] != "{":
                self._say(self._buffer[: len(OPEN)])
                self._buffer = self._buffer[len(OPEN) :]
                self._step = self._words
                return True
            self._seen = len(self._buffer) - len(inside)
        end = self._end.find(self._buffer, self._seen)
        self._seen = len(self._buffer) if end is None else end
        if end is None:
            return self._too_long()
        self._step = self._closing
        return True

    def _too_long(self) -> bool:
        if len(self._buffer) <= LONGEST_HELD:
            return False
        self._say(self._buffer)
        self._buffer = ""
        self._step = self._words
        return False

    def _closing(self) -> bool:
        """Behind the JSON: with its closing tag, if it has one."""
        behind = self._buffer[self._seen :]
        bare = behind.lstrip()
        if len(bare) < len(CLOSE) and CLOSE.startswith(bare) and len(behind) < LONGEST_HELD:
            return False
        end = self._seen + (len(behind) - len(bare) + len(CLOSE) if bare.startswith(CLOSE) else 0)
        raw, self._buffer = self._buffer[:end], self._buffer[end:]
        self._give(raw[: self._seen], raw[self._seen :])
        self._step = self._words
        return True

    def _give(self, call: str, closing: str) -> None:
        found = _call(call[len(OPEN) :], "tags", self._shapes)
        if found is None:
            self._say(call + closing)
        else:
            self._space, self._behind_call = "", True
            self._out += (*self._strays.end(), msgspec.structs.replace(found, raw=call + closing))


def _call(raw: str, convention: Convention, shapes: Mapping[str, Shape], *, cut: bool = False) -> Found | None:
    """The call that `raw` is; where it was cut, only if its arguments are whole."""
    value = _decoded(raw + "}" if cut else raw)
    if not isinstance(value, dict):
        return None
    name, arguments = value.get(NAME), value.get(ARGUMENTS[convention])
    if not isinstance(name, str) or not isinstance(arguments, dict):
        return None
    meant = understood(shapes[name], arguments) if name in shapes else arguments
    return Found(name, meant if isinstance(meant, dict) else arguments, raw, FORMAT)


def _decoded(raw: str) -> Any:
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return None


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the start of `tag`."""
    start = text.rfind(tag[0], max(0, len(text) - len(tag) + 1))
    while start >= 0:
        if tag.startswith(text[start:]):
            return len(text) - start
        start = text.rfind(tag[0], max(0, len(text) - len(tag) + 1), start)
    return 0
