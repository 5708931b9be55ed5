"""A hundred tools of an agent, and a server that offers models fewer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgate.gateway import Options
from callgate.vocabulary import AssistantDelta, Done, Event
from tests.gateway.running import PlayedServer, gateway, no_servers, recording

ANSWER: tuple[Event, ...] = (AssistantDelta("Hello"), Done("stop"))
WORDS = ("weather", "files", "issues", "mail", "music", *(f"number {number}" for number in range(95)))
FUNCTIONS: list[dict[str, Any]] = [
    {"name": f"use_{word.replace(' ', '_')}", "description": f"Does something with {word}. " * 40} for word in WORDS
]
ASKED: dict[str, dict[str, Any]] = {
    "/v1/chat/completions": {
        "messages": [{"role": "user", "content": "play some music"}],
        "tools": [{"type": "function", "function": function} for function in FUNCTIONS],
    },
    "/v1/messages": {
        "max_tokens": 100,
        "messages": [{"role": "user", "content": "play some music"}],
        "tools": [{**function, "input_schema": {"type": "object"}} for function in FUNCTIONS],
    },
    "/v1/responses": {
        "input": "play some music",
        "tools": [{"type": "function", **function} for function in FUNCTIONS],
    },
    "/api/chat": {
        "messages": [{"role": "user", "content": "play some music"}],
        "tools": [{"type": "function", "function": function} for function in FUNCTIONS],
    },
}
every_dialect = pytest.mark.parametrize("path", list(ASKED))


@every_dialect
@pytest.mark.parametrize("stream", [False, True])
async def test_each_cut_is_told_in_every_way(path: str, stream: bool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    options = Options(explain=True, model=recording(tmp_path / "said", ANSWER), access_log=str(log))
    async with gateway(options, no_servers(tools__limit=3)) as served:
        answer = await served.post(path, {**ASKED[path], "stream": stream})
        assert answer.status == 200
        assert answer.headers["x-callgate-tools-trimmed"] == "97"
        assert b"97 of 100 tools weren't offered to the model" in answer.body
        assert b"'use_mail'" in answer.body
        metrics = (await served.get("/metrics")).body.decode()
        assert f'callgate_tools_trimmed_total{{model="{tmp_path}/said"}} 97' in metrics
        assert 'kind="tools_trimmed"' in metrics
    line = json.loads(log.read_text().splitlines()[0])
    assert line["tools_trimmed"] == 97


@every_dialect
async def test_all_tools_are_offered_unless_a_limit_is_set(path: str, tmp_path: Path) -> None:
    options = Options(explain=True, model=recording(tmp_path / "said", ANSWER))
    async with gateway(options) as served:
        answer = await served.post(path, {**ASKED[path], "stream": False})
        assert "x-callgate-tools-trimmed" not in answer.headers
        assert answer.json["callgate"]["notices"] == []
        assert "callgate_tools_trimmed_total{" not in (await served.get("/metrics")).body.decode()


async def test_models_have_limits_of_their_own() -> None:
    played = PlayedServer()
    played.go_on.set()
    body = {**ASKED["/v1/chat/completions"], "stream": True}
    async with played.served() as url:
        for limits, expected in (("other=4,slow=2", 2), ("other=4", 3), ("slow=0", 100)):
            settings = no_servers(tools__limit=3, tools__limit_per_model=limits, tools__strategy="native")
            async with gateway(Options(model=f"{url}/v1#slow"), settings) as served:
                assert (await served.post("/v1/chat/completions", body)).status == 200
            offered = [tool["function"]["name"] for tool in played.asked[-1]["tools"]]
            assert len(offered) == expected
            assert "use_music" in offered
            assert offered == [function["name"] for function in FUNCTIONS if function["name"] in offered]
