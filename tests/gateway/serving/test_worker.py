from __future__ import annotations

import asyncio
import os
import tempfile

import msgspec
import pytest

from callgate.gateway import Options
from callgate.gateway.asgi import Refused
from callgate.gateway.keeping import MOST_BYTES_EACH
from callgate.gateway.serving import worker
from callgate.gateway.serving.busy import room_for
from callgate.gateway.serving.siblings import Asks, FromWorker, Order
from callgate.gateway.serving.worker import Link, ParentsMemory
from tests.gateway.running import no_servers


async def test_a_parent_that_does_not_answer_is_not_a_memory_that_has_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(worker, "OTHERS_SECONDS", 0.01)
    heard, said = os.pipe()
    with tempfile.TemporaryFile() as common, os.fdopen(heard, "rb") as parent:
        os.ftruncate(common.fileno(), room_for(2))
        order = Order(
            settings=no_servers(),
            options=Options(workers=2),
            number=0,
            listening=-1,
            busy=common.fileno(),
            log_level=None,
        )
        memory = ParentsMemory(Link(order, said))
        for asked in (memory.get("x"), memory.drop("x")):
            with pytest.raises(Refused) as caught:
                await asked
            assert (caught.value.failure.status, caught.value.failure.kind) == (503, "workers")
        await memory.put("x", b"kept")
        await memory.put("y", bytes(MOST_BYTES_EACH + 1))  # which isn't even said
        os.close(said)
        lines = await asyncio.to_thread(parent.readlines)
        told = [msgspec.json.decode(line, type=FromWorker) for line in lines]
        assert [(each.what, each.id, each.content) for each in told if isinstance(each, Asks)] == [
            ("get", "x", b""),
            ("drop", "x", b""),
            ("put", "x", b"kept"),
        ]
