"""Mends what a model streams back: calls that came as text, wrong names, wrong arguments."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Protocol

import msgspec

from callgate.gate.calls import CallMender
from callgate.gate.observations import Observation, Observed
from callgate.gate.recovery import Found, Half, Mark, Piece, Text
from callgate.tools import Names
from callgate.vocabulary import AssistantDelta, Done, Event, Notice, ToolCall, ToolCallEvent

END_MISSING = ("missing-bracket", "missing-tag")
"""What the rules tell by which calls were mended whose end isn't there."""
CUT_OFF = "the answer was cut off before the call was whole: make it again, and shorter"
"""The problem of a call that nobody may run: what is left of its arguments may mean something else."""


class Reader(Protocol):
    """Finds calls in an answer's text."""

    def passes(self, text: str) -> bool:
        """Whether it is to be given out as it is: then it was read."""
        ...

    def feed(self, text: str) -> Sequence[Piece]: ...

    def close(self) -> Sequence[Piece]: ...


class Offer(msgspec.Struct, frozen=True):
    """What a model may call, and how its calls are read."""

    names: Names
    parallel: bool | None
    must_call: bool
    new_reader: Callable[[], Reader] | None
    """Makes what finds calls in a text; `None` if nobody looks for any."""


class Mender:
    """Takes the events of one turn, in their order, and gives those that a user gets.

    `offer`: `None` where the model got no tools. `text_calls` is what it means if there is a call in a text.
    """

    __slots__ = ("_calls", "_made", "_offer", "_reader", "_seen", "_text_calls", "_unsettled")

    def __init__(self, offer: Offer | None, text_calls: Observed = "text_call") -> None:
        self._offer = offer
        self._text_calls: Observed = text_calls
        self._calls: CallMender | None = None
        self._reader: Reader | None = None
        self._made = 0
        self._unsettled: ToolCall | None = None
        self._seen: dict[Observation, None] = {}

    @property
    def observations(self) -> tuple[Observation, ...]:
        """What the turn has shown so far, each thing once."""
        return tuple(self._seen)

    def feed(self, event: Event) -> Sequence[Event]:
        offer = self._offer
        if offer is None:
            return (event,)
        if type(event) is AssistantDelta:
            settled = () if self._unsettled is None else self._words_behind(event.text)
            if self._reader is None:
                if offer.new_reader is None:
                    return (*settled, event)
                self._reader = offer.new_reader()
            if self._reader.passes(event.text):
                return (*settled, event) if settled else (event,)
            pieces = self._reader.feed(event.text)
            if len(pieces) == 1 and type(piece := pieces[0]) is Text and piece.text == event.text:
                return (*settled, event)
            return (*settled, *self._events(pieces))
        if type(event) is ToolCallEvent:
            return (*self._rest(cut=False), *self._call(event.call, "native_call", at_end=True))
        if type(event) is Done:
            return (*self._rest(cut=event.reason == "length"), *self._end(event, offer.must_call))
        return (event,)

    def close(self) -> Sequence[Event]:
        """What was still held back, where the stream breaks off."""
        return self._rest(cut=True)

    def _rest(self, *, cut: bool) -> Sequence[Event]:
        """What was still held back, where the text ends; `cut`: in the middle of what the model had to say."""
        settled = () if self._unsettled is None else self._settle(cut=cut)
        if self._reader is None:
            return settled
        pieces, self._reader = self._reader.close(), None  # the next words, if any, are a new text
        if not pieces:
            return settled
        return (*settled, *self._events(pieces, at_end=True, cut=cut), *self._settle(cut=cut))

    def _settle(self, *, cut: bool) -> Sequence[Event]:
        """A call whose end is missing is held back until it shows whether the answer was cut off there."""
        if (call := self._unsettled) is None:
            return ()
        self._unsettled = None
        return (ToolCallEvent(msgspec.structs.replace(call, problem=CUT_OFF) if cut else call),)

    def _words_behind(self, text: str) -> Sequence[Event]:
        """Words behind a call show that it wasn't cut off."""
        return self._settle(cut=False) if text.strip() else ()

    def _events(self, pieces: Iterable[Piece], *, at_end: bool = False, cut: bool = False) -> Iterator[Event]:
        for piece in pieces:
            if cut and isinstance(piece, Half):
                yield from self._settle(cut=False)
                yield Notice("call_cut_off", "the answer was cut off in the middle of a call, which is left out")
                return
            if isinstance(piece, Found):
                call = ToolCall("", piece.name, piece.arguments, piece.sent or piece.raw, piece.repairs)
                yield from self._call(call, self._text_calls, piece.format, at_end=at_end)
            elif not isinstance(piece, Mark) and piece.raw:
                yield from self._words_behind(piece.raw)
                yield AssistantDelta(piece.raw)

    def _call(self, call: ToolCall, how: Observed, detail: str = "", *, at_end: bool) -> Iterator[Event]:
        """`at_end`: nothing is known to come behind it."""
        assert self._offer is not None
        yield from self._settle(cut=False)
        if self._calls is None:
            self._calls = CallMender(self._offer.names)
        mended = self._calls.mended(call)
        self._seen.setdefault(Observation(how, detail))
        if self._made and self._offer.parallel is False:
            yield Notice("call_dropped", f"only one call was wanted: another one, of {mended.name[:80]!r}, is left out")
            return
        self._made += 1
        if at_end and (_may_be_cut(mended) or not (call.raw or call.arguments)):
            self._unsettled = mended
        else:
            yield ToolCallEvent(mended)

    def _end(self, done: Done, must_call: bool) -> Sequence[Event]:
        if self._made:
            return (Done("tool_calls") if done.reason == "stop" else done,)
        if must_call:
            self._seen.setdefault(Observation("tools_ignored"))
            return Notice("tools_ignored", "the model had to call a tool, and didn't"), done
        return (done,)


def _may_be_cut(call: ToolCall) -> bool:
    """Whether it isn't whole, if the answer ended there: it doesn't fit as it is, or its end is ours."""
    return call.problem is not None or any(end in repair.rule for repair in call.repairs for end in END_MISSING)
