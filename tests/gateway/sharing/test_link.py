from __future__ import annotations

import asyncio

import pytest

from callgate.gateway.sharing.link import RedisLink
from callgate.settings import Secret


@pytest.mark.parametrize("then", [None, TimeoutError(), OSError()])
async def test_whoever_is_to_end_ends_even_if_that_gets_lost_on_the_way(then: Exception | None) -> None:
    pytest.importorskip("redis")
    link = RedisLink(Secret("redis://127.0.0.1:1/0"))
    began = asyncio.Event()
    times = 0

    async def loses_it(_: object) -> None:
        nonlocal times
        times += 1
        began.set()
        try:
            await asyncio.get_running_loop().create_future()
        except asyncio.CancelledError:
            if then is not None:
                raise then from None

    asking = asyncio.create_task(link.ask(loses_it))
    await began.wait()
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert times == 1
    await link.close()
