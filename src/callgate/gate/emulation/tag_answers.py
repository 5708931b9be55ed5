"""Answers by the convention of tags: words, with calls between them."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callgate.gate.emulation.answers import LONGEST_HELD, EmulatedAnswer, call_in
from callgate.gate.emulation.conventions import CLOSE, OPEN
from callgate.gate.emulation.shapes import Shape
from callgate.gate.emulation.strays import NewReader
from callgate.gate.emulation.unquoting import ValueEnd
from callgate.gate.recovery import Half


class TagAnswer(EmulatedAnswer):
    """An answer in words, with calls in tags. `otherwise` makes what looks for calls of another form in the words."""

    def __init__(self, shapes: Mapping[str, Shape], *, otherwise: NewReader | None = None) -> None:
        super().__init__(shapes, otherwise)
        self._end = ValueEnd()
        self._seen = 0
        self._space = ""
        self._behind_call = False

    def _end_with(self, left: str) -> None:
        if self._step == self._closing:
            self._give(left[: self._seen], left[self._seen :])
        elif self._step == self._call and (found := call_in(left[len(OPEN) :], "tags", self._shapes, cut=True)):
            self._out += (*self._strays.end(), found)
        else:
            if self._step == self._call:
                self._out += (*self._strays.give_up(), Half())
            self._say(left)

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
        found = call_in(call[len(OPEN) :], "tags", self._shapes)
        if found is None:
            self._say(call + closing)
        else:
            self._space, self._behind_call = "", True
            self._out += (*self._strays.end(), msgspec.structs.replace(found, raw=call + closing))


def _overlap(text: str, tag: str) -> int:
    """How many characters at the end of `text` may be the start of `tag`."""
    start = text.rfind(tag[0], max(0, len(text) - len(tag) + 1))
    while start >= 0:
        if tag.startswith(text[start:]):
            return len(text) - start
        start = text.rfind(tag[0], max(0, len(text) - len(tag) + 1), start)
    return 0
