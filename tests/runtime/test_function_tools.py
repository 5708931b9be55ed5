from __future__ import annotations

import asyncio
import contextvars
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import date
from functools import partial

import pydantic
import pytest

from callgate.runtime import FunctionTools, Outcome, in_own_thread
from callgate.vocabulary import Image, UsageError


@dataclass
class Day:
    on: date


class Found(pydantic.BaseModel):
    when: date


def add_day(day: Day) -> Day:
    return Day(date.fromordinal(day.on.toordinal() + 1))


def find(when: date) -> Found:
    return Found(when=when)


def nothing() -> None: ...


def picture() -> Outcome:
    return Outcome("a dot", images=(Image(b"."),))


class Later:
    """Says it later."""

    async def __call__(self, word: str) -> str:
        return word


def promised() -> Awaitable[str]:
    return asyncio.sleep(0, "kept")


async def test_arguments_come_as_the_hints_say_and_results_go_as_json() -> None:
    tools = FunctionTools([add_day, find, nothing, picture, Later(), promised])
    assert await tools.call("add_day", {"day": {"on": "2026-01-31"}}) == Outcome('{"on":"2026-02-01"}')
    assert await tools.call("find", {"when": "2026-01-31"}) == Outcome('{"when":"2026-01-31"}')
    assert await tools.call("nothing", {}) == Outcome("(no result)")
    assert (await tools.call("picture", {})).images == (Image(b"."),)
    assert await tools.call("Later", {"word": "now"}) == Outcome("now")
    assert await tools.call("promised", {}) == Outcome("kept")


async def test_an_argument_that_is_no_good_is_told() -> None:
    outcome = await FunctionTools([add_day]).call("add_day", {"day": {"on": "never"}})
    assert outcome.is_error
    assert "'day'" in outcome.content


def test_two_functions_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two tools called 'find'"):
        FunctionTools([find, partial(find)])


def test_who_is_harmless_can_be_said() -> None:
    tools = FunctionTools([find, nothing], harmless={"find"})
    assert [tools.is_harmless(name) for name in ("find", "nothing")] == [True, False]
    assert tools.identity == __file__


# --- threads ---


async def test_a_thread_of_its_own_sees_the_context_and_gives_what_it_makes() -> None:
    word: contextvars.ContextVar[str] = contextvars.ContextVar("word")
    word.set("here")
    assert await in_own_thread(word.get) == "here"
    assert await in_own_thread(threading.current_thread) is not threading.current_thread()


@pytest.mark.parametrize(
    ("error", "raised"), [(ValueError("x"), ValueError), (SystemExit(1), RuntimeError), (StopIteration(), RuntimeError)]
)
async def test_what_it_raises_is_raised(error: BaseException, raised: type[BaseException]) -> None:
    def fail() -> None:
        raise error

    with pytest.raises(raised):
        await in_own_thread(fail)


async def test_one_that_is_given_up_harms_nobody_when_it_ends() -> None:
    go, gone = threading.Event(), threading.Event()

    def wait() -> None:
        go.wait()
        gone.set()

    task = asyncio.create_task(in_own_thread(wait))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    go.set()
    assert await asyncio.to_thread(gone.wait, 10)


HANGING = """
import callgate, time
from callgate.runtime import Limits

def hang() -> None:
    time.sleep(3600)

with callgate.Model({ref!r}) as model:
    turn = model.ask("Go.", tools=[hang], limits=Limits(call_seconds=0.1))
print(turn.messages[2].content, turn.text)
"""


def test_a_process_ends_though_a_tool_of_its_hangs(recorded: Callable[[str], str]) -> None:
    program = HANGING.format(ref=recorded("hang"))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "error: the tool took longer than 0.1 s, and was given up done\n"


@pytest.fixture
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """A model that calls that tool, and is done."""

    def write(tool: str) -> str:
        path = tmp_path_factory.mktemp("recorded") / "talk.jsonl"
        path.write_text(
            '{"callgate_recording": 1, "model": "m", "backend": "ollama"}\n'
            '{"request": {}}\n'
            f'{{"at": 0, "event": {{"type": "tool_call", "data": {{"id": "1", "name": "{tool}", "args": {{}}}}}}}}\n'
            '{"at": 0, "event": {"type": "done", "data": {"reason": "tool_calls"}}}\n'
            '{"request": {}}\n'
            '{"at": 0, "event": {"type": "assistant_delta", "data": {"text": "done"}}}\n'
            '{"at": 0, "event": {"type": "done", "data": {"reason": "stop"}}}\n'
        )
        return f"scripted:{path}"

    return write
