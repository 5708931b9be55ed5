"""`./dev stress gateway`: a thousand clients at once, of whose answers one in twenty breaks off in the middle.

Each gets either its whole answer or, where its server failed, a proper error: an SSE event that says so, at the end,
and no [DONE]. When all have gone, so has everything that was there for them: connections, tasks, memory.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from workshop.failing_upstream import MODEL, WAYS, playing, question, word

EVERY_SO_MANY = 20
"""Of which one fails."""
CHUNKS = 40
PACE_SECONDS = 0.02
CLIENT_SECONDS = 120.0
QUIET_SECONDS = 30.0
"""After which nothing may be left; connections for the next who ask are kept for half of it."""
MOST_GROWTH = 1.1
SLACK_BYTES = 8 << 20
"""What an allocator may keep."""
TOOL = {"type": "function", "function": {"name": "multiply", "description": "Multiply.", "parameters": {}}}


class Left(NamedTuple):
    """What the server has, while nobody asks anything."""

    under_way: int
    tasks: int
    files: int
    resident: int
    """Bytes."""


@dataclass
class Outcome:
    whole: int = 0
    failed: int = 0
    """As they had to."""
    problems: list[str] = field(default_factory=list)
    rounds: list[tuple[float, Left]] = field(default_factory=list)
    """How long each took, and what was left when it was over."""

    def told(self) -> str:
        lefts = ", ".join(f"{left.resident >> 20} MiB" for _, left in self.rounds)
        last = self.rounds[-1][1] if self.rounds else None
        left = f"{last.files} files, {last.tasks} tasks" if last else "unknown"
        counted = Counter(problem.partition(":")[0] for problem in self.problems)
        return (
            f"{self.whole:,} whole answers, {self.failed:,} proper errors; left: {left}; "
            f"memory after each round: {lefts}; "
            f"problems: {', '.join(f'{count} × {what}' for what, count in counted.most_common(5)) or 'none'}"
        )


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="./dev stress gateway", description=__doc__)
    parser.add_argument("--streams", type=int, default=1000, help="at once (%(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="one after the other (%(default)s)")
    args = parser.parse_args(argv)
    print(f"{args.streams:,} streams at once, {args.rounds} times; one in {EVERY_SO_MANY} fails …", flush=True)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = 4 * args.streams + 100  # the clients' and the played server's are both here
    if soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(wanted, hard), hard))
    started = time.monotonic()
    outcome = asyncio.run(stress(streams=args.streams, rounds=args.rounds, say=_say))
    print(f"{outcome.told()} ({time.monotonic() - started:.0f} s)")
    for problem in outcome.problems[:5]:
        print(f"  {problem}")
    return 1 if outcome.problems else 0


async def stress(
    *, streams: int, rounds: int, chunks: int = CHUNKS, say: Callable[[float, Left], None] = lambda *_: None
) -> Outcome:
    outcome = Outcome()
    with tempfile.TemporaryDirectory(prefix="callgate-stress-") as home:
        async with playing(PACE_SECONDS) as upstream, _served(upstream, Path(home), streams) as (url, pid):
            # One answer first, so that all that is made once is there.
            await _ask(url, 1, chunks, "", outcome)
            before = await _left(url, pid)
            for _ in range(rounds):
                began = time.monotonic()
                ways = [
                    WAYS[each // EVERY_SO_MANY % len(WAYS)] if not each % EVERY_SO_MANY else ""
                    for each in range(streams)
                ]
                await asyncio.gather(*(_ask(url, number, chunks, way, outcome) for number, way in enumerate(ways)))
                left = await _left(url, pid, before)
                outcome.rounds.append((time.monotonic() - began, left))
                say(*outcome.rounds[-1])
    outcome.problems += leaks(before, [left for _, left in outcome.rounds])
    return outcome


def leaks(before: Left, after: list[Left]) -> list[str]:
    """What is there that was not, or grows: `after` each round."""
    first, last = after[0], after[-1]
    counted = zip(Left._fields[:3], before[:3], last[:3], strict=True)
    found = [f"{name} left: {now}, before: {then}" for name, then, now in counted if now > then]
    if last.resident > first.resident * MOST_GROWTH + SLACK_BYTES:
        found.append(f"memory grows: {first.resident:,} bytes after the first round, {last.resident:,} after the last")
    return found


# --- a client ---


async def _ask(url: str, number: int, chunks: int, way: str, outcome: Outcome) -> None:
    try:
        async with asyncio.timeout(CLIENT_SECONDS):
            answer = await _post(url, number, chunks, way)
    except (OSError, TimeoutError, asyncio.IncompleteReadError) as why:
        outcome.problems.append(f"no answer: {type(why).__name__} {why}")
        return
    if problem := wrong_with(answer, number, chunks, way):
        outcome.problems.append(f"{problem}: {number}, {way or 'sound'}: …{answer[-300:]!r}")
    elif way:
        outcome.failed += 1
    else:
        outcome.whole += 1


def wrong_with(answer: bytes, number: int, chunks: int, way: str) -> str:
    """With the body of an answer, as it came."""
    events = [part.removeprefix(b"data: ") for part in answer.split(b"\n\n") if part]
    is_done = events[-1:] == [b"[DONE]"]
    said = [json.loads(event) for event in events if event != b"[DONE]"]
    words = [choice["delta"].get("content", "") for each in said for choice in each.get("choices", ())]
    wanted = "".join(word(number, chunk) for chunk in range(chunks // 2 if way else chunks))
    if "".join(words) != wanted:
        return "other words than its own"
    if not way:
        return "" if is_done and "error" not in said[-1] else "no proper end"
    if is_done:
        return "an end as if all were well"
    return "" if isinstance(said[-1].get("error"), dict) else "no error"


async def _post(url: str, number: int, chunks: int, way: str) -> bytes:
    """The body, once it has come to its proper end. Raises: asyncio.IncompleteReadError, if it doesn't."""
    place = urlsplit(url)
    messages = [{"role": "user", "content": question(number, chunks, way)}]
    body = json.dumps({"model": MODEL, "messages": messages, "tools": [TOOL], "stream": True}).encode()
    head = f"POST /v1/chat/completions HTTP/1.1\r\nHost: {place.netloc}\r\nConnection: close\r\n"
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        answered = await reader.readuntil(b"\r\n\r\n")
        if b" 200 " not in answered.split(b"\r\n", 1)[0]:
            return answered
        pieces = []
        while size := int(await reader.readline(), 16):
            pieces.append(await reader.readexactly(size))
            await reader.readexactly(2)
        return b"".join(pieces)
    finally:
        writer.close()


# --- the server ---


@asynccontextmanager
async def _served(upstream: str, home: Path, streams: int) -> AsyncIterator[tuple[str, int]]:
    command = [sys.executable, "-m", "callgate", "serve", "--port", "0", "--json", "--upstream", upstream]
    command += ["--max-concurrent", str(2 * streams)]
    environ = {**os.environ, "CALLGATE_HOME": str(home), "OLLAMA_HOST": "http://127.0.0.1:1"}
    process = await asyncio.create_subprocess_exec(
        *command, env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        assert process.stdout is not None
        yield json.loads(await process.stdout.readline())["url"], process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), 30)
        except TimeoutError:
            process.kill()


async def _left(url: str, pid: int, expected: Left | None = None) -> Left:
    """What it has as soon as that is no more than `expected`, or else at the end of its time."""
    until = time.monotonic() + QUIET_SECONDS
    while True:
        counted = await asyncio.to_thread(_metrics, url)
        left = Left(
            # The question itself is under way, too.
            int(counted["callgate_requests_in_flight"]) - 1,
            int(counted["callgate_tasks"]),
            *_of_process(pid),
        )
        is_quiet = expected is None or all(now <= then for now, then in zip(left[:3], expected[:3], strict=True))
        if is_quiet or time.monotonic() > until:
            return left
        await asyncio.sleep(0.2)


def _metrics(url: str) -> dict[str, float]:
    from urllib.request import ProxyHandler, build_opener

    with build_opener(ProxyHandler({})).open(f"{url}/metrics", timeout=10) as answer:
        text = answer.read().decode()
    return {name: float(value) for name, value in re.findall(r"^(callgate_\w+) ([\d.]+)$", text, re.MULTILINE)}


def _of_process(pid: int) -> tuple[int, int]:
    """Its open files, and its memory."""
    _, _, told = Path(f"/proc/{pid}/status").read_text("utf-8").partition("VmRSS:")
    return len(list(Path(f"/proc/{pid}/fd").iterdir())), int(told.split()[0]) * 1024


def _say(seconds: float, left: Left) -> None:
    print(f"  {seconds:.0f} s; left: {left.files} files, {left.tasks} tasks, {left.resident >> 20} MiB", flush=True)
