"""The real command with several workers."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import socket
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path
from urllib.error import HTTPError

import pytest

from callgate.gateway import Options
from callgate.gateway.serving.workers import Workers, _Worker
from callgate.vocabulary import AssistantDelta, Done
from tests.cli.command import callgate
from tests.gateway.command import served
from tests.gateway.running import no_servers, recording
from tests.gateway.upstreams import Upstream, upstreams

ANSWER = (AssistantDelta("Hello"), Done("stop"))
HELLO = {"messages": [{"role": "user", "content": "hello"}]}


def get(url: str, **headers: str) -> bytes:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with urllib.request.urlopen(urllib.request.Request(url, headers=sent), timeout=30) as response:
        body: bytes = response.read()
        return body


def ask(url: str) -> int:
    request = urllib.request.Request(f"{url}/v1/chat/completions", json.dumps(HELLO).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            status: int = response.status
            return status
    except HTTPError as error:
        with error:
            return error.code


def answers_at(url: str) -> bool:
    try:
        return bool(get(f"{url}/health"))
    except OSError:
        return False


def children(parent: int) -> list[int]:
    listed = Path(f"/proc/{parent}/task/{parent}/children")
    if not listed.exists():
        pytest.skip("only Linux lists children so")
    return [int(pid) for pid in listed.read_text().split()]


def until(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def counted(url: str, route: str) -> int:
    found = re.search(rf'callgate_requests_total{{route="{route}",model="",status="200"}} (\d+)', get_metrics(url))
    return int(found[1]) if found else 0


def get_metrics(url: str) -> str:
    return get(f"{url}/metrics").decode()


def test_several_answer_at_one_address_and_their_counts_are_one() -> None:
    with served("--workers", "3") as gate:
        workers = children(gate.process.pid)
        assert len(workers) == 3
        for _ in range(30):
            assert json.loads(get(f"{gate.url}/health")) == {"status": "ok"}
        assert counted(gate.url, "/health") == 30
        # What one has counted isn't lost with it, and somebody takes its place.
        os.kill(workers[0], signal.SIGKILL)
        until(lambda: len(children(gate.process.pid)) == 3 and workers[0] not in children(gate.process.pid))
        assert counted(gate.url, "/health") == 30
        for _ in range(10):
            get(f"{gate.url}/health")
        assert counted(gate.url, "/health") == 40
        assert gate.process.stdout
        workers = children(gate.process.pid)
        gate.process.send_signal(signal.SIGINT)
        assert gate.process.wait(30) == 0
        assert not any(map(is_alive, workers))
        assert gate.process.stdout.read() == b""  # it said once that it is ready


def test_one_that_is_started_again_is_told_on_standard_error() -> None:
    with served("--workers", "2") as gate:
        workers = children(gate.process.pid)
        os.kill(workers[0], signal.SIGKILL)
        until(lambda: len(children(gate.process.pid)) == 2 and workers[0] not in children(gate.process.pid))
        gate.process.send_signal(signal.SIGTERM)
        assert gate.process.wait(30) == 0
        assert gate.process.stderr
        told = gate.process.stderr.read().decode()
        assert re.fullmatch(r"callgate: worker [01] ended with status -9; it is started again\n", told)


def respond(url: str, words: str, earlier: str | None = None) -> tuple[int, str]:
    """The status, and the answer's id."""
    body = {"input": words} if earlier is None else {"input": words, "previous_response_id": earlier}
    request = urllib.request.Request(f"{url}/v1/responses", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            return response.status, json.load(response)["id"]
    except HTTPError as error:
        with error:
            return error.code, ""


def test_an_answer_is_gone_on_from_whichever_worker_gave_it_and_also_when_that_has_died() -> None:
    async def play() -> None:
        a = Upstream("a")
        async with upstreams(a):
            with served("--workers", "2", "--model", f"{a.url}#m") as gate:
                await asyncio.to_thread(go_on, gate.url, gate.process.pid)

    def go_on(url: str, pid: int) -> None:
        earlier = ""
        for words in ("hello", "x" * 500_000):  # which is more than a pipe takes at once
            status, earlier = respond(url, words)
            assert status == 200
            for _ in range(8):
                status, earlier = respond(url, "and", earlier)
                assert status == 200
        workers = children(pid)
        for worker in workers:
            os.kill(worker, signal.SIGKILL)
        until(lambda: len(children(pid)) == 2 and not set(workers) & set(children(pid)))
        assert respond(url, "and", earlier)[0] == 200
        gone = urllib.request.Request(f"{url}/v1/responses/{earlier}", method="DELETE")
        with urllib.request.urlopen(gone, timeout=30) as response:
            assert response.status == 200
        assert [respond(url, "and", earlier)[0] for _ in range(8)] == [400] * 8

    asyncio.run(play())


def test_workers_end_with_their_parent() -> None:
    with served("--workers", "2") as gate:
        workers = children(gate.process.pid)
        gate.process.kill()
        gate.process.wait(30)
        until(lambda: not any(map(is_alive, workers)))


def test_a_request_that_comes_back_is_recognised_by_every_worker() -> None:
    with served("--workers", "2", "--verbose") as gate:
        # Each is told its instance; nobody else is, so one is sent on a loop through a server that plays no part.
        for _ in range(6):
            with pytest.raises(HTTPError, match="508") as caught:
                get(f"{gate.url}/v1/models", X_Callgate_Hops=",".join(map(str, range(17))))
            caught.value.close()
        gate.process.send_signal(signal.SIGTERM)
        assert gate.process.wait(30) == 0
        assert gate.process.stderr
        assert gate.process.stderr.read().count(b'"status":508') == 6


def test_answers_under_way_may_end_in_all_of_them() -> None:
    async def play() -> None:
        a = Upstream("a")
        async with upstreams(a):
            words = ("--workers", "2", "--model", f"{a.url}#m", "--drain", "20")
            with served(*words) as gate:
                a.hold.clear()
                body = json.dumps({**HELLO, "stream": True}).encode()

                def streamed() -> bytes:
                    request = urllib.request.Request(f"{gate.url}/v1/chat/completions", body)
                    with urllib.request.urlopen(request, timeout=30) as response:
                        answer: bytes = response.read()
                        return answer

                answers = [asyncio.create_task(asyncio.to_thread(streamed)) for _ in range(4)]
                await a.until("/v1/chat/completions", 4)
                gate.process.send_signal(signal.SIGTERM)
                await asyncio.to_thread(until, lambda: not answers_at(gate.url))
                a.hold.set()
                assert all(b"[DONE]" in answer for answer in await asyncio.gather(*answers))
                assert await asyncio.to_thread(gate.process.wait, 30) == 0

    asyncio.run(play())


async def test_they_are_told_to_stop_once_and_in_order_unless_somebody_insists(monkeypatch: pytest.MonkeyPatch) -> None:
    for told, heard in (
        ([signal.SIGTERM], [signal.SIGTERM] * 2),
        ([signal.SIGTERM, signal.SIGTERM], [signal.SIGTERM] * 2),
        ([signal.SIGTERM, signal.SIGINT], [signal.SIGTERM] * 2 + [signal.SIGINT] * 2),
    ):
        sent: list[int] = []

        def signalled(worker: _Worker, number: int, sent: list[int] = sent) -> None:
            if number != signal.SIGKILL:
                sent.append(number)

        with monkeypatch.context() as patch, socket.create_server(("127.0.0.1", 0)) as listening:
            patch.setattr(_Worker, "signal", signalled)
            workers = Workers(no_servers(), Options(workers=2, drain=0), listening)
            ready = asyncio.Event()
            running = asyncio.create_task(workers.run(ready.set))
            await asyncio.wait_for(ready.wait(), 30)
            processes = [each.process for each in workers._now.values()]
            for number in told:
                signal.raise_signal(number)
                await asyncio.sleep(0)
                await asyncio.sleep(0)
            for process in processes:  # for they weren't really told
                process.kill()
            await running
        assert sent == heard


def test_the_limit_is_for_all_workers_together() -> None:
    async def play() -> None:
        a = Upstream("a")
        async with upstreams(a):
            a.hold.clear()
            words = ("--workers", "2", "--model", f"{a.url}#m", "--max-concurrent", "3")
            with served(*words) as gate:
                first = [asyncio.create_task(asyncio.to_thread(ask, gate.url)) for _ in range(3)]
                await a.until("/v1/chat/completions", 3)
                assert [await asyncio.to_thread(ask, gate.url) for _ in range(6)] == [503] * 6
                a.hold.set()
                assert await asyncio.gather(*first) == [200, 200, 200]
                assert await asyncio.to_thread(ask, gate.url) == 200

    asyncio.run(play())


def test_a_worker_that_dies_gives_its_places_back() -> None:
    async def play() -> None:
        a = Upstream("a")
        async with upstreams(a):
            a.hold.clear()
            with served("--workers", "2", "--model", f"{a.url}#m", "--max-concurrent", "1") as gate:
                lost = asyncio.create_task(asyncio.to_thread(ask, gate.url))
                await a.until("/v1/chat/completions", 1)
                workers = await asyncio.to_thread(children, gate.process.pid)
                for pid in workers:
                    os.kill(pid, signal.SIGKILL)
                with pytest.raises(OSError):  # noqa: PT011 - however the connection ends
                    await lost
                a.hold.set()
                assert await asyncio.to_thread(ask, gate.url) == 200

    asyncio.run(play())


def test_what_keeps_workers_from_starting_is_told() -> None:
    done = callgate("serve", "--port", "0", "--workers", "2", "--fallback", "hf:nonsense")
    assert done.status == 2
    assert "doesn't name a model on the hub" in done.err
    # As it is with one.
    done = callgate("serve", "--port", "0", "--fallback", "hf:nonsense")
    assert done.status == 2
    assert "doesn't name a model on the hub" in done.err


def test_logs_of_all_workers_come_together(tmp_path: Path) -> None:
    log = tmp_path / "requests.jsonl"
    with served("--workers", "2", "--access-log", str(log), "--model", recording(tmp_path / "said", ANSWER)) as gate:
        for _ in range(10):
            get(f"{gate.url}/health")
        request = urllib.request.Request(f"{gate.url}/v1/chat/completions", json.dumps(HELLO).encode())
        with urllib.request.urlopen(request, timeout=30) as response:
            assert response.status == 200
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [line["route"] for line in lines] == ["/health"] * 10 + ["/v1/chat/completions"]
    assert lines[-1]["first_ms"] >= 0
    assert "hello" not in log.read_text().lower().replace("said", "")
    assert log.stat().st_mode & 0o777 == 0o600
