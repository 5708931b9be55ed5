"""Fetches a file in parts, several at once, and keeps at it through resets, busy servers and links that expire."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING

from callgate.hub.client import HubClient
from callgate.hub.partial import PART, Partial
from callgate.hub.records import HubFile, Location, Repository
from callgate.hub.retrying import PASSING, Patience, asked_to_wait
from callgate.vocabulary import BackendError, BadAnswer, BadStatus, FetchFailed, Unreachable
from callgate.wire import HttpClient
from callgate.wire import Patience as Steps

if TYPE_CHECKING:
    import aiohttp

SILENT_SECONDS = 30.0
"""Without a byte, before a connection is given up."""
_PIECE = 256 << 10
_STEPS = Steps(connect=10.0, first_byte=SILENT_SECONDS, between=SILENT_SECONDS)
_EXPIRED = (401, 403, 404, 410)
_CONTENT_RANGE = re.compile(r"bytes (\d{1,18})-(\d{1,18})/(\d{1,18})", re.ASCII)


class NoRanges(BadAnswer):
    """A server that sends files whole or not at all."""


class Transfer:
    """Fetches one file."""

    def __init__(
        self,
        hub: HubClient,
        http: HttpClient,
        repository: Repository,
        file: HubFile,
        location: Location,
        *,
        arrived: Callable[[int], None] = lambda _: None,
    ) -> None:
        """`arrived` hears of bytes that came, and with a negative number of those that are to come again."""
        self._hub = hub
        self._http = http
        self._repository = repository
        self._file = file
        self._location = location
        self._arrived = arrived
        self._locating = asyncio.Lock()
        self._rest_until = 0.0
        self.bytes_fetched = 0

    @property
    def location(self) -> Location:
        return self._location

    async def part(self, number: int) -> bytes:
        """Raises: NoRanges, HubRefused, BackendError, FetchFailed."""
        size = self._location.expected.size
        start, end = number * PART, min((number + 1) * PART, size)
        got = bytearray()
        patience = Patience(told=self._hub.on_wait)
        while start + len(got) < end:
            before = len(got)
            failure: BackendError
            wait: float | None = None
            location = self._location
            await self._rest()
            try:
                wait, failure = await self._receive(location, got, start, end)
            except (Unreachable, BadAnswer) as error:
                if isinstance(error, NoRanges):
                    raise
                failure = error
            if start + len(got) >= end:
                break
            if len(got) > before:
                patience.went_well()
            await self._look_after(failure, location)
            if wait is not None:  # for all connections: it is the same server
                self._rest_until = max(self._rest_until, asyncio.get_running_loop().time() + wait)
            if not await patience.may_try_again(wait):
                raise failure
        return bytes(got)

    async def missing_parts(self, into: Partial, connections: int) -> None:
        """All that `into` lacks. Raises as `part` does, and NoSpace."""
        left = iter(into.missing())

        async def work() -> None:
            for number in left:
                content = await self.part(number)
                await asyncio.to_thread(into.write, number, content)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(connections):
                    group.create_task(work())
        except BaseExceptionGroup as errors:
            raise _first(errors) from None

    async def whole(self, into: Partial) -> None:
        """The file in one go, from a server that can't do better. Raises as `part` does, and NoSpace."""
        patience = Patience(told=self._hub.on_wait)
        while into.missing():
            before = self.bytes_fetched
            location = self._location
            wait: float | None = None
            try:
                wait, failure = await self._receive_whole(location, into)
            except (Unreachable, BadAnswer) as error:
                failure = error
            if not into.missing():
                return
            self._arrived(before - self.bytes_fetched)
            await self._look_after(failure, location)
            if not await patience.may_try_again(wait):
                raise failure

    async def _receive(
        self, location: Location, got: bytearray, start: int, end: int
    ) -> tuple[float | None, BackendError]:
        """Adds to `got` what comes; gives how long to wait before the rest is asked for, and why it didn't come."""
        first = start + len(got)
        headers = {"Range": f"bytes={first}-{end - 1}"}
        async with self._open(location, headers) as response:
            if response.status == 200 and first == 0 and location.expected.size <= PART:
                pass  # all of it is what was asked for
            elif response.status == 200:
                raise NoRanges(f"the server of {self._file.name!r} can't send parts of it")
            elif response.status != 206:
                return asked_to_wait(response.headers), self._bad(response)
            else:
                self._check_range(response, first, end)
            async for arrived in response.content.iter_chunked(_PIECE):
                piece = arrived[: end - start - len(got)]  # whoever sends more than announced isn't listened to
                got += piece
                self._count(len(piece))
                if start + len(got) >= end:
                    break
        return None, Unreachable(f"the server of {self._file.name!r} broke off", hint="try again")

    async def _receive_whole(self, location: Location, into: Partial) -> tuple[float | None, BackendError]:
        async with self._open(location, {}) as response:
            if response.status != 200:
                return asked_to_wait(response.headers), self._bad(response)
            self._check_whole(response)
            number, got = 0, bytearray()
            async for piece in response.content.iter_chunked(_PIECE):
                got += piece
                self._count(len(piece))
                while number < into.count and len(got) >= into.length(number):
                    content, got = bytes(got[: into.length(number)]), got[into.length(number) :]
                    if not into.has(number):
                        await asyncio.to_thread(into.write, number, content)
                    number += 1
                if number >= into.count:
                    break
        return None, Unreachable(f"the server of {self._file.name!r} broke off", hint="try again")

    def _open(self, location: Location, more: dict[str, str]) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = {"Accept-Encoding": "identity", **more, **(self._hub.headers() if location.is_at_the_hub else {})}
        expect = (*PASSING, *_EXPIRED, 400, 416)
        return self._http.open("GET", location.url, headers=headers, patience=_STEPS, expect=expect)

    def _check_whole(self, response: aiohttp.ClientResponse) -> None:
        size, stated = self._location.expected.size, response.content_length
        if stated is not None and stated != size:
            raise FetchFailed(
                f"{self._file.name!r} has {size:,} bytes by the hub's word, and {stated:,} where it is",
                hint="is there a page to sign in to between you and the hub?",
            )

    def _check_range(self, response: aiohttp.ClientResponse, first: int, end: int) -> None:
        name, size = repr(self._file.name), self._location.expected.size
        if response.headers.get("Content-Encoding", "identity").lower() != "identity":
            raise FetchFailed(f"{name} is sent compressed, although plain bytes were asked for")
        given = _CONTENT_RANGE.fullmatch(response.headers.get("Content-Range", "").strip())
        if not given or int(given[1]) != first or int(given[2]) >= end:
            raise FetchFailed(f"the server of {name} sent another part of it than it was asked for")
        if int(given[3]) != size:
            raise FetchFailed(
                f"{name} has {size:,} bytes by the hub's word, and {int(given[3]):,} where it is", hint="try again"
            )

    def _bad(self, response: aiohttp.ClientResponse) -> BadStatus:
        status = response.status
        hint = "try again later" if status in PASSING else None
        return BadStatus(f"the server of {self._file.name!r} answered with status {status}", status=status, hint=hint)

    def _count(self, count: int) -> None:
        self.bytes_fetched += count
        self._arrived(count)

    async def _rest(self) -> None:
        await asyncio.sleep(max(0.0, self._rest_until - asyncio.get_running_loop().time()))

    async def _look_after(self, failure: BackendError, location: Location) -> None:
        """Raises `failure`, if there is no point in trying again."""
        if isinstance(failure, BadStatus):
            if failure.status in _EXPIRED:
                await self._locate_anew(location)
            elif failure.status not in PASSING:
                raise failure

    async def _locate_anew(self, old: Location) -> None:
        """Links to storage servers expire after a while."""
        async with self._locating:
            if self._location is not old:
                return
            new = await self._hub.locate(self._repository, self._file)
            if new.tag != old.tag or new.expected != old.expected:
                raise FetchFailed(f"{self._file.name!r} changed while it was fetched", hint="try again")
            self._location = new


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    first = errors.exceptions[0]
    return _first(first) if isinstance(first, BaseExceptionGroup) else first
