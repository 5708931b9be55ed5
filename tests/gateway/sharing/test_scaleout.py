"""Two engines behind two gateways, killed in turn under load; `./dev stress scaleout` does it for longer."""

from __future__ import annotations

import pytest

from tests.gateway.real_redis import RealRedis
from workshop.stress_scaleout import stress


@pytest.mark.engine
async def test_no_request_is_lost_before_its_first_byte(redis: RealRedis, require_engine: None) -> None:
    """`redis` is there so that whoever has none is told so."""
    outcome = await stress(clients=3, seconds=1.5)
    assert outcome.problems == []
    assert sum(phase.counts["lost"] for phase in outcome.phases) == 0
    assert sum(phase.counts["whole"] for phase in outcome.phases) >= len(outcome.phases)
