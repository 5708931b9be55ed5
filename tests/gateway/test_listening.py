from __future__ import annotations

import asyncio
from collections.abc import MutableMapping
from contextvars import ContextVar
from typing import Any

import pytest

from callgate.gateway.asgi import ClientGone, Exchange
from callgate.gateway.listening import SOON_SECONDS, Watch

VERY_SHORT, SHORT, LONG = SOON_SECONDS / 2, SOON_SECONDS * 3, 60.0
asked_by: ContextVar[str] = ContextVar("asked_by", default="nobody")


class Client:
    """Sends nothing more, and goes away when it is told to."""

    def __init__(self) -> None:
        self.is_gone = asyncio.Event()
        self.was_looked_for = asyncio.Event()
        self.looked_for_by: str | None = None
        scope: dict[str, Any] = {"method": "POST", "path": "/", "headers": []}
        self.exchange = Exchange(scope, self._receive, self._send)

    async def _receive(self) -> MutableMapping[str, Any]:
        self.looked_for_by = asked_by.get()
        self.was_looked_for.set()
        await self.is_gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        raise AssertionError(message)


async def test_what_takes_too_long_is_ended() -> None:
    watch = Watch()
    for seconds in (SHORT, VERY_SHORT):
        with pytest.raises(TimeoutError), watch.within(seconds):
            await asyncio.Event().wait()
        await asyncio.sleep(0)  # and nobody wants us to end any more


async def test_what_is_done_in_time_is_left_alone_afterwards() -> None:
    watch = Watch()
    for seconds in (SHORT, VERY_SHORT):
        with watch.within(seconds):
            pass
        await asyncio.sleep(2 * seconds)


async def test_what_has_no_limit_may_take_long() -> None:
    watch, client = Watch(), Client()
    with watch.within(0), watch.while_listened_to(client.exchange):
        await client.was_looked_for.wait()


async def test_an_error_stays_what_it_is() -> None:
    watch, client = Watch(), Client()
    with pytest.raises(KeyError), watch.while_listened_to(client.exchange), watch.within(LONG):
        raise KeyError


async def test_the_inner_of_two_limits_ends_what_is_in_it_alone() -> None:
    watch = Watch()
    with watch.within(LONG):
        with pytest.raises(TimeoutError), watch.within(SHORT):
            await asyncio.Event().wait()
        await asyncio.sleep(0)


@pytest.mark.parametrize("takes_long", [False, True])
async def test_whoever_else_ends_it_has_ended_it(takes_long: bool) -> None:
    watch, client = Watch(), Client()

    async def work() -> None:
        with watch.while_listened_to(client.exchange), watch.within(LONG):
            await asyncio.Event().wait()

    task = asyncio.create_task(work())
    if takes_long:
        await client.was_looked_for.wait()
    else:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_who_is_late_and_is_to_end_besides_ends() -> None:
    watch = Watch()

    async def work() -> None:
        with watch.within(SHORT):
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                task.cancel()
                raise

    task = asyncio.create_task(work())
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_nothing_is_done_for_a_client_that_went_away() -> None:
    watch, client = Watch(), Client()
    client.is_gone.set()
    with pytest.raises(ClientGone), watch.while_listened_to(client.exchange), watch.within(LONG):
        await asyncio.Event().wait()
    assert client.exchange.is_gone
    await asyncio.sleep(0)


async def test_nobody_is_looked_for_in_the_name_of_somebody_elses_request() -> None:
    watch, client = Watch(), Client()
    asked_by.set("somebody")
    with watch.while_listened_to(client.exchange):
        await client.was_looked_for.wait()
    assert client.looked_for_by == "nobody"


async def test_who_comes_while_others_are_watched_is_watched_too() -> None:
    watch, early, late = Watch(), Client(), Client()
    with watch.while_listened_to(early.exchange):
        await early.was_looked_for.wait()
        with watch.while_listened_to(late.exchange):
            await late.was_looked_for.wait()


async def test_what_is_done_soon_is_never_looked_after() -> None:
    watch, patient, clients = Watch(), Client(), [Client() for _ in range(8)]

    async def work(client: Client) -> None:
        with watch.while_listened_to(client.exchange):
            await asyncio.sleep(0)

    await asyncio.gather(*map(work, clients))
    with watch.while_listened_to(patient.exchange):
        await patient.was_looked_for.wait()
    assert not any(client.was_looked_for.is_set() for client in clients)
