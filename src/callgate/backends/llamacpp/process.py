"""One child of ours that runs one model, from its start to its end."""

from __future__ import annotations

import asyncio
import os
import secrets
import signal
import sys
import time
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable
from contextlib import suppress

import msgspec

from callgate.backends.llamacpp.complaints import Complaints
from callgate.backends.llamacpp.spec import EngineSpec, Order, Report
from callgate.settings import Secret
from callgate.vocabulary import BackendError, EngineFailed, UsageError
from callgate.wire import HttpClient

PATIENCE = 1.0
"""Seconds that a child has to end when it is asked to."""
PROGRESS_SECONDS = 0.5
HEALTH_SECONDS = 5.0
_PAUSES = (0.02, 0.5)


class EngineProcess:
    """A child that serves one model on loopback, to those who know its key."""

    def __init__(self, name: str, process: Process, key: str) -> None:
        self.name = name
        self.key = Secret(key)
        self.url = ""
        self._process = process
        self._complaints = Complaints()
        self._listening = asyncio.create_task(self._listen())

    @classmethod
    async def of_our_engine(cls, spec: EngineSpec) -> EngineProcess:
        """A child with llama.cpp in it, which loads the model as it starts. Raises: EngineFailed."""
        order = Order(spec, secrets.token_hex(16), os.getpid())
        process = await _started("callgate.backends.llamacpp.child", "main()", reports=PIPE)
        assert process.stdin
        with suppress(ConnectionError):  # a child that died at once is noticed when it is waited for
            process.stdin.write(msgspec.json.encode(order) + b"\n")
            await process.stdin.drain()
        return cls(spec.name, process, order.key)

    @classmethod
    async def of_a_server(cls, server: str, spec: EngineSpec) -> EngineProcess:
        """A llama-server of the user's. Raises: EngineFailed."""
        port, key = _free_port(), secrets.token_hex(16)
        command = [server, *flags_for(spec), "--host", "127.0.0.1", "--port", str(port)]
        # The key goes by the environment: everybody on this machine can read a command line.
        process = await _started(
            "callgate.backends.llamacpp.guard", f"main({os.getpid()}, {command!r})", LLAMA_API_KEY=key
        )
        engine = cls(spec.name, process, key)
        engine.url = f"http://127.0.0.1:{port}"
        return engine

    @property
    def is_alive(self) -> bool:
        return self._process.returncode is None

    @property
    def pid(self) -> int:
        return self._process.pid

    async def ready(self, http: HttpClient, told: Callable[[float], None], limit: float | None) -> None:
        """Waits until the model is loaded; `told` hears now and then how many seconds that has taken.

        Raises: EngineFailed, if it can't be loaded, or not within `limit` seconds. The child is gone then.
        """
        start = time.monotonic()
        waiting = asyncio.create_task(self._healthy(http) if self.url else self._reported())
        is_loaded = False
        try:
            async with asyncio.timeout(limit):
                while not waiting.done():
                    told(time.monotonic() - start)
                    await asyncio.wait([waiting], timeout=PROGRESS_SECONDS)
                await waiting
            is_loaded = True
        except TimeoutError:
            raise EngineFailed(
                f"{self.name!r} isn't loaded after {limit:g} s",
                hint="the setting `timeouts.first_byte` says how long it may take",
            ) from None
        finally:
            if not is_loaded:
                waiting.cancel()
                await self.stop()

    async def stop(self) -> None:
        """Asks the child to end, and ends it if it takes too long."""
        if self._process.stdin:
            self._process.stdin.close()  # which is how it is asked
        try:
            async with asyncio.timeout(PATIENCE):
                await self._process.wait()
        except TimeoutError:
            pass
        finally:
            with suppress(ProcessLookupError):
                self._process.kill()
        await self._process.wait()
        await self._listening

    async def ends_within(self, seconds: float) -> bool:
        """Has the child ended, or is it about to?"""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._process.wait()
        return not self.is_alive

    async def answers(self, http: HttpClient) -> bool:
        """Is it more than a process? Its HTTP server answers also while it computes."""
        try:
            await http.get_json(f"{self.url}/health", timeout=HEALTH_SECONDS)
        except BackendError:
            return False
        return True

    async def failure(self) -> EngineFailed:
        """Why the child has ended."""
        status = await self._process.wait()
        await self._listening
        reason = self._complaints.reason()
        how = f"signal {_signal_name(-status)}" if status < 0 else f"status {status}"
        doing = "was running" if self.url else "was loading"
        return EngineFailed(
            f"the engine died while it {doing} {self.name!r} ({how}){f': {reason}' if reason else ''}",
            hint=self._complaints.hint(),
        )

    async def _reported(self) -> None:
        assert self._process.stdout
        line = await self._process.stdout.readline()
        if not line:
            raise await self.failure()
        report = msgspec.json.decode(line, type=Report)
        if report.url is None:
            await self._process.wait()
            await self._listening
            if report.error:
                raise EngineFailed(
                    f"llama.cpp can't load {self.name!r}: {report.error}", hint="see [llamacpp] in the settings"
                )
            reason = self._complaints.reason()
            raise EngineFailed(f"llama.cpp can't load {self.name!r}: {reason}", hint=self._complaints.hint())
        self.url = report.url

    async def _healthy(self, http: HttpClient) -> None:
        pause, longest = _PAUSES
        while self.is_alive:
            if await self.answers(http):
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)
        await self._process.wait()
        await self._listening
        reason = self._complaints.reason()
        raise EngineFailed(f"llama-server can't load {self.name!r}: {reason}", hint=self._complaints.hint())

    async def _listen(self) -> None:
        assert self._process.stderr
        while True:
            try:
                line = await self._process.stderr.readline()
            except ValueError:  # a line that is too long, and dropped by asyncio
                continue
            if not line:
                return
            self._complaints.add(line)


def flags_for(spec: EngineSpec) -> list[str]:
    """The model and its options, as llama-server takes them."""
    flags = ["--model", spec.path, "--alias", spec.name, "-c", str(spec.context), "-np", "1", "--jinja"]
    flags += ["-t", str(spec.threads)]
    if spec.template is not None:
        flags += ["--chat-template", spec.template]
    if spec.gpu_layers is not None:
        flags += ["-ngl", str(spec.gpu_layers)]
    if spec.flash_attention is not None:
        flags += ["--flash-attn", "on" if spec.flash_attention else "off"]
    if spec.kv_type is not None:
        flags += ["--cache-type-k", spec.kv_type, "--cache-type-v", spec.kv_type]
    if spec.projector is not None:
        flags += ["--mmproj", spec.projector]
    if spec.embedding:
        flags += ["--embedding", "-b", str(spec.context), "-ub", str(spec.context)]
    if spec.pooling is not None:
        flags += ["--pooling", spec.pooling]
    return flags


async def _started(module: str, call: str, *, reports: int = DEVNULL, **environ: str) -> Process:
    code = f"import sys; sys.path[:] = {list(filter(None, sys.path))!r}; from {module} import main; {call}"
    try:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", "-c", code),
            stdin=PIPE,
            stdout=reports,
            stderr=PIPE,
            env={**os.environ, **environ},
            start_new_session=True,  # keys pressed in a terminal are for us
        )
    except OSError as error:
        raise EngineFailed(f"no process can be started for the engine: {error.strerror}") from None


def _free_port() -> int:
    import socket

    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)


def require_engine(server: str | None) -> None:
    """Raises: UsageError, if there is nothing that could run a model."""
    if server is not None:
        if not os.access(server, os.X_OK) or os.path.isdir(server):
            raise UsageError(f"there is no program {server!r}", hint="see the setting `llamacpp.server`")
        return
    from importlib.util import find_spec

    if find_spec("xllamacpp") is None:
        raise UsageError("no engine is installed that runs GGUF files", hint="pip install 'callgate[llamacpp]'")
