from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgate.backends import scripted
from callgate.backends.scripted import ScriptedBackend, make
from callgate.settings import Settings
from callgate.vocabulary import (
    AssistantDelta,
    BackendError,
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Message,
    ModelRef,
    NotFound,
    StreamCut,
    ToolCall,
    ToolCallEvent,
    ToolsRefused,
    Usage,
    UsageError,
)
from callgate.wire import HttpClient
from tests.vocabulary.strategies import json_values

HEADER = {"callgate_recording": 1, "model": "ollama:qwen3:8b", "backend": "ollama"}
REQUEST: dict[str, Any] = {"request": {"model": "m", "messages": []}}
QUESTION = ChatRequest(model="m", messages=(Message(role="user", content="hello"),))


def said(text: str, at: float = 0.0) -> dict[str, Any]:
    return {"at": at, "event": {"type": "assistant_delta", "data": {"text": text}}}


def done(at: float = 0.0) -> dict[str, Any]:
    return {"at": at, "event": {"type": "done", "data": {"reason": "stop"}}}


def written(folder: Path, *lines: object) -> str:
    path = folder / "r.jsonl"
    path.write_text("".join(f"{line if isinstance(line, str) else json.dumps(line)}\n" for line in lines))
    return str(path)


async def played(backend: ScriptedBackend) -> list[Event]:
    return [event async for event in backend.stream(QUESTION)]


async def test_the_next_request_gets_the_next_exchange_whatever_it_asks(tmp_path: Path) -> None:
    call = {"at": 0.1, "event": {"type": "tool_call", "data": {"id": "1", "name": "f", "args": {"a": 1}, "raw": "{}"}}}
    usage = {"at": 0.2, "event": {"type": "usage", "data": {"prompt_tokens": 3, "completion_tokens": None}}}
    backend = ScriptedBackend(written(tmp_path, HEADER, REQUEST, said("one"), done(), REQUEST, call, usage, done()))
    assert await played(backend) == [AssistantDelta("one"), Done("stop")]
    assert await played(backend) == [ToolCallEvent(ToolCall("1", "f", {"a": 1}, "{}")), Usage(3, None), Done("stop")]
    with pytest.raises(StreamCut, match="has 2 exchanges"):
        await played(backend)


async def test_two_at_once_get_an_exchange_each(tmp_path: Path) -> None:
    path = written(tmp_path, HEADER, REQUEST, said("a"), said("b"), done(), REQUEST, said("c"), done())
    backend = ScriptedBackend(path)
    first, second = backend.stream(QUESTION), backend.stream(QUESTION)
    order = [await anext(first), await anext(second), await anext(first), await anext(second), await anext(first)]
    assert order == [AssistantDelta("a"), AssistantDelta("c"), AssistantDelta("b"), Done("stop"), Done("stop")]


async def test_an_exchange_that_is_left_early_is_over(tmp_path: Path) -> None:
    backend = ScriptedBackend(written(tmp_path, HEADER, REQUEST, said("a"), said("b"), done(), REQUEST, done()))
    left = backend.stream(QUESTION)
    assert await anext(left) == AssistantDelta("a")
    await left.aclose()
    assert await played(backend) == [Done("stop")]


async def test_it_tells_the_model_that_was_recorded(tmp_path: Path) -> None:
    backend = ScriptedBackend(written(tmp_path, HEADER))
    assert await backend.models() == ["ollama:qwen3:8b"]
    assert (await backend.facts("whatever")).name == "ollama:qwen3:8b"
    await backend.close()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        ({"type": "ToolsRefused", "message": "no", "hint": "h"}, ToolsRefused),
        ({"type": "BadStatus", "message": "no", "status": 503}, BadStatus),
        ({"type": "BadStatus", "message": "no", "status": "x"}, BadStatus),
        ({"type": "SomethingNew", "message": "no"}, BackendError),
        ({"type": "SystemExit", "message": "no"}, BackendError),
    ],
)
async def test_what_was_raised_is_raised_again(tmp_path: Path, error: object, kind: type[CallgateError]) -> None:
    backend = ScriptedBackend(written(tmp_path, HEADER, REQUEST, said("a"), {"at": 1, "error": error}))
    stream = backend.stream(QUESTION)
    assert await anext(stream) == AssistantDelta("a")
    with pytest.raises(kind) as caught:
        await anext(stream)
    assert type(caught.value) is kind
    assert caught.value.message == "no"


@pytest.mark.parametrize("after", [[], [REQUEST, done()]])
async def test_an_exchange_without_an_end_is_a_stream_that_was_cut(tmp_path: Path, after: list[object]) -> None:
    backend = ScriptedBackend(written(tmp_path, HEADER, REQUEST, said("a"), *after))
    stream = backend.stream(QUESTION)
    await anext(stream)
    with pytest.raises(StreamCut, match="breaks off in exchange 1"):
        await anext(stream)


@pytest.mark.parametrize("timing", [False, True])
async def test_it_keeps_the_pace_only_when_asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, timing: bool) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(round(seconds))

    monkeypatch.setattr(asyncio, "sleep", sleep)
    path = written(tmp_path, HEADER, REQUEST, said("a", 5), said("b", 20), done(1e8))
    assert len(await played(ScriptedBackend(path, timing=timing))) == 3
    assert slept == ([5, 20, scripted.LONGEST_PAUSE] if timing else [])


async def test_the_ref_says_whether_to_keep_the_pace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, HEADER, REQUEST, done())
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    for name, times in ((path, 0), (f"{path}?timing=1", 1)):
        ref = ModelRef.parse(f"scripted:{name}")
        assert await played(make(ref, Settings(), HttpClient())) == [Done("stop")]
        assert len(slept) == times


def test_a_missing_recording_is_not_found(tmp_path: Path) -> None:
    for path in (tmp_path / "nope", tmp_path):
        with pytest.raises(NotFound, match="no recording"):
            ScriptedBackend(str(path))


@pytest.mark.parametrize(
    ("lines", "said_of_it"),
    [
        ([], "is no recording"),
        (["hello"], "line 1 .* is no JSON"),
        (["[1]"], "line 1 .* is no object"),
        ([{"request": {}}], "is no recording"),
        ([{"callgate_recording": 2, "model": "m"}], "line 1 .* is of version 2"),
        ([{"callgate_recording": True, "model": "m"}], "line 1 .* is of version True"),
        (["", {"callgate_recording": 1}], "line 2 .* names no model"),
        (["[" * 100_000], "line 1 .* is no JSON"),
        (["9" * 10_000], "line 1 .* is no JSON"),
        (['{"callgate_recording": 1e999'], "line 1 .* is no JSON"),
    ],
)
def test_what_is_no_recording_is_refused(tmp_path: Path, lines: list[object], said_of_it: str) -> None:
    with pytest.raises(UsageError, match=said_of_it):
        ScriptedBackend(written(tmp_path, *lines))


@pytest.mark.parametrize(
    ("line", "said_of_it"),
    [
        ("{", "line 4 .* is no JSON"),
        ("3", "line 4 .* is no object"),
        ({}, "line 4 .* has no time"),
        ({"at": -1, "event": {}}, "line 4 .* has no time"),
        ('{"at": NaN, "event": {}}', "line 4 .* has no time"),
        ({"at": True, "event": {}}, "line 4 .* has no time"),
        ({"at": 0}, "line 4 .* is no good: an event is an object"),
        ({"at": 0, "event": {"type": "surprise", "data": {}}}, "line 4 .* no event of type 'surprise'"),
        ({"at": 0, "error": "it broke"}, "line 4 .* has an error without"),
    ],
)
async def test_a_line_that_is_no_good_is_named(tmp_path: Path, line: object, said_of_it: str) -> None:
    backend = ScriptedBackend(written(tmp_path, HEADER, REQUEST, said("a"), line, done()))
    stream = backend.stream(QUESTION)
    await anext(stream)
    with pytest.raises(UsageError, match=said_of_it):
        await anext(stream)


def test_a_line_without_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scripted, "LONGEST_LINE", 1000)
    with pytest.raises(UsageError, match=r"line 1 .* is longer than"):
        ScriptedBackend(written(tmp_path, json.dumps(HEADER) + " " * 1000))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(json_values | st.fixed_dictionaries({"at": st.just(0), "event": json_values}), max_size=6))
async def test_any_recording_plays_or_fails_as_it_may(tmp_path: Path, lines: list[object]) -> None:
    backend = ScriptedBackend(written(tmp_path, HEADER, REQUEST, *lines))
    with pytest.raises((UsageError, StreamCut)):
        await played(backend)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300))
def test_any_bytes_are_a_recording_or_a_usage_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "r"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        ScriptedBackend(str(path))
