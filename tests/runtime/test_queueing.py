import asyncio
from collections.abc import Awaitable, Callable

import pytest

from callgate.runtime.queueing import AT_ONCE, ServerQueue
from callgate.vocabulary import Unreachable


class Server:
    """Answers when it is let, or fails."""

    def __init__(self) -> None:
        self.asked = 0
        self.inside = 0
        self.most = 0
        self.go = asyncio.Event()
        self.down = False

    async def ask(self) -> str:
        self.asked += 1
        self.inside += 1
        self.most = max(self.most, self.inside)
        await self.go.wait()
        self.inside -= 1
        if self.down:
            raise Unreachable("it is down")
        return "answer"


async def all_at_once(count: int, take: Callable[[], Awaitable[str]], server: Server) -> list[str | BaseException]:
    askers = asyncio.gather(*(take() for _ in range(count)), return_exceptions=True)
    await asyncio.sleep(0)
    server.go.set()
    return await askers


async def test_only_a_few_ask_at_a_time() -> None:
    queue, server = ServerQueue(), Server()
    answers = await all_at_once(100, lambda: queue.take(server.ask), server)
    assert answers == ["answer"] * 100
    assert (server.asked, server.most) == (100, AT_ONCE)


async def test_who_waits_while_a_server_is_down_is_told_at_once() -> None:
    queue, server = ServerQueue(), Server()
    server.down = True
    answers = await all_at_once(100, lambda: queue.take(server.ask), server)
    assert {type(answer) for answer in answers} == {Unreachable}
    assert server.asked == AT_ONCE


async def test_who_comes_later_tries_again() -> None:
    queue, server = ServerQueue(), Server()
    server.down = True
    server.go.set()
    with pytest.raises(Unreachable):
        await queue.take(server.ask)
    server.down = False
    assert await queue.take(server.ask) == "answer"


async def test_one_failure_among_answers_stops_nobody() -> None:
    queue, server = ServerQueue(), Server()

    async def fail_first() -> str:
        server.asked += 1
        if server.asked == 1:
            raise Unreachable("just once")
        return "answer"

    async def held() -> str:
        await server.go.wait()
        return "answer"

    first = [asyncio.create_task(queue.take(held)) for _ in range(AT_ONCE - 1)]
    answers = await all_at_once(20, lambda: queue.take(fail_first), server)
    assert await asyncio.gather(*first) == ["answer"] * (AT_ONCE - 1)
    assert "answer" in answers


async def test_another_error_is_its_own_askers() -> None:
    queue = ServerQueue()

    async def wrong() -> str:
        raise ValueError

    for _ in range(AT_ONCE + 1):
        with pytest.raises(ValueError):  # noqa: PT011
            await queue.take(wrong)
