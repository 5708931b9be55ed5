"""The engine: reads an answer as it comes, and gives out words, thinking and calls as soon as it knows them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from callgate.gate.recovery.announced import Candidate, read_announced
from callgate.gate.recovery.bare import read_bare, read_fenced, read_first_words, read_last
from callgate.gate.recovery.channels import Part, read_head, starts_with_head
from callgate.gate.recovery.finders import Finder
from callgate.gate.recovery.lookout import BRACKETS, ENDINGS, FENCE, FENCES
from callgate.gate.recovery.output import LINE_HEAD, Output
from callgate.gate.recovery.pieces import Piece, Text, Thinking
from callgate.gate.recovery.places import may_begin
from callgate.gate.recovery.shapes import Format
from callgate.gate.recovery.sought import sought
from callgate.gate.recovery.source import Reading, Source, TooLong
from callgate.tools import Names

MOST_HELD = 4_000_000
"""Characters of a call that doesn't end; more is no call."""
MOST_READ_AGAIN = 400_000
"""Characters that are looked through once more, since what seemed to be a call was none."""
MOST_AT_ONCE = 65_536
"""Characters of a larger chunk that are read in one go, so that no reader runs far beyond its bounds."""

MOST_PASSED = 256
"""Pieces of plain text that are kept before their end alone is."""

_FENCE_FINDERS = {fence: Finder((fence,)) for fence in FENCES}
_LINE_START = re.compile(r"[\s>]*(?:(?:[-*+]|\d{1,3}[.)])\s+)?")
"""What may stand before the first word of a line: marks of quotes and lists."""
_ENDING = Finder(ENDINGS)


class Recovery:
    """One answer, from its first character to its last.

    `names`: the tools that are offered; None, if every name counts. `formats`: those in which the model writes calls;
    None, if that isn't known. `starts_in`: `thinking`, if the prompt has opened it. `mends`: whether arguments that
    are inside something else, or nearly JSON, are made what they should be.
    """

    def __init__(
        self,
        names: Names | None = None,
        formats: Sequence[Format] | None = None,
        starts_in: Literal["text", "thinking"] = "text",
        *,
        mends: bool = True,
    ) -> None:
        self._offers, self._look, self._anywhere = sought(names, None if formats is None else tuple(formats), mends)
        self._read_again = 0
        self._starts_in = starts_in
        self._is_awake = False
        """Whether there is something to read with: an answer that is plain from end to end needs nothing."""
        self._source: Source
        self._out: Output
        self._run: Reading[None]
        self._watch = self._look.literals if starts_in == "text" and self._look.begins_with_words else None
        """What isn't plain, while nothing is held back."""
        self._passed: list[str] = []
        """What was plain, and nobody has looked back at."""
        self._thinks = False
        self._for_tool = False
        """Whether a header said that what follows is for a tool."""

    def passes(self, text: str) -> bool:
        """Whether it is plain, and nothing is held back before it: then it was read, and is given out as it is."""
        watch = self._watch
        if watch is None or not text or not (watch.first.search(text) is None or watch.is_plain(text)):
            return False
        self._passed.append(text)
        if len(self._passed) > MOST_PASSED:
            self._wake()
        return True

    def feed(self, text: str) -> Sequence[Piece]:
        """What is known now that this has come."""
        if not text:
            return ()
        if self.passes(text):
            return (Thinking(text, text) if self._thinks else Text(text),)
        self._wake()
        if len(text) > MOST_AT_ONCE:
            for start in range(0, len(text), MOST_AT_ONCE):
                self._source.feed(text[start : start + MOST_AT_ONCE])
                next(self._run, None)
        elif not self._source.passes(text, MOST_HELD):
            next(self._run, None)
        return self._out.collected()

    def close(self) -> Sequence[Piece]:
        """What is left, now that nothing more comes."""
        if self._watch is not None and not self._is_awake:
            return ()
        self._wake()
        self._source.ended = True
        next(self._run, None)
        return self._out.collected()

    def _wake(self) -> None:
        """To read, knowing what has passed: that says what may begin behind it."""
        if not self._is_awake:
            self._is_awake = True
            self._source, self._out, self._run = Source(), Output(), self._whole()
        if self._passed:
            self._source.passed(self._passed[-1])
            if not self._thinks:
                self._out.passed("".join(self._passed))
            self._passed.clear()

    @property
    def steps(self) -> int:
        """Characters that were copied, searched, or read again: a measure of the work done."""
        return self._source.steps + self._read_again if self._is_awake else 0

    def _whole(self) -> Reading[None]:
        self._watch = None
        source, out = self._source, self._out
        if self._starts_in == "thinking":
            yield from self._think(self._look.thinking_closers)
        if self._look.channels and (yield from starts_with_head(source)):
            yield from self._head("")
        while True:
            if out.after_call:
                yield from self._behind_call()
            if out.fresh and "named" in self._look.bare:
                yield from self._first_words()
            yield from self._text()
            if source.ended and source.at == len(source.text):
                return

    def _text(self) -> Reading[None]:
        """Plain words, up to and with the next thing that isn't."""
        source, literals = self._source, self._look.literals
        while True:
            start, literal = source.find(literals)
            if start > source.at:
                source.at = start
                self._out.say(source.release())
            if literal:
                source.at += len(literal)
                yield from self._meet(literal)
                return
            if source.ended:
                return
            yield from self._more(literals, thinks=False)

    def _more(self, watched: Finder, *, thinks: bool) -> Reading[None]:
        """Waits; if nothing is held back, what has nothing of note in it needs no more than a look."""
        if self._source.at == len(self._source.text):
            self._watch, self._thinks = watched, thinks
        yield
        self._watch = None

    def _meet(self, literal: str) -> Reading[None]:
        """Something that isn't plain, and was read."""
        look, source, out = self._look, self._source, self._out
        before = out.before()
        if literal in FENCES:
            yield from self._fence(literal)
        elif self._is_quoted(literal, before):
            out.say(source.release())
        elif literal in BRACKETS:
            if not may_begin("" if out.after_call else before, anywhere=self._anywhere):
                out.say(source.release())
                return
            source.at -= 1
            if self._anywhere:
                yield from self._try(read_bare(source, self._offers, look), 1)
            else:
                yield from self._try(read_last(source, self._offers, look), 1)
        elif literal in look.openers:
            yield from self._try(read_announced(source, look, literal), len(literal))
        elif literal in look.thinking:
            out.think_mark(source.release())
            yield from self._think(frozenset((look.thinking[literal],)))
        elif literal in look.heads:
            yield from self._head(literal)
        elif literal in look.marks or literal in look.thinking_closers:
            out.mark(source.release())
        elif literal in ENDINGS:
            yield from self._ending()
        else:
            out.say(source.release())

    def _is_quoted(self, literal: str, before: str) -> bool:
        """Whether it means nothing here: in backticks, in a quoted line, or outside of the part that it belongs in."""
        look = self._look
        if before.endswith("`") or (literal in look.framed and not self._for_tool):
            return True
        return literal in look.openers and not self._out.after_call and self._out.line().lstrip().startswith(">")

    def _try(self, reading: Reading[Candidate | Part | None], size: int) -> Reading[None]:
        """What may be a call: it is one, or plain text. `size`: how much of it is text for sure, if it is none."""
        candidate = yield from self._bounded(reading)
        if self._is_call(candidate):
            return
        if not isinstance(candidate, Candidate):
            if self._source.ended and size > 1:
                self._out.half()
            self._go_back(size)
        self._out.say(self._source.release())

    def _bounded(self, reading: Reading[Candidate | Part | None]) -> Reading[Candidate | Part | None]:
        """What is read; None if that is too long, or a part of it is."""
        while True:
            try:
                next(reading)
            except StopIteration as done:
                result: Candidate | Part | None = done.value
                return result if self._source.reached() <= MOST_HELD else None
            except TooLong:
                return None
            if self._source.reached() > MOST_HELD:
                self._source.scan = None
                return None
            yield

    def _is_call(self, candidate: Candidate | Part | None) -> bool:
        if isinstance(candidate, Candidate) and candidate.calls:
            found = self._offers.found(candidate, self._source.raw())
            if found:
                self._source.release()
                self._out.call(found)
                return True
        return False

    def _go_back(self, size: int) -> None:
        """To what was no call, behind the first `size` characters; but not for ever: then all that was read is text."""
        reached = min(self._source.reached(), MOST_HELD)
        self._read_again += reached
        self._source.back(size if self._read_again <= MOST_READ_AGAIN else reached)

    def _behind_call(self) -> Reading[None]:
        """White space and closing tags behind a call belong to it."""
        source, look, out = self._source, self._look, self._out
        while char := (yield from source.skip_blank()):
            if (yield from source.take(look.tail_finder)):
                out.mark(source.release())
                continue
            tag = yield from source.take(look.tags if char in BRACKETS else look.opener_finder)
            source.at -= len(tag)
            if not tag and char not in BRACKETS:
                out.say(source.release())
                break
            out.mark(source.release())
            if not tag:
                source.at += 1
                yield from self._meet(char)
            if tag or not out.after_call:
                return
        out.mark(source.release())
        out.after_call = False

    def _first_words(self) -> Reading[None]:
        """An answer that begins with a tool's name, as no other text does."""
        source = self._source
        yield from source.skip_blank()
        source.back()
        if self._read_again > MOST_READ_AGAIN or (source.ended and source.at == len(source.text)):
            return
        candidate = yield from self._bounded(read_first_words(source, self._offers))
        if not self._is_call(candidate):
            self._go_back(0)
            self._out.say(source.release())

    def _fence(self, fence: str) -> Reading[None]:
        """A block of code: text, unless it is a whole answer and nothing but calls. A fence begins a line."""
        source, out = self._source, self._out
        if not self._begins_line():
            out.say(source.release())
            return
        if fence == FENCE and out.fresh and self._look.bare & {"json", "fenced"}:
            source.back()
            if self._is_call((yield from self._bounded(read_fenced(source)))):
                return
            self._go_back(len(FENCE))
        out.say(source.release())
        yield from self._code(fence)

    def _code(self, fence: str) -> Reading[None]:
        """To the fence that begins a line again, or ends the line that the first one has begun."""
        source, out, fences = self._source, self._out, _FENCE_FINDERS[fence]
        while True:
            start, literal = source.find(fences)
            if start > source.at:
                source.at = start
                out.say(source.release())
            if literal:
                closes = self._begins_line(fence)
                source.at += len(literal)
                out.say(source.release())
                if closes:
                    return
            elif source.ended:
                return
            else:
                yield from self._more(fences, thinks=False)

    def _begins_line(self, *others: str) -> bool:
        """Whether nothing stands before this place in its line; or something that begins with one of `others`."""
        line = self._out.line()
        start = _LINE_START.match(line)
        rest = line[start.end() :] if start else line
        return rest.startswith(others) if rest else len(line) < LINE_HEAD

    def _head(self, opener: str) -> Reading[None]:
        """A header that says whom what follows is for."""
        source, out = self._source, self._out
        part = yield from self._bounded(read_head(source, opener))
        self._for_tool = isinstance(part, Part) and part.kind == "calls"
        if self._is_call(part):
            return
        if not isinstance(part, Part):
            if part is None:
                self._go_back(len(opener))
            out.say(source.release())
        elif part.kind == "thinking":
            out.think_mark(source.release())
            yield from self._pass(part)
        else:
            out.mark(source.release())
            if part.kind == "text":
                yield from self._pass(part)

    def _pass(self, part: Part) -> Reading[None]:
        """A part that holds no calls."""
        source, out, thinks = self._source, self._out, part.kind == "thinking"
        while True:
            start, literal = source.find(part.ends)
            if start > source.at:
                source.at = start
                (out.think if thinks else out.say)(source.release())
            if literal in self._look.heads:
                return
            if literal:
                source.at += len(literal)
                (out.think_mark if thinks else out.mark)(source.release())
                return
            if source.ended:
                return
            yield from self._more(part.ends, thinks=thinks)

    def _think(self, ends: frozenset[str]) -> Reading[None]:
        """Thinking. A call in it is one only if it is the last thing, and the thinking was never ended."""
        source, out = self._source, self._out
        watched = self._look.thinking_finder(ends)
        while True:
            start, literal = source.find(watched)
            if start > source.at:
                source.at = start
                out.think(source.release())
            if literal:
                source.at += len(literal)
                if literal in ends:
                    out.think_mark(source.release())
                    return
                if (yield from self._call_in_thinking(literal)):
                    return
            elif source.ended:
                return
            else:
                yield from self._more(watched, thinks=True)

    def _call_in_thinking(self, opener: str) -> Reading[bool]:
        source, look, size = self._source, self._look, len(opener)
        calls: list[Piece] = []
        done = 0
        while opener:
            candidate = yield from self._bounded(read_announced(source, look, opener))
            found = self._offers.found(candidate, source.raw(done)) if isinstance(candidate, Candidate) else []
            if not found:
                self._go_back(size)
                self._out.think(source.release())
                return False
            calls += found
            done = source.held()
            while (yield from source.skip_blank()) and (yield from source.take(look.tail_finder)):
                pass
            opener = yield from source.take(look.opener_finder)
        if source.at < len(source.text):
            self._out.think(source.release())
            return False
        self._out.call(calls)
        self._out.mark(source.release()[done:])
        return True

    def _ending(self) -> Reading[None]:
        """Tokens that end an answer, if they do; else they are words."""
        source = self._source
        while (yield from source.skip_blank()) and (yield from source.take(_ENDING)):
            pass
        at_end = source.ended and source.at == len(source.text)
        (self._out.mark if at_end else self._out.say)(source.release())
