"""Plays a recording back as if a model were there: for bug reports, for tests, and as the control of a validation.

A recording is a text file of JSON objects, one a line:

    {"callgate_recording": 1, "model": "ollama:qwen3:8b", "backend": "ollama"}
    {"request": {"model": "qwen3:8b", "messages": [...], ...}}
    {"at": 0.41, "event": {"type": "assistant_delta", "data": {"text": "Hel"}}}
    {"at": 0.52, "error": {"type": "StreamCut", "message": "...", "hint": null}}

Each request starts an exchange; `at` counts its seconds. The first request that is made gets the first exchange, the
next one the next, whatever they ask for. `FILE?timing=1` keeps the pace of the recording.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, BinaryIO, NamedTuple

import msgspec

from callgate.backends.prompts import RenderedPrompt, WireRequest
from callgate.settings import Settings
from callgate.vocabulary import (
    BackendError,
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Facts,
    ModelRef,
    NotFound,
    StreamCut,
    UsageError,
    event_from_json,
)
from callgate.wire import HttpClient

VERSION = 1
LONGEST_LINE = 64 << 20
"""Bytes. A request with pictures in it is the longest of all."""
LONGEST_PAUSE = 300.0
"""Seconds. A recording may claim any time, and nobody waits for ever."""
_TIMED = "?timing=1"


def make(ref: ModelRef, settings: Settings, http: HttpClient) -> ScriptedBackend:  # noqa: ARG001
    """The backend of `scripted:FILE` or `scripted:FILE?timing=1`. Raises: as `ScriptedBackend` does."""
    timed = ref.name.endswith(_TIMED) and not os.path.exists(ref.name)
    return ScriptedBackend(ref.name.removesuffix(_TIMED) if timed else ref.name, timing=timed)


class ScriptedBackend:
    """One recording. What it holds is read when it is played, so that it may be long."""

    def __init__(self, path: str, *, timing: bool = False) -> None:
        """Raises: NotFound or UsageError, if there is no recording at `path`."""
        self._path = path
        self._timing = timing
        with self._open() as file:
            first = next(_lines(file, path), None)
            self.model = _model_of(first, path)
            self._last = _Start(file.tell(), first.number if first else 0, 0)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:  # noqa: ARG002
        """The next exchange, whatever is asked.

        Raises: what was raised when it was recorded; StreamCut, if there is no more; UsageError, if it is no good.
        """
        start = self._claim()
        started = time.monotonic()
        with self._open() as file:
            file.seek(start.offset)
            for line in _lines(file, self._path, start.number):
                if "request" in line.content:
                    break
                await self._wait(line, started)
                event = _played(line, self._path)
                yield event
                if isinstance(event, Done):
                    return
        raise StreamCut(f"the recording {self._path!r} breaks off in exchange {start.exchange}")

    async def wire(self, request: ChatRequest) -> WireRequest:
        """The request itself, as a recording has it: nobody gets it."""
        return WireRequest(f"scripted:{self._path}", msgspec.json.encode(request))

    async def rendered(self, request: ChatRequest, *, may_load: bool = False) -> RenderedPrompt | None:  # noqa: ARG002
        """No model, no prompt."""
        return None

    async def models(self) -> list[str]:
        return [self.model]

    async def facts(self, model: str) -> Facts:  # noqa: ARG002
        """What its name tells, for nothing else is known of a model that isn't there."""
        return Facts(name=self.model, at=time.time())

    async def close(self) -> None: ...

    def _claim(self) -> _Start:
        with self._open() as file:
            file.seek(self._last.offset)
            for line in _lines(file, self._path, self._last.number):
                if "request" in line.content:
                    self._last = _Start(file.tell(), line.number, self._last.exchange + 1)
                    return self._last
        raise StreamCut(
            f"the recording {self._path!r} has {self._last.exchange} exchanges, and one more was asked for",
            hint="record more of the conversation, or start anew",
        )

    async def _wait(self, line: _Line, started: float) -> None:
        if not self._timing:
            return
        import asyncio

        pause = _time_of(line, self._path) - (time.monotonic() - started)
        await asyncio.sleep(min(max(0.0, pause), LONGEST_PAUSE))

    def _open(self) -> BinaryIO:
        if not os.path.isfile(self._path):
            raise NotFound(f"there is no recording {self._path!r}", hint="`callgate ask --record FILE` makes one")
        try:
            return open(self._path, "rb")
        except OSError as error:
            raise UsageError(f"the recording {self._path!r} can't be read: {error.strerror}") from None


class _Start(NamedTuple):
    """Where an exchange starts: behind its request."""

    offset: int
    number: int
    """Of the request's line."""
    exchange: int


class _Line(NamedTuple):
    number: int
    content: Mapping[str, Any]


def _lines(file: BinaryIO, path: str, number: int = 0) -> Iterator[_Line]:
    """The objects from here on; `number` is that of the line before."""
    while text := file.readline(LONGEST_LINE + 1):
        number += 1
        if len(text) > LONGEST_LINE:
            raise _wrong(path, number, f"is longer than {LONGEST_LINE >> 20} MB")
        if not text.strip():
            continue
        try:
            content = json.loads(text)
        except (ValueError, RecursionError):
            raise _wrong(path, number, "is no JSON") from None
        if not isinstance(content, dict):
            raise _wrong(path, number, "is no object")
        yield _Line(number, content)


def _model_of(first: _Line | None, path: str) -> str:
    version = first.content.get("callgate_recording") if first else None
    if first is None or version is None:
        raise UsageError(f"{path!r} is no recording", hint="`callgate ask --record FILE` makes one")
    if version != VERSION or isinstance(version, bool):
        raise _wrong(path, first.number, f"is of version {version!r:.20}, and we know {VERSION}")
    model = first.content.get("model")
    if not isinstance(model, str):
        raise _wrong(path, first.number, "names no model")
    return model


def _played(line: _Line, path: str) -> Event:
    _time_of(line, path)
    if "error" in line.content:
        raise _recorded_error(line, path)
    try:
        return event_from_json(line.content.get("event"))
    except UsageError as error:
        raise UsageError(f"line {line.number} of {path!r} is no good: {error.message}", hint=error.hint) from None


def _time_of(line: _Line, path: str) -> float:
    at = line.content.get("at")
    if isinstance(at, bool) or not isinstance(at, int | float) or not 0 <= at < 1e9:
        raise _wrong(path, line.number, "has no time")
    return float(at)


def _recorded_error(line: _Line, path: str) -> CallgateError:
    match line.content["error"]:
        case {"type": str(name), "message": str(message), **more}:
            kind = _errors().get(name, BackendError)
            told, status = more.get("hint"), more.get("status")
            hint = told if isinstance(told, str) else None
            if kind is BadStatus:
                return BadStatus(message, status=status if isinstance(status, int) else 0, hint=hint)
            return kind(message, hint=hint)
    raise _wrong(path, line.number, "has an error without type or message")


def _errors() -> Mapping[str, type[CallgateError]]:
    """All there are, by name."""
    found: dict[str, type[CallgateError]] = {}
    left: list[type[CallgateError]] = [CallgateError]
    while left:
        kind = left.pop()
        if kind.__module__ == CallgateError.__module__:
            found[kind.__name__] = kind
            left += kind.__subclasses__()
    return found


def _wrong(path: str, number: int, what: str) -> UsageError:
    return UsageError(f"line {number} of the recording {path!r} {what}", hint="is it whole, and was it edited by hand?")
