"""A model's answer on its way to the client: in pieces or whole, and broken off in order if something goes wrong."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import AsyncGenerator, Coroutine, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import msgspec

from callgate.gateway.access import Noted
from callgate.gateway.alive import SignsOfLife
from callgate.gateway.asgi import Exchange, Header, Refused
from callgate.gateway.catalogue import Catalogue
from callgate.gateway.dialect import Failure, Keeps, Talk, Wish, Writer
from callgate.gateway.eager import next_or_none
from callgate.gateway.failures import failure_of, late, unexpected
from callgate.gateway.keeping import Keeper
from callgate.gateway.listening import Watch
from callgate.gateway.options import Options
from callgate.gateway.sending import MOST_AT_ONCE, Outgoing
from callgate.gateway.turns import Begun, Told, Turns
from callgate.runtime import Said
from callgate.vocabulary import (
    AssistantDelta,
    CallgateError,
    CannotThink,
    ChatRequest,
    Done,
    Event,
    ModelRef,
    Notice,
    StreamCut,
)

if TYPE_CHECKING:
    from callgate.gateway.telemetry import Telemetry

log = logging.getLogger(__name__)

_STREAMED: tuple[Header, ...] = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))
_ENDING = Failure(status=503, kind="ending", message="the server is being stopped")


class Talks:
    """Belongs to one event loop."""

    def __init__(
        self,
        catalogue: Catalogue,
        turns: Turns,
        keeper: Keeper,
        watch: Watch,
        options: Options,
        telemetry: Telemetry | None,
    ) -> None:
        self._catalogue = catalogue
        self._turns = turns
        self.keeper = keeper
        """Of answers that later requests may go on from."""
        self._watch = watch
        self._seconds = options.limits.seconds
        self._ping_every = options.ping_every
        self._explains = options.explain
        self._telemetry = telemetry

    async def talk(self, exchange: Exchange, action: Talk, wish: Wish, noted: Noted) -> None:
        """Raises: Refused, CallgateError; only before the answer has begun."""
        refs = await self._catalogue.refs(wish.model)
        told = noted.told = Told(refs[0])
        alive = self._signs_of_life(exchange, action, told, wish) if wish.stream else None
        traced = None if self._telemetry is None else self._telemetry.talk(told, wish, noted)
        try:
            with self._watch.within(self._seconds):
                first, events = await self._begin(told, refs, wish)
                if traced is not None:
                    events = traced.overheard(first, events)
                try:
                    if alive is not None:
                        await self._streamed(exchange, alive, told, first, events)
                    else:
                        writer = _writer(told, wish)
                        whole = await self._whole(writer, told, first, events)
                        if _keeps(type(writer)):
                            await self._keep(writer)
                        await exchange.answer(msgspec.json.encode(whole), headers=_heads(told))
                finally:
                    await events.aclose()
        except CallgateError as error:
            told.error = error
            failure = failure_of(error)
            if exchange.status is None:
                if alive is None or failure.kind not in action.in_stream:
                    raise
                await alive.begin()
            await _break_off(exchange, alive, failure)
        except TimeoutError:
            await _break_off(exchange, alive, late(self._seconds))
        except asyncio.CancelledError:
            if not exchange.is_gone:
                await _break_off(exchange, alive, _ENDING)
            raise
        finally:
            if alive is not None:
                alive.stop()
            told.end()
            if traced is not None:
                traced.end(exchange.broken_by, sys.exception())

    def _signs_of_life(self, exchange: Exchange, action: Talk, told: Told, wish: Wish) -> SignsOfLife:
        return SignsOfLife(
            exchange,
            self._ping_every,
            action.stream_type,
            new_writer=lambda: _writer(told, wish),
            headers=lambda: (*_heads(told), *_STREAMED),
        )

    def _begin(self, told: Told, refs: Sequence[ModelRef], wish: Wish) -> Coroutine[Any, Any, Begun]:
        for notice in wish.notices:
            log.info("%s", notice.message)
            self._turns.hear(told, notice)
        begin = self._thinking_or_not if wish.may_not_think else self._turns.begin
        return begin(told, refs, wish.request)

    async def _thinking_or_not(self, told: Told, refs: Sequence[ModelRef], request: ChatRequest) -> Begun:
        try:
            return await self._turns.begin(told, refs, request)
        except CannotThink as error:
            self._turns.hear(told, Notice("cannot_think", error.message))
            return await self._turns.begin(told, refs, msgspec.structs.replace(request, think=None))

    async def _keep(self, writer: Writer) -> None:
        """Before its end is sent: whoever has seen it may go on from it at once."""
        if kept := cast("Keeps", writer).kept():
            await self.keeper.put(*kept)

    async def _whole(self, writer: Writer, told: Told, first: Event, events: AsyncGenerator[Event, None]) -> object:
        said = Said()
        said.hear(self._turns.hear(told, first))
        async for event in events:
            said.hear(self._turns.hear(told, event))
        if said.done is None:
            raise StreamCut(f"{told.ref.name!r} broke off in the middle of its answer")
        return writer.whole(said, told.explanation() if self._explains else None)

    async def _streamed(
        self, exchange: Exchange, alive: SignsOfLife, told: Told, first: Event, events: AsyncGenerator[Event, None]
    ) -> None:
        """What goes wrong from here on is told in the stream, which then has no proper end."""
        hear = self._turns.hear
        event: Event | None = first if type(first) is AssistantDelta else hear(told, first)
        writer = await alive.begin()
        feed = writer.feed
        outgoing = Outgoing(exchange)
        alive.watch(outgoing)
        last: Event = first
        try:
            while event is not None:
                if outgoing.add(feed(event)) > MOST_AT_ONCE and (sending := outgoing.flush()):
                    await sending
                last, event = event, await next_or_none(events, outgoing.flush)
                if event is not None and type(event) is not AssistantDelta:
                    event = hear(told, event)
            if isinstance(last, Done):
                end = writer.end(told.explanation() if self._explains else None)
                if _keeps(type(writer)):
                    await self._keep(writer)
                await exchange.end(outgoing.rest(end))
                return
            told.error = StreamCut(f"{told.ref.name!r} broke off in the middle of its answer")
            failure = failure_of(told.error)
        except CallgateError as error:
            told.error = error
            failure = failure_of(error)
        except Exception as error:
            log.exception("a mistake of ours in the middle of an answer (%s)", type(error).__name__)
            failure = unexpected()
        await exchange.break_off(outgoing.rest(writer.fail(failure)), failure.kind)


@cache
def _keeps(kind: type[Writer]) -> bool:
    """Which takes longer to find out than to write an answer."""
    return issubclass(kind, Keeps)


def _writer(told: Told, wish: Wish) -> Writer:
    return wish.writer(told.ref.name if told.has_changed or not wish.model else wish.model)


def _heads(told: Told) -> tuple[Header, ...]:
    heads: tuple[Header, ...] = ((b"x-callgate-mode", told.mode.encode()),)
    if told.trimmed:
        heads = (*heads, (b"x-callgate-tools-trimmed", b"%d" % told.trimmed))
    if told.notices and (kinds := told.kinds):
        heads = (*heads, (b"x-callgate-notices", ",".join(kinds).encode()))
    return heads


async def _break_off(exchange: Exchange, alive: SignsOfLife | None, failure: Failure) -> None:
    """Raises: Refused, if nothing was sent yet."""
    if exchange.status is None or alive is None or alive.writer is None:
        raise Refused(failure)
    if not exchange.is_over:
        await exchange.break_off(alive.writer.fail(failure), failure.kind)
