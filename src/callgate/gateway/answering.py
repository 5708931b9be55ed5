"""What the server does for each kind of route. It knows no dialect: they are told apart by their records alone."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import msgspec

from callgate.backends import TellsContexts
from callgate.gateway.access import Noted
from callgate.gateway.asgi import Exchange, Refused, decoded
from callgate.gateway.behind import OllamaBehind
from callgate.gateway.catalogue import Catalogue
from callgate.gateway.counting import count_tokens
from callgate.gateway.dialect import (
    CountTokens,
    DropAnswer,
    Embed,
    EmbedWish,
    Extra,
    Failure,
    ListModels,
    ListRunning,
    Loaded,
    PassOn,
    Say,
    ShowAnswer,
    ShowModel,
    Talk,
    Wish,
)
from callgate.gateway.discretion import discreet_name
from callgate.gateway.endpoints import Endpoint, Endpoints
from callgate.gateway.failures import late
from callgate.gateway.given.texts import MOST_TEXTS
from callgate.gateway.health import HealthChecks
from callgate.gateway.keeping import ApartByKey, Keeper, OwnMemory
from callgate.gateway.listening import Watch
from callgate.gateway.loading import Loads
from callgate.gateway.metrics import Metrics
from callgate.gateway.options import Options
from callgate.gateway.routing import Found
from callgate.gateway.serving import Busy
from callgate.gateway.talking import Talks
from callgate.gateway.turns import Told, Turns
from callgate.runtime import Fallback, Session
from callgate.settings import Settings
from callgate.vocabulary import IN_THE_BOX, ModelRef, UsageError

if TYPE_CHECKING:
    from callgate.gateway.telemetry import Telemetry

log = logging.getLogger(__name__)


class Answering:
    """Belongs to one event loop."""

    def __init__(
        self,
        settings: Settings,
        options: Options,
        metrics: Metrics,
        busy: Busy,
        telemetry: Telemetry | None = None,
    ) -> None:
        """Raises: UsageError, if the options name something that can't be a model."""
        self._limits = options.limits
        self._metrics = metrics
        self._session = Session(settings, surface="gateway")
        default = options.model or settings.models.default
        fallback = Fallback.of(settings, options.fallback)
        self.endpoints = Endpoints(on_fail=self._note_failure)
        self._catalogue = Catalogue(self._session, self.endpoints, default=default, aliases=options.aliases)
        self._checks = HealthChecks(settings, self.endpoints, every=options.check_every, instance=options.instance)
        self.endpoints.look_after = self._checks.look_after
        self._turns = Turns(self._session, self._catalogue, fallback, metrics, self.endpoints, self._checks)
        self._watch = Watch()
        self._behind = OllamaBehind(settings, self._catalogue.refs, options.limits, self._watch)
        self._loads = Loads(self._session)
        self._keeper: Keeper = ApartByKey(OwnMemory())
        self._talks = Talks(self._catalogue, self._turns, self._keeper, self._watch, options, telemetry)
        self._busy = busy
        self._telemetry = telemetry

    def keep_in(self, keeper: Keeper) -> None:
        """Instead of the memory of this process."""
        self._keeper = self._talks.keeper = ApartByKey(keeper)

    async def close(self) -> None:
        await self._checks.close()
        await self._catalogue.close()
        await self._behind.close()
        await self._loads.close()
        await self._session.close()

    async def answer(self, exchange: Exchange, found: Found, noted: Noted) -> None:
        """Raises: Refused, ClientGone, CallgateError; only before the answer has begun."""
        action = found.route.action if found.route else None
        match action:
            case Talk() | CountTokens() | Embed() | PassOn():
                await self._worked(exchange, action, noted)
            case Say(content, content_type):
                await exchange.answer(content, content_type=content_type)
            case ListModels(write):
                await self._reply(exchange, write(await self._catalogue.models()))
            case ShowModel(write):
                name = found.rest if action.body is None else action.name((await self._read(exchange, action.body))[0])
                await self._reply(exchange, write(await self._catalogue.model(name)))
            case ListRunning(write):
                engine = self._session.backend(ModelRef(IN_THE_BOX[0], IN_THE_BOX[0]))
                contexts = engine.contexts() if isinstance(engine, TellsContexts) else {}
                loaded = {name: Loaded(self._catalogue.size_of(name), room) for name, room in contexts.items()}
                await self._reply(exchange, write(loaded, await self._behind.running()))
            case ShowAnswer(write):
                if (kept := await self._keeper.get(found.rest)) is None:
                    raise Refused(_not_kept(found.rest))
                await self._reply(exchange, write(kept))
            case DropAnswer(write):
                if not await self._keeper.drop(found.rest):
                    raise Refused(_not_kept(found.rest))
                await self._reply(exchange, write(found.rest))

    def measure_endpoints(self) -> None:
        """Notes how they are now."""
        self._metrics.endpoint_up.clear()
        self._metrics.endpoint_busy.clear()
        for each in self.endpoints:
            model = discreet_name(each.ref)
            self._metrics.endpoint_up.set(each.label, model, to=each.state != "out")
            self._metrics.endpoint_busy.set(each.label, model, to=each.in_flight)

    def _note_failure(self, endpoint: Endpoint) -> None:
        log.warning("%r at %s failed, and has a pause", endpoint.ref.name, endpoint.label)
        self._metrics.failures.add(endpoint.label, discreet_name(endpoint.ref))
        self.endpoints.look_after(endpoint)

    async def _worked(self, exchange: Exchange, action: Talk | CountTokens | Embed | PassOn, noted: Noted) -> None:
        if (busy := self._busy.total) >= self._limits.at_once:
            failure = Failure(status=503, kind="busy", message=f"{busy:,} answers are under way", hint="try again")
            raise Refused(failure, [(b"retry-after", b"1")])
        self._busy.add(1)
        try:
            match action:
                case Talk() | CountTokens():
                    body, extra = await self._read(exchange, action.body)
                    with self._watch.while_listened_to(exchange):
                        wish = action.read(body, extra)
                        if wish.go_on is not None:
                            wish = await self._gone_on(wish, wish.go_on)
                        if len(wish.request.tools) > self._limits.tools:
                            raise UsageError(f"there are more than {self._limits.tools:,} tools", param="tools")
                        if isinstance(action, CountTokens):
                            await self._count(exchange, action, wish, noted)
                        elif wish.at_once is not None:
                            await self._load(exchange, wish, noted)
                        else:
                            await self._talks.talk(exchange, action, wish, noted)
                case Embed():
                    body, extra = await self._read(exchange, action.body)
                    with self._watch.while_listened_to(exchange):
                        await self._embed(exchange, action.read(body, extra), noted)
                case PassOn():
                    try:
                        await self._behind.pass_on(exchange)
                    finally:
                        self._catalogue.has_changed()
        finally:
            self._busy.add(-1)

    async def _read(self, exchange: Exchange, type_: type) -> tuple[Any, Extra]:
        limits = self._limits
        content = await exchange.body(most=limits.body_bytes, seconds=limits.body_seconds)
        return decoded(content, type_, nesting=limits.nesting)

    async def _reply(self, exchange: Exchange, content: object) -> None:
        await exchange.answer(msgspec.json.encode(content))

    async def _embed(self, exchange: Exchange, wish: EmbedWish, noted: Noted) -> None:
        if not 0 < len(wish.texts) <= MOST_TEXTS:
            raise UsageError(f"there have to be from 1 to {MOST_TEXTS:,} texts", param="input")
        refs = await self._catalogue.refs(wish.model)
        told = noted.told = Told(refs[0])
        traced = None if self._telemetry is None else self._telemetry.embed(told, wish)
        try:
            with self._watch.within(self._limits.seconds):
                embedded = await self._turns.embed(told, refs, wish.texts)
        except TimeoutError:
            raise Refused(late(self._limits.seconds)) from None
        finally:
            told.end()
            if traced is not None:
                traced.end(None, sys.exception())
        await self._reply(exchange, wish.write(embedded.vectors, embedded.tokens))

    async def _gone_on(self, wish: Wish, go_on: Callable[[Mapping[str, bytes]], Wish]) -> Wish:
        """With the answers that it goes on from."""
        found = {id_: await self._keeper.get(id_) for id_ in wish.earlier}
        return go_on({id_: content for id_, content in found.items() if content is not None})

    async def _count(self, exchange: Exchange, action: CountTokens, wish: Wish, noted: Noted) -> None:
        refs = await self._catalogue.refs(wish.model)
        ref = self.endpoints.best(refs)
        noted.told = Told(ref)
        await self._turns.admit(ref)
        try:
            with self._watch.within(self._limits.seconds):
                counted = await count_tokens(self._session, ref, wish.request)
        except TimeoutError:
            raise Refused(late(self._limits.seconds)) from None
        await self._reply(exchange, action.write(*counted))

    async def _load(self, exchange: Exchange, wish: Wish, noted: Noted) -> None:
        refs = await self._catalogue.refs(wish.model)
        told = noted.told = Told(refs[0])
        ref = await self._session.resolve(self.endpoints.best(refs))
        told.is_of(ref)
        await self._turns.admit(ref)
        try:
            with self._watch.within(self._limits.seconds):
                if wish.is_unload:
                    await self._loads.unload(refs if len(refs) > 1 else (ref,), wish.request)
                else:
                    await self._loads.load(ref, wish.request)
        except TimeoutError:
            raise Refused(late(self._limits.seconds)) from None
        await self._reply(exchange, wish.at_once)


def _not_kept(id_: str) -> Failure:
    return Failure(status=404, kind="not_found", message=f"there is no answer {id_[:80]!r}, or no longer")
