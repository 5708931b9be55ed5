import asyncio
import sys
from collections.abc import AsyncGenerator, Callable, Coroutine
from contextlib import aclosing
from typing import Any

import pytest

from callgate.gateway.eager import before, next_or_none


def loops() -> list[Callable[[Coroutine[Any, Any, None]], None]]:
    """Both that a server may run in."""
    if sys.platform == "win32":
        return [asyncio.run]
    import uvloop

    return [asyncio.run, uvloop.run]


@pytest.fixture(params=loops(), ids=["asyncio", "uvloop"][: len(loops())])
def run(request: pytest.FixtureRequest) -> Callable[[Coroutine[Any, Any, None]], None]:
    found: Callable[[Coroutine[Any, Any, None]], None] = request.param
    return found


class Stream:
    """What is there, and then, behind a gate, what isn't yet."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.waited_for = asyncio.Event()
        self.was_closed = False
        self.said: list[str] = []

    async def events(self) -> AsyncGenerator[int, None]:
        try:
            yield 1
            yield 2
            self.said.append("waits")
            await self.gate.wait()
            yield 3
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            yield 4
        finally:
            await asyncio.sleep(0)
            self.was_closed = True

    async def before(self) -> None:
        self.said.append("before")
        self.waited_for.set()


def test_one_waits_only_after_what_is_to_be_done_before(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    async def main() -> None:
        stream = Stream()

        async def before() -> None:
            stream.said.append("before")
            await asyncio.sleep(0)
            stream.gate.set()

        async with aclosing(stream.events()) as events:
            found = [await next_or_none(events, before) for _ in range(5)]
        assert found == [1, 2, 3, 4, None]
        assert stream.said == ["waits", "before", "before", "before"]

    run(main())


def test_what_is_there_is_taken_without_waiting(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    async def main() -> None:
        stream = Stream()
        async with aclosing(stream.events()) as events:
            assert [await next_or_none(events, stream.before) for _ in range(2)] == [1, 2]
            assert stream.said == []
        assert stream.was_closed

    run(main())


def test_who_is_cancelled_while_waiting_cancels_the_stream(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    async def main() -> None:
        stream = Stream()

        async def listen() -> None:
            async with aclosing(stream.events()) as events:
                while await next_or_none(events, stream.before):
                    pass

        task = asyncio.create_task(listen())
        await stream.waited_for.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert stream.was_closed

    run(main())


@pytest.mark.parametrize("problem", [ConnectionError("gone"), asyncio.CancelledError()])
def test_what_goes_wrong_before_ends_the_stream_too(
    run: Callable[[Coroutine[Any, Any, None]], None], problem: BaseException
) -> None:
    async def main() -> None:
        stream = Stream()

        async def before() -> None:
            await asyncio.sleep(0)
            raise problem

        async with aclosing(stream.events()) as events:
            assert [await next_or_none(events, before) for _ in range(2)] == [1, 2]
            with pytest.raises(type(problem)):
                await next_or_none(events, before)
        assert stream.was_closed

    run(main())


def test_what_the_stream_raises_is_heard(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    async def broken(waits: bool) -> AsyncGenerator[int, None]:
        if waits:
            await asyncio.sleep(0)
        raise ValueError("broken")
        yield 1

    async def main() -> None:
        for waits in (False, True):
            with pytest.raises(ValueError, match="broken"):
                await next_or_none(broken(waits), Stream().before)

    run(main())


def test_a_time_limit_holds_while_one_waits(run: Callable[[Coroutine[Any, Any, None]], None]) -> None:
    async def main() -> None:
        stream = Stream()

        async def listen() -> None:
            async with asyncio.timeout(0.02), aclosing(stream.events()) as events:
                while await next_or_none(events, stream.before):
                    pass

        with pytest.raises(TimeoutError):
            await listen()
        assert stream.was_closed

    run(main())


async def test_what_is_there_at_once_is_had_even_after_the_end() -> None:
    async def there() -> str:
        return "there"

    assert await before(0.0, there()) == "there"


async def test_what_takes_a_moment_is_waited_for() -> None:
    told: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    asyncio.get_running_loop().call_soon(told.set_result, "later")
    assert await before(None, told) == "later"


async def test_what_comes_too_late_is_not_waited_for() -> None:
    never: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    with pytest.raises(TimeoutError):
        await before(asyncio.get_running_loop().time(), never)
    assert never.cancelled()


async def test_what_goes_wrong_while_it_is_waited_for_is_told() -> None:
    async def wrong() -> str:
        await asyncio.sleep(0)
        raise KeyError("wrong")

    with pytest.raises(KeyError):
        await before(None, wrong())
