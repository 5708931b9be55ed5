"""How the engine's children live and die."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from callgate.backends.llamacpp import process
from callgate.backends.llamacpp.process import EngineProcess, flags_for
from callgate.backends.llamacpp.spec import EngineSpec
from callgate.settings import Timeouts
from callgate.vocabulary import AssistantDelta, Done, EngineFailed, UsageError
from callgate.wire import HttpClient
from tests.backends.test_llamacpp import Make, asking, calls_of, cut_gguf, engines_of, events, make
from tests.backends.test_openai_stream import MULTIPLY

__all__ = ["cut_gguf", "make"]

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc"),
]

SERVER = Path(__file__).parent.parent / "real_ollama" / "llama-server"


@pytest.fixture
def llama_server(tmp_path: Path) -> str:
    """A program that takes llama-server's flags, run by the Python that has the engine."""
    script = tmp_path / "llama-server"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{SERVER}" "$@"\n', "utf-8")
    script.chmod(0o755)
    return str(script)


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def children_of(pid: int) -> list[int]:
    """And theirs, as far as they live."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == pid and words[0] != "Z":
            found += [int(folder.name), *children_of(int(folder.name))]
    return found


async def until_gone(*pids: int) -> None:
    async with asyncio.timeout(30):
        while any(is_running(pid) for pid in pids):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def test_a_child_that_crashed_is_started_anew(make: Make) -> None:
    backend = make()
    await events(backend, asking("tiny", "Hello!"))
    (before,) = engines_of(backend)
    os.kill(before.pid, signal.SIGSEGV)
    await until_gone(before.pid)
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")
    (after,) = engines_of(backend)
    assert after.pid != before.pid


async def test_a_child_that_crashes_unnoticed_is_started_anew_at_once(make: Make) -> None:
    backend = make()
    await events(backend, asking("tiny", "Hello!"))
    os.kill(engines_of(backend)[0].pid, signal.SIGKILL)
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")


async def test_a_crash_in_the_middle_of_an_answer_is_told(make: Make) -> None:
    backend = make()
    stream = backend.stream(asking("tiny", "Hello!", max_tokens=3900, extra={"ignore_eos": True}))
    assert isinstance(await anext(stream), AssistantDelta)
    os.kill(engines_of(backend)[0].pid, signal.SIGABRT)
    with pytest.raises(EngineFailed, match=r"died while it was running 'tiny' \(signal SIGABRT\)"):
        async for _ in stream:
            pass


async def test_a_child_that_hangs_is_ended(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "HEALTH_SECONDS", 0.2)
    backend = make(timeouts__between=0.5, timeouts__first_byte=60.0)
    stream = backend.stream(asking("tiny", "Hello!", max_tokens=3900, extra={"ignore_eos": True}))
    assert isinstance(await anext(stream), AssistantDelta)
    (engine,) = engines_of(backend)
    os.kill(engine.pid, signal.SIGSTOP)
    with pytest.raises(EngineFailed, match="the engine hung while it was running 'tiny'"):
        async for _ in stream:
            pass
    assert not is_running(engine.pid)
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")


async def test_closing_ends_all_children(make: Make) -> None:
    backend = make()
    await events(backend, asking("tiny", "Hello!"))
    await events(backend, asking("tiny-plain", "Hello!"))
    pids = [engine.pid for engine in engines_of(backend)]
    assert len(pids) == 2
    await backend.close()
    assert not any(is_running(pid) for pid in pids)


async def test_a_child_that_does_not_want_to_end_is_killed(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "PATIENCE", 0.05)
    backend = make()
    await events(backend, asking("tiny", "Hello!"))
    (engine,) = engines_of(backend)
    os.kill(engine.pid, signal.SIGSTOP)
    await backend.close()
    assert not is_running(engine.pid)


async def test_within_a_budget_for_one_the_least_recently_used_goes(make: Make) -> None:
    backend = make(llamacpp__memory_budget=80)
    await events(backend, asking("tiny", "Hello!"))
    (first,) = engines_of(backend)
    await events(backend, asking("tiny-plain", "Hello!"))
    assert await backend.models() == ["tiny-plain"]
    assert not is_running(first.pid)


async def test_what_is_being_used_stays(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    backend = make(llamacpp__memory_budget=80)
    stream = backend.stream(asking("tiny", "Hello!", max_tokens=200, extra={"ignore_eos": True}))
    await anext(stream)
    await events(backend, asking("tiny-plain", "Hello!"))
    assert "'tiny-plain' may take more memory than there is for it" in caplog.text
    assert [event async for event in stream][-1] == Done("length")
    assert await backend.models() == ["tiny", "tiny-plain"]


async def test_leaving_while_a_model_loads_ends_its_child(make: Make) -> None:
    begun = asyncio.Event()
    backend = make()
    backend.tell_of_loading(lambda _: begun.set())
    before = set(children_of(os.getpid()))
    task = asyncio.create_task(events(backend, asking("tiny", "Hello!")))
    await begun.wait()
    child = set(children_of(os.getpid())) - before
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await until_gone(*child)
    assert engines_of(backend) == []
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")


async def test_a_model_that_takes_too_long_to_load_is_given_up(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    never = tmp_path / "llama-server"
    never.write_text("#!/bin/sh\nexec sleep 600\n", "utf-8")
    never.chmod(0o755)
    backend = make(llamacpp__server=str(never), timeouts__first_byte=0.3)
    before = set(children_of(os.getpid()))
    with pytest.raises(EngineFailed, match=r"'tiny' isn't loaded after 0\.3 s"):
        await events(backend, asking("tiny", "Hello!"))
    await until_gone(*(set(children_of(os.getpid())) - before))


# A llama-server of the user's


async def test_a_llama_server_of_the_users_runs_models_too(make: Make, llama_server: str) -> None:
    backend = make(llamacpp__server=llama_server)
    (call,) = calls_of(await events(backend, asking("tiny", "Multiply 17 by 23.", tools=(MULTIPLY,))))
    assert call.arguments == {"a": 17, "b": 23}
    guard = engines_of(backend)[0].pid
    pids = [guard, *children_of(guard)]
    assert len(pids) >= 2
    await backend.close()
    await until_gone(*pids)


async def test_a_llama_server_that_can_not_load_says_why(make: Make, llama_server: str, cut_gguf: Path) -> None:
    with pytest.raises(EngineFailed, match=r"can't load 'cut.gguf': .*not within the file bounds"):
        await events(make(llamacpp__server=llama_server), asking(cut_gguf, "Hello!"))


async def test_a_llama_server_that_is_not_there_is_named(make: Make, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no program") as caught:
        await events(make(llamacpp__server=str(tmp_path / "nothing")), asking("tiny", "Hello!"))
    assert "llamacpp.server" in str(caught.value.hint)


def test_every_option_has_its_flag() -> None:
    spec = EngineSpec(
        path="/m.gguf",
        name="m",
        template="t",
        context=512,
        threads=3,
        gpu_layers=7,
        flash_attention=False,
        kv_type="q8_0",
        projector="/p.gguf",
        embedding=True,
        pooling="mean",
    )
    assert " ".join(flags_for(spec)) == (
        "--model /m.gguf --alias m -c 512 -np 1 --jinja -t 3 --chat-template t -ngl 7 --flash-attn off"
        " --cache-type-k q8_0 --cache-type-v q8_0 --mmproj /p.gguf --embedding -b 512 -ub 512 --pooling mean"
    )


# Parents that are killed


PARENT = """
import asyncio, sys
from callgate.backends.llamacpp import LlamaCppBackend
from callgate.settings import load_settings
from callgate.vocabulary import ChatRequest, Message
from callgate.wire import HttpClient

async def main():
    backend = LlamaCppBackend(load_settings(), HttpClient())
    request = ChatRequest(
        model="tiny", messages=(Message(role="user", content="Hi"),), max_tokens=3900, extra={"ignore_eos": True}
    )
    async for event in backend.stream(request):
        print("running", flush=True)

asyncio.run(main())
"""


@asynccontextmanager
async def parent_of_an_engine(**environ: str) -> AsyncIterator[int]:
    command = [sys.executable, "-c", PARENT]
    parent = await asyncio.create_subprocess_exec(*command, env={**os.environ, **environ}, stdout=subprocess.PIPE)
    try:
        assert parent.stdout
        assert await parent.stdout.readline() == b"running\n"
        yield parent.pid
    finally:
        with suppress(ProcessLookupError):
            parent.kill()
        await parent.communicate()


@pytest.mark.parametrize("by_signal", [signal.SIGKILL, signal.SIGTERM])
async def test_a_child_ends_with_its_parent(require_engine: None, by_signal: signal.Signals) -> None:
    async with parent_of_an_engine() as parent:
        children = children_of(parent)
        assert children
        os.kill(parent, by_signal)
        await until_gone(parent, *children)


async def test_a_llama_server_ends_with_us(require_engine: None, llama_server: str) -> None:
    async with parent_of_an_engine(CALLGATE_LLAMACPP_SERVER=llama_server) as parent:
        children = children_of(parent)
        assert len(children) >= 2
        os.kill(parent, signal.SIGKILL)
        await until_gone(parent, *children)


async def test_a_llama_server_ends_with_its_guard(make: Make, llama_server: str) -> None:
    backend = make(llamacpp__server=llama_server)
    await events(backend, asking("tiny", "Hello!"))
    guard = engines_of(backend)[0].pid
    children = children_of(guard)
    os.kill(guard, signal.SIGKILL)
    await until_gone(guard, *children)


async def test_a_child_that_dies_before_it_speaks_is_told(
    require_engine: None, http: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = EngineSpec(path="/nowhere.gguf", name="m", context=64, threads=1)
    engine = await EngineProcess.of_our_engine(spec)
    os.kill(engine.pid, signal.SIGKILL)
    with pytest.raises(EngineFailed, match=r"died while it was loading 'm' \(signal SIGKILL\)"):
        await engine.ready(http, lambda _: None, Timeouts().first_byte)
