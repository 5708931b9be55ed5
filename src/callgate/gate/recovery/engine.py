"""The engine: reads an answer as it comes, and gives out words, thinking and calls as soon as it knows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from callgate.gate.recovery.announced import Candidate, read_announced
from callgate.gate.recovery.bare import may_begin, read_bare, read_fenced, read_first_words
from callgate.gate.recovery.channels import Part, read_head, starts_with_head
from callgate.gate.recovery.formats import KNOWN
from callgate.gate.recovery.lookout import ENDINGS, FENCE, lookout
from callgate.gate.recovery.offered import Offers
from callgate.gate.recovery.pieces import Mark, Piece, Text, Thinking
from callgate.gate.recovery.shapes import Format
from callgate.gate.recovery.source import Finder, Reading, Source
from callgate.tools import Names

MOST_HELD = 4_000_000
"""Characters of a call that doesn't end; more is no call."""
MOST_READ_AGAIN = 4_000_000
"""Characters that are looked through once more, since what seemed to be a call was none."""
LOOKED_BACK = 64
"""Characters before a place that say whether a call may begin there."""
_MANY = 4 * LOOKED_BACK
_CLOSING_FENCE = Finder((FENCE,))
_ENDING = Finder(ENDINGS)


class Recovery:
    """One answer, from its first character to its last.

    `names`: the tools that are offered; None, if every name counts. `formats`: those in which the model writes calls;
    None, if that isn't known. `starts_in`: `thinking`, if the prompt has opened it.
    """

    def __init__(
        self,
        names: Names | None = None,
        formats: Sequence[Format] | None = None,
        starts_in: Literal["text", "thinking"] = "text",
    ) -> None:
        self._offers = Offers(names)
        tried = KNOWN if formats is None else tuple(formats)
        self._anywhere = names is None or (tried != KNOWN and any(known.inline for known in tried))
        self._look = lookout(tried)
        self._source = Source()
        self._out: list[Piece] = []
        self._recent: list[str] = []
        self._read_again = 0
        self._fresh = True
        self._after_call = False
        self._watch: Finder | None = None
        """Finds what isn't plain, while nothing is held back."""
        self._thinks = False
        self._run = self._whole(starts_in)
        next(self._run)

    def feed(self, text: str) -> Sequence[Piece]:
        """What is known now that this has come."""
        if self._watch is not None and (self._watch.first.search(text) is None or self._watch.is_plain(text)):
            if not text:
                return ()
            if self._thinks:
                return (Thinking(text, text),)
            self._recent.append(text)
            if self._fresh or len(self._recent) > _MANY:
                self._look_back(text)
            return (Text(text),)
        self._source.feed(text)
        return self._go_on()

    def close(self) -> Sequence[Piece]:
        """What is left, now that nothing more comes."""
        self._source.ended = True
        return self._go_on()

    @property
    def steps(self) -> int:
        """Characters that were copied: a measure of the work done."""
        return self._source.steps + self._read_again

    def _go_on(self) -> Sequence[Piece]:
        self._out = []
        next(self._run, None)
        return self._out

    def _whole(self, starts_in: str) -> Reading[None]:
        yield
        if starts_in == "thinking":
            yield from self._think(self._look.thinking_closers)
        source = self._source
        if self._look.channels and (yield from starts_with_head(source)):
            yield from self._head("")
        while True:
            if self._after_call:
                yield from self._behind_call()
            if self._fresh:
                yield from self._first_words()
            yield from self._text()
            if source.ended and source.at == len(source.text):
                return

    def _text(self) -> Reading[None]:
        """Plain words, up to and with the next thing that isn't."""
        source, literals = self._source, self._look.literals
        while True:
            start, literal = literals.find(source.text, source.at, ended=source.ended)
            if start > source.at:
                source.at = start
                self._say(source.release())
            if literal:
                source.at += len(literal)
                yield from self._meet(literal)
                return
            if source.ended:
                return
            yield from self._more(literals, thinks=False)

    def _meet(self, literal: str) -> Reading[None]:
        """Something that isn't plain, and was read."""
        look, source = self._look, self._source
        if literal == FENCE:
            yield from self._fence()
        elif (before := self._before()[-1:]) == "`" or (literal[0].isalnum() and (before.isalnum() or before == "_")):
            self._say(source.release())
        elif literal in "{[":
            if may_begin("" if self._after_call else self._before(), literal, anywhere=self._anywhere):
                source.back()
                yield from self._try(read_bare(source, self._offers, self._look.bare))
            else:
                self._say(source.release())
        elif literal in look.openers:
            yield from self._try(read_announced(source, look, literal), literal)
        elif literal in look.thinking:
            self._out.append(Thinking("", source.release()))
            yield from self._think(frozenset((look.thinking[literal],)))
        elif literal in look.heads:
            yield from self._head(literal)
        elif literal in look.marks or literal in look.thinking_closers:
            self._mark()
        elif literal in ENDINGS:
            yield from self._ending()
        else:
            self._say(source.release())

    def _try(self, reading: Reading[Candidate | Part | None], opener: str = "") -> Reading[None]:
        """What may be a call: it is one, or plain text."""
        source = self._source
        candidate = yield from self._bounded(reading)
        if isinstance(candidate, Candidate):
            found = self._offers.found(candidate, source.raw())
            if found:
                source.release()
                self._out.extend(found)
                self._after_call = self._fresh = True
                return
            self._say(source.release())
            return
        self._read_again += source.held()
        if self._read_again <= MOST_READ_AGAIN:
            source.back()
            source.at += len(opener) or 1
        self._say(source.release())

    def _bounded(self, reading: Reading[Candidate | Part | None]) -> Reading[Candidate | Part | None]:
        while True:
            try:
                next(reading)
            except StopIteration as done:
                result: Candidate | Part | None = done.value
                return result
            if self._source.held() > MOST_HELD:
                return None
            yield

    def _behind_call(self) -> Reading[None]:
        """White space and closing tags behind a call belong to it."""
        source, look = self._source, self._look
        while True:
            char = yield from source.skip_blank()
            if not char:
                self._mark()
                break
            if (yield from source.take(look.tail_finder)):
                self._mark()
                continue
            opener = yield from source.take(look.opener_finder)
            source.at -= len(opener)
            if opener or char in "{[":
                self._mark()
                return
            self._say(source.release())
            break
        self._after_call = False

    def _first_words(self) -> Reading[None]:
        """An answer that begins with a tool's name, as no other text does."""
        source, look = self._source, self._look
        if "named" not in look.bare:
            return
        yield from source.skip_blank()
        source.back()
        if source.ended and source.at == len(source.text):
            return
        candidate = yield from self._bounded(read_first_words(source, self._offers))
        found = self._offers.found(candidate, source.raw()) if isinstance(candidate, Candidate) else []
        if found:
            source.release()
            self._out.extend(found)
            self._after_call = True
        else:
            self._read_again += source.held()
            source.back()

    def _fence(self) -> Reading[None]:
        """A block of code: text, unless it is a whole answer and nothing but calls."""
        source = self._source
        if self._fresh and self._look.bare & {"json", "fenced"}:
            source.back()
            candidate = yield from self._bounded(read_fenced(source))
            found = self._offers.found(candidate, source.raw()) if isinstance(candidate, Candidate) else []
            if found:
                source.release()
                self._out.extend(found)
                return
            self._read_again += source.held()
            source.back()
            source.at += len(FENCE)
        self._say(source.release())
        yield from self._pass(Part("text", _CLOSING_FENCE), say_end=True)

    def _head(self, opener: str) -> Reading[None]:
        source = self._source
        part = yield from self._bounded(read_head(source, opener))
        if isinstance(part, Candidate):
            found = self._offers.found(part, source.raw())
            if found:
                source.release()
                self._out.extend(found)
                self._after_call = self._fresh = True
                return
            self._say(source.release())
        elif part is None:
            source.back()
            source.at += len(opener)
            self._say(source.release())
        elif part.kind == "thinking":
            self._out.append(Thinking("", source.release()))
            yield from self._pass(part)
        else:
            self._mark()
            if part.kind == "text":
                yield from self._pass(part)

    def _pass(self, part: Part, *, say_end: bool = False) -> Reading[None]:
        """A part that holds no calls."""
        source, thinks = self._source, part.kind == "thinking"
        while True:
            start, literal = part.ends.find(source.text, source.at, ended=source.ended)
            if start > source.at:
                source.at = start
                self._give(source.release(), thinks=thinks)
            if literal:
                if literal in self._look.heads:
                    return
                source.at += len(literal)
                if say_end:
                    self._say(source.release())
                elif thinks:
                    self._out.append(Thinking("", source.release()))
                else:
                    self._mark()
                return
            if source.ended:
                return
            yield from self._more(part.ends, thinks=thinks)

    def _more(self, watched: Finder, *, thinks: bool) -> Reading[None]:
        """Waits; if nothing is held back, what has nothing of note in it needs no more than a look."""
        if self._source.at == len(self._source.text):
            self._watch, self._thinks = watched, thinks
        yield
        self._watch = None

    def _think(self, ends: frozenset[str]) -> Reading[None]:
        """Thinking. A call in it is one only if it is the last thing, and the thinking was never ended."""
        source = self._source
        watched = self._look.thinking_finder(ends)
        while True:
            start, literal = watched.find(source.text, source.at, ended=source.ended)
            if start > source.at:
                source.at = start
                self._give(source.release(), thinks=True)
            if literal:
                source.at += len(literal)
                if literal in ends:
                    self._out.append(Thinking("", source.release()))
                    return
                if (yield from self._call_in_thinking(literal)):
                    return
            elif source.ended:
                return
            else:
                yield from self._more(watched, thinks=True)

    def _call_in_thinking(self, opener: str) -> Reading[bool]:
        source, look = self._source, self._look
        first = len(opener)
        calls = []
        while True:
            candidate = yield from self._bounded(read_announced(source, look, opener))
            found = self._offers.found(candidate, "") if isinstance(candidate, Candidate) else []
            if not found:
                self._read_again += source.held()
                source.back()
                source.at += first
                break
            calls += found
            while (yield from source.skip_blank()) and (yield from source.take(look.tail_finder)):
                pass
            opener = yield from source.take(look.opener_finder)
            if opener:
                continue
            if source.ended and source.at == len(source.text):
                import msgspec

                calls[0] = msgspec.structs.replace(calls[0], raw=source.release())
                self._out.extend(calls)
                return True
            break
        self._give(source.release(), thinks=True)
        return False

    def _ending(self) -> Reading[None]:
        """A token that ends an answer, if it does."""
        source = self._source
        size = source.held()
        while (yield from source.skip_blank()) and (yield from source.take(_ENDING)):
            pass
        if source.at == len(source.text) and source.ended:
            self._mark()
            return
        source.back()
        source.at += size
        self._say(source.release())

    def _give(self, text: str, *, thinks: bool) -> None:
        if thinks:
            self._out.append(Thinking(text, text))
        else:
            self._say(text)

    def _say(self, text: str) -> None:
        if text:
            self._out.append(Text(text))
            self._after_call = False
            self._recent.append(text)
            self._look_back(text)

    def _mark(self) -> None:
        raw = self._source.release()
        if raw:
            self._out.append(Mark(raw))
            self._recent.clear()

    def _look_back(self, text: str) -> None:
        if not text.isspace():
            self._fresh = False
        if len(self._recent) > _MANY:
            self._recent[:] = ["".join(self._recent)[-LOOKED_BACK:]]

    def _before(self) -> str:
        """The end of the words before this place."""
        return "".join(self._recent)[-LOOKED_BACK:]
