"""`./dev stress scaleout`: two engines behind two gateways that share a Redis; one after the other of them is killed.

Clients talk all the time, each turn at the other gateway, and each goes on from the answer before. A client that has
had no byte yet when its connection breaks asks the other gateway. Then no request may be lost before its first byte,
and none at all where a gateway was told to stop rather than killed. All parts are real: llama.cpp with the model in
the box, `callgate serve`, redis-server.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import signal
import socket
import sys
import tempfile
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp

MODEL = "small"
START_SECONDS = 120.0
ANSWER_SECONDS = 120.0
TURNS = 3
"""Of a conversation."""
TRIES = 6
TOOL = {
    "type": "function",
    "name": "multiply",
    "description": "Multiply two numbers.",
    "parameters": {"type": "object", "properties": {"a": {"type": "number"}, "b": {"type": "number"}}},
}
_BROKEN = (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, ConnectionError)


@dataclass
class Phase:
    name: str
    may_break: bool
    """Whether answers may break off that have begun."""
    counts: Counter[str] = field(default_factory=Counter)
    slowest: float = 0.0
    """Seconds until a first byte."""

    def told(self) -> str:
        counts = self.counts
        return (
            f"{self.name:<26} {counts['whole']:>6} {counts['moved']:>6} {counts['refused']:>8} {counts['again']:>8}"
            f" {counts['broken']:>8} {counts['lost']:>5} {self.slowest * 1000:>9.0f} ms"
        )


@dataclass
class Outcome:
    phases: list[Phase] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    redis_failures: int = 0

    @property
    def now(self) -> Phase:
        return self.phases[-1]


HEADINGS = (
    f"{'':<26} {'whole':>6} {'moved':>6} {'refused':>8} {'retried':>8} {'cut off':>8} {'lost':>5}  slowest first byte"
)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev stress scaleout", description=__doc__)
    parser.add_argument("--clients", type=int, default=24, help="at once (%(default)s)")
    parser.add_argument("--seconds", type=float, default=6.0, help="of each phase (%(default)s)")
    args = parser.parse_args(argv)
    if shutil.which("redis-server") is None:
        print("there is no redis-server here (apt-get install redis-server)", file=sys.stderr)
        return 1
    print(f"two engines, two gateways, a Redis; {args.clients} clients …\n{HEADINGS}", flush=True)
    outcome = asyncio.run(stress(clients=args.clients, seconds=args.seconds, say=lambda text: print(text, flush=True)))
    told = "; ".join(dict.fromkeys(outcome.problems[:5])) or "no request was lost before its first byte"
    moved = sum(phase.counts["moved"] for phase in outcome.phases)
    if outcome.redis_failures:
        print(f"gateway 1 had {outcome.redis_failures} failures of Redis since it was back")
    requests = "1 request" if moved == 1 else f"{moved} requests"
    print(f"{requests} went on at the other engine, unseen by their clients: {told}")
    return 1 if outcome.problems else 0


async def stress(*, clients: int, seconds: float, say: Callable[[str], None] = lambda _: None) -> Outcome:
    outcome = Outcome()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="callgate-stress-")))
        parts = Parts(folder)
        stack.push_async_callback(parts.end)
        await parts.start_redis()
        await asyncio.gather(parts.start("engine 1"), parts.start("engine 2"))
        await asyncio.gather(parts.start("gateway 1"), parts.start("gateway 2"))
        http = await stack.enter_async_context(aiohttp.ClientSession())
        for name in ("gateway 1", "gateway 2"):  # so that all that is loaded once is there
            outcome.phases = [Phase("warm", may_break=False)]
            await _turn(http, [parts.url(name)], None, outcome)
        steps: list[tuple[str, bool, Callable[[], Awaitable[object]]]] = [
            ("all is well", False, _nothing),
            ("engine 1 is killed", True, lambda: parts.kill("engine 1")),
            ("engine 1 is back", False, lambda: parts.start("engine 1")),
            ("gateway 1 is killed", True, lambda: parts.kill("gateway 1")),
            ("gateway 1 is back", False, lambda: parts.start("gateway 1")),
            ("gateway 2 is told to stop", False, lambda: parts.stop("gateway 2")),
        ]
        outcome.phases = []
        talking: list[asyncio.Task[None]] = []
        urls = [parts.url("gateway 1"), parts.url("gateway 2")]
        try:
            for name, may_break, step in steps:
                outcome.phases.append(Phase(name, may_break))
                talking = talking or [asyncio.create_task(_talk(http, urls, n, outcome)) for n in range(clients)]
                await step()
                await asyncio.wait(talking, timeout=seconds, return_when=asyncio.FIRST_EXCEPTION)
                for task in talking:
                    if task.done():
                        task.result()
                if "gateway" not in name:  # all of them are there, and none of them has begun anew
                    total = sum([await _counted(http, url, "callgate_failovers_total") for url in urls])
                    outcome.now.counts["moved"] = total - sum(phase.counts["moved"] for phase in outcome.phases)
                say(outcome.now.told())
            outcome.redis_failures = await _counted(http, urls[0], "callgate_redis_failures_total")
        finally:
            for task in talking:
                task.cancel()
            await asyncio.gather(*talking, return_exceptions=True)
    for phase in outcome.phases:
        if not phase.counts["whole"] and not phase.counts["begun"]:
            outcome.problems.append(f"nobody was answered while {phase.name}")
    return outcome


async def _nothing() -> None:
    pass


async def _counted(http: aiohttp.ClientSession, url: str, name: str) -> int:
    async with http.get(f"{url}/metrics") as metrics:
        told = (await metrics.text()).splitlines()
    return sum(int(line.split()[-1]) for line in told if line.startswith(f"{name}{{"))


# --- a client ---


async def _talk(http: aiohttp.ClientSession, urls: list[str], number: int, outcome: Outcome) -> None:
    turn = number
    while True:
        previous: str | None = None
        for _ in range(TURNS):
            turn += 1
            previous = await _turn(http, [urls[turn % 2], urls[(turn + 1) % 2]], previous, outcome)
            if previous is None:
                break


async def _turn(http: aiohttp.ClientSession, urls: list[str], previous: str | None, outcome: Outcome) -> str | None:
    """The id of the answer, to go on from; at the first of the gateways, or the next, as long as no byte has come."""
    phase, began = outcome.now, time.monotonic()  # what becomes of it is counted where it happens
    question = "What is 17 times 23?" if previous is None else "And 12 times 31?"
    body = {"model": MODEL, "input": question, "tools": [TOOL], "stream": True, "max_output_tokens": 48}
    body |= {"tool_choice": "none"} if previous is not None else {}
    body |= {"previous_response_id": previous} if previous is not None else {}
    for attempt in range(TRIES):
        received = bytearray()
        try:
            async with (
                asyncio.timeout(ANSWER_SECONDS),
                http.post(
                    f"{urls[attempt % len(urls)]}/v1/responses", json=body, headers={"Connection": "close"}
                ) as got,
            ):
                async for piece in got.content.iter_any():
                    if not received:
                        outcome.now.slowest = max(outcome.now.slowest, time.monotonic() - began)
                    received += piece
                status = got.status
        except _BROKEN as error:
            if not received:
                outcome.now.counts["refused" if isinstance(error, aiohttp.ClientConnectorError) else "again"] += 1
                continue
            _cut_off(phase, outcome, type(error).__name__)
            return None
        if status != 200:
            outcome.now.counts["lost"] += 1
            outcome.problems.append(f"{phase.name}: {status} {bytes(received[:200])!r}")
            return None
        events = [json.loads(line[6:]) for line in received.decode().split("\n") if line.startswith("data: {")]
        last = events[-1] if events else {}
        if last.get("type") in ("response.completed", "response.incomplete"):
            outcome.now.counts["whole"] += 1
            phase.counts["begun"] += 1
            return str(last["response"]["id"])
        _cut_off(phase, outcome, str(last.get("type")))
        return None
    outcome.now.counts["lost"] += 1
    outcome.problems.append(f"{phase.name}: no gateway answered")
    return None


def _cut_off(phase: Phase, outcome: Outcome, why: str) -> None:
    outcome.now.counts["broken"] += 1
    # What began before somebody was killed may end after; what is killed in the next phase may have begun in this one.
    if not phase.may_break and not outcome.now.may_break:
        outcome.problems.append(f"{phase.name}: an answer broke off ({why})")


# --- the parts ---


class Parts:
    """Each has its port from the beginning, so that it comes back where it was."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        names = ("redis", "engine 1", "engine 2", "gateway 1", "gateway 2")
        held = [socket.create_server(("127.0.0.1", 0)) for _ in names]
        self._ports = {name: int(each.getsockname()[1]) for name, each in zip(names, held, strict=True)}
        for each in held:
            each.close()
        self._running: dict[str, Process] = {}

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self._ports[name]}"

    async def start_redis(self) -> None:
        port = str(self._ports["redis"])
        words = ("--port", port, "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder))
        self._running["redis"] = await asyncio.create_subprocess_exec("redis-server", *words, stdout=DEVNULL)
        async with asyncio.timeout(START_SECONDS):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", int(port))
                except OSError:
                    await asyncio.sleep(0.05)
                else:
                    writer.close()
                    return

    async def start(self, name: str) -> None:
        words = ["--model", "tiny"]
        if name.startswith("gateway"):
            engines = ",".join(f"{self.url(each)}/v1#tiny" for each in ("engine 1", "engine 2"))
            words = ["--alias", f"{MODEL}={engines}", "--redis", f"redis://127.0.0.1:{self._ports['redis']}/0"]
        command = [sys.executable, "-m", "callgate", "serve", "--json", "--port", str(self._ports[name]), *words]
        environ = {name: value for name, value in os.environ.items() if not name.startswith("CALLGATE_")}
        environ |= {"CALLGATE_HOME": str(self._folder / name), "OLLAMA_HOST": "http://127.0.0.1:1"}
        environ |= {"CALLGATE_LLAMACPP_THREADS": "1"}
        process = await asyncio.create_subprocess_exec(*command, env=environ, stdout=PIPE, stderr=DEVNULL)
        self._running[name] = process
        assert process.stdout
        async with asyncio.timeout(START_SECONDS):
            if not await process.stdout.readline():
                raise RuntimeError(f"{name} doesn't start: {' '.join(command)}")

    async def kill(self, name: str) -> None:
        process = self._running.pop(name)
        process.kill()
        await process.wait()

    async def stop(self, name: str) -> None:
        """In order. Whoever waits for that sees what it does with those who talk to it."""
        process = self._running.pop(name)
        process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(START_SECONDS):
            if status := await process.wait():
                raise RuntimeError(f"{name} ended with {status}")

    async def end(self) -> None:
        for process in self._running.values():
            process.terminate()
        for process in self._running.values():
            try:
                await asyncio.wait_for(process.wait(), 30)
            except TimeoutError:
                process.kill()
                await process.wait()
