"""What the server does for each kind of route. It knows no dialect: they are told apart by their records alone."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import msgspec

from callgate.backends import Embeds
from callgate.gateway.access import Noted
from callgate.gateway.asgi import Exchange, Header, Refused, decoded
from callgate.gateway.behind import OllamaBehind
from callgate.gateway.catalogue import Catalogue
from callgate.gateway.dialect import (
    Embed,
    Extra,
    Failure,
    ListModels,
    ListRunning,
    PassOn,
    Say,
    ShowModel,
    Talk,
    Wish,
    Writer,
)
from callgate.gateway.failures import failure_of, unexpected
from callgate.gateway.listening import while_listened_to
from callgate.gateway.metrics import Metrics
from callgate.gateway.options import Options
from callgate.gateway.routing import Found
from callgate.gateway.turns import Told, Turns
from callgate.runtime import Fallback, Said, Session
from callgate.settings import Settings
from callgate.vocabulary import IN_THE_BOX, AssistantDelta, CallgateError, Done, Event, ModelRef, StreamCut, UsageError

log = logging.getLogger(__name__)

_STREAMED: tuple[Header, ...] = ((b"cache-control", b"no-cache"), (b"x-accel-buffering", b"no"))
MOST_TEXTS = 4_096
"""To embed in one request."""


class Answering:
    """Belongs to one event loop."""

    def __init__(self, settings: Settings, options: Options, metrics: Metrics) -> None:
        """Raises: UsageError, if the options name something that can't be a model."""
        self._options = options
        self._limits = options.limits
        self._session = Session(settings, surface="gateway")
        default = options.model or settings.models.default
        self._catalogue = Catalogue(self._session, default=default, aliases=options.aliases)
        self._turns = Turns(self._session, Fallback.of(settings, options.fallback), metrics)
        self._behind = OllamaBehind(settings)
        self._busy = 0

    async def close(self) -> None:
        await self._behind.close()
        await self._session.close()

    async def answer(self, exchange: Exchange, found: Found, noted: Noted) -> None:
        """Raises: Refused, ClientGone, CallgateError; only before the answer has begun."""
        action = found.route.action if found.route else None
        match action:
            case Say(content, content_type):
                await exchange.answer(content, content_type=content_type)
            case ListModels(write):
                await self._reply(exchange, write(await self._catalogue.models()))
            case ShowModel(write):
                name = found.rest if action.body is None else action.name((await self._read(exchange, action.body))[0])
                await self._reply(exchange, write(await self._catalogue.model(name)))
            case ListRunning(write):
                loaded = await self._session.backend(ModelRef(IN_THE_BOX[0], IN_THE_BOX[0])).models()
                await self._reply(exchange, write(loaded, await self._behind.running()))
            case Talk() | Embed() | PassOn():
                await self._worked(exchange, action, noted)

    async def _worked(self, exchange: Exchange, action: Talk | Embed | PassOn, noted: Noted) -> None:
        if self._busy >= self._limits.at_once:
            busy = Failure(status=503, kind="busy", message=f"{self._busy:,} answers are under way", hint="try again")
            raise Refused(busy, [(b"retry-after", b"1")])
        self._busy += 1
        try:
            match action:
                case PassOn():
                    await self._behind.pass_on(exchange)
                case Embed():
                    body, extra = await self._read(exchange, action.body)
                    async with while_listened_to(exchange):
                        await self._embed(exchange, action, body, extra)
                case Talk():
                    body, extra = await self._read(exchange, action.body)
                    async with while_listened_to(exchange):
                        await self._talk(exchange, action, action.read(body, extra), noted)
        finally:
            self._busy -= 1

    async def _read(self, exchange: Exchange, type_: type) -> tuple[Any, Extra]:
        limits = self._limits
        content = await exchange.body(most=limits.body_bytes, seconds=limits.body_seconds)
        return decoded(content, type_, nesting=limits.nesting)

    async def _reply(self, exchange: Exchange, content: object, headers: tuple[Header, ...] = ()) -> None:
        await exchange.answer(msgspec.json.encode(content), headers=headers)

    async def _embed(self, exchange: Exchange, action: Embed, body: object, extra: Extra) -> None:
        wish = action.read(body, extra)
        if not 0 < len(wish.texts) <= MOST_TEXTS:
            raise UsageError(f"there have to be from 1 to {MOST_TEXTS:,} texts")
        ref = await self._session.resolve(await self._catalogue.ref(wish.model))
        backend = self._session.backend(ref)
        if not isinstance(backend, Embeds):
            raise UsageError(f"{ref.name!r} can't embed", hint="choose a model for embedding")
        await self._reply(exchange, wish.write(await backend.embed(ref.name, wish.texts)))

    async def _talk(self, exchange: Exchange, action: Talk, wish: Wish, noted: Noted) -> None:
        if len(wish.request.tools) > self._limits.tools:
            raise UsageError(f"there are more than {self._limits.tools:,} tools")
        told = noted.told = Told(await self._catalogue.ref(wish.model))
        if wish.at_once is not None:
            await self._reply(exchange, wish.at_once)
            return
        writer: Writer | None = None
        try:
            async with asyncio.timeout(self._limits.seconds or None):
                first, events = await self._turns.begin(told, wish.request)
                async with aclosing(events):
                    writer = wish.writer(told.ref.name if told.has_changed or not wish.model else wish.model)
                    mode: Header = (b"x-callgate-mode", told.mode.encode())
                    if wish.stream:
                        await exchange.start(200, action.stream_type, (mode, *_STREAMED))
                        await self._streamed(exchange, writer, told, first, events)
                    else:
                        whole = await self._whole(writer, told, first, events)
                        await self._reply(exchange, whole, (mode,))
        except TimeoutError:
            await _break_off(exchange, writer, _late(self._limits.seconds))
        except asyncio.CancelledError:
            if not exchange.is_gone:
                await _break_off(exchange, writer, _ENDING)
            raise

    async def _whole(self, writer: Writer, told: Told, first: Event, events: AsyncGenerator[Event, None]) -> object:
        said = Said()
        said.hear(first)
        self._turns.hear(told, first)
        async for event in events:
            said.hear(event)
            self._turns.hear(told, event)
        if said.done is None:
            raise StreamCut(f"{told.ref.name!r} broke off in the middle of its answer")
        return writer.whole(said, told.explanation() if self._options.explain else None)

    async def _streamed(
        self, exchange: Exchange, writer: Writer, told: Told, first: Event, events: AsyncGenerator[Event, None]
    ) -> None:
        """What goes wrong from here on is told in the stream, which then has no proper end."""
        send, feed, hear = exchange.send, writer.feed, self._turns.hear
        event: Event | None = first
        last: Event = first
        try:
            while event is not None:
                if type(event) is not AssistantDelta:
                    hear(told, event)
                if piece := feed(event):
                    await send({"type": "http.response.body", "body": piece, "more_body": True})
                last, event = event, await anext(events, None)
            if isinstance(last, Done):
                await exchange.end(writer.end(told.explanation() if self._options.explain else None))
                return
            failure = failure_of(StreamCut(f"{told.ref.name!r} broke off in the middle of its answer"))
        except CallgateError as error:
            failure = failure_of(error)
        except Exception as error:
            log.exception("a mistake of ours in the middle of an answer (%s)", type(error).__name__)
            failure = unexpected()
        await exchange.end(writer.fail(failure))


async def _break_off(exchange: Exchange, writer: Writer | None, failure: Failure) -> None:
    """Raises: Refused, if nothing was sent yet."""
    if exchange.status is None or writer is None:
        raise Refused(failure)
    if not exchange.is_over:
        await exchange.end(writer.fail(failure))


def _late(seconds: float) -> Failure:
    return Failure(status=504, kind="too_slow", message=f"the answer took more than {seconds:g} s")


_ENDING = Failure(status=503, kind="ending", message="the server is being stopped")
