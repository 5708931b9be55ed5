"""What a client and a log are told of a request besides the answer, without being asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from callgate.gateway import Options
from callgate.gateway.turns import MOST_KINDS, Told
from callgate.vocabulary import AssistantDelta, Done, ModelRef, Notice
from tests.gateway.running import gateway, recording

ANSWER = (AssistantDelta("Hello"), Done("stop"))
ASKED: dict[str, dict[str, object]] = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "hi"}], "tools": [{"type": "web_search"}]},
    "/v1/messages": {
        "messages": [{"role": "user", "content": "hi"}],
        "max_tokens": 9,
        "tools": [{"type": "web_search_20250305", "name": "web_search"}],
    },
    "/v1/responses": {"input": "hi", "tools": [{"type": "web_search"}]},
}
ID_HEADERS = {"/v1/messages": "request-id", "/v1/responses": "x-request-id"}


@pytest.mark.parametrize("path", list(ASKED))
@pytest.mark.parametrize("stream", [False, True])
async def test_kinds_of_notices_are_in_a_header_and_in_the_log(path: str, stream: bool, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with gateway(Options(model=recording(tmp_path / "said", ANSWER, ANSWER), access_log=str(log))) as served:
        answer = await served.post(path, {**ASKED[path], "stream": stream})
        assert answer.headers["x-callgate-notices"] == "tools_left_out"
        plain = {name: value for name, value in ASKED[path].items() if name != "tools"}
        assert "x-callgate-notices" not in (await served.post(path, plain)).headers
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line.get("notices") for line in lines] == [["tools_left_out"], None]


def test_a_header_takes_no_more_kinds_than_so_many_and_none_that_could_break_it() -> None:
    told = Told(ModelRef("scripted", "x"))
    told.notices = [Notice(kind, "") for kind in ("a", "a", "b\r\nc: d", "é", "x" * 500)]
    assert told.kinds == ["a"]
    told.notices += [Notice(f"k{number}", "") for number in range(50)]
    assert len(told.kinds) == MOST_KINDS


@pytest.mark.parametrize("path", list(ID_HEADERS))
async def test_a_request_has_one_name_wherever_it_is_told_of(path: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    async with gateway(Options(model=recording(tmp_path / "said", ANSWER), access_log=str(log))) as served:
        fine = await served.post(path, ASKED[path])
        wrong = await served.post(path, {"model": 3})
    ids = [answer.headers[ID_HEADERS[path]] for answer in (fine, wrong)]
    assert (fine.status, wrong.status) == (200, 400)
    assert ids[0] != ids[1]
    assert [json.loads(line)["request_id"] for line in log.read_text().splitlines()] == ids
    if path == "/v1/messages":
        assert wrong.json["request_id"] == ids[1]
