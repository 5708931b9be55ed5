from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgate.backends.scripted import ScriptedBackend
from callgate.runtime.recording import Recorder
from callgate.vocabulary import (
    AssistantDelta,
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Image,
    Message,
    ModelRef,
    Tool,
    ToolCall,
    ToolCallEvent,
    UsageError,
)
from tests.vocabulary.strategies import endings, events

REF = ModelRef("ollama", "qwen3:8b")
REQUEST = ChatRequest(
    model="qwen3:8b",
    messages=(
        Message(role="system", content="my key is sk-abcdefghijklmnopqrstuv, keep it"),
        Message(role="user", content="what is this?", images=(Image(b"\x89PNG secret picture"),)),
        Message(role="assistant", calls=(ToolCall("1", "mail", {"to": "bob@example.org", "n": 12345}),)),
    ),
    tools=(Tool("mail", "sends mail"),),
    options={"temperature": 0},
    extra={"api_key": "k-1234567", "nested": {"Authorization": "Bearer abc", "max_tokens": 5}},
)


async def given_events(items: Sequence[Event], error: CallgateError | None = None) -> AsyncGenerator[Event, None]:
    for item in items:
        yield item
    if error:
        raise error


async def record(
    events: AsyncGenerator[Event, None], path: str, *, request: ChatRequest, ref: ModelRef, redact: bool = False
) -> AsyncGenerator[Event, None]:
    with Recorder(path, ref=ref, redact=redact) as recorder:
        async with aclosing(recorder.record(events, request)) as recorded:
            async for event in recorded:
                yield event


async def kept(
    path: Path, items: Sequence[Event], error: CallgateError | None = None, *, redact: bool = False
) -> list[Event]:
    stream = record(given_events(items, error), str(path), request=REQUEST, ref=REF, redact=redact)
    return [event async for event in stream]


async def played(path: Path) -> list[Event]:
    return [event async for event in ScriptedBackend(str(path)).stream(REQUEST)]


def objects(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("ascii").splitlines()]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(events(), max_size=6), endings)
async def test_what_was_recorded_plays_the_same(tmp_path: Path, items: list[Event], end: Done) -> None:
    path = tmp_path / "r"
    assert await kept(path, [*items, end]) == [*items, end]
    assert await played(path) == [*items, end]


async def test_letters_that_are_no_text_come_back_too(tmp_path: Path) -> None:
    items: list[Event] = [AssistantDelta("\ud800 é 🎈 \x9b"), Done("stop")]
    await kept(tmp_path / "r", items)
    assert await played(tmp_path / "r") == items


async def test_the_header_names_model_and_backend(tmp_path: Path) -> None:
    await kept(tmp_path / "r", [Done("stop")])
    header, request, done = objects(tmp_path / "r")
    assert header == {"callgate_recording": 1, "model": "ollama:qwen3:8b", "backend": "ollama"}
    assert request["request"]["messages"][1]["content"] == "what is this?"
    assert done["event"] == {"type": "done", "data": {"reason": "stop"}}
    assert 0 <= done["at"] < 60


async def test_a_servers_address_stays_out(tmp_path: Path) -> None:
    ref = ModelRef("openai", "m", "https://user:hunter22@host/v1")
    async for _ in record(given_events([Done("stop")]), str(tmp_path / "r"), request=REQUEST, ref=ref):
        pass
    assert "hunter22" not in (tmp_path / "r").read_text()
    assert objects(tmp_path / "r")[0]["model"] == "m"


async def test_keys_never_get_in(tmp_path: Path) -> None:
    await kept(tmp_path / "r", [Done("stop")])
    extra = objects(tmp_path / "r")[1]["request"]["extra"]
    assert extra == {"api_key": "x", "nested": {"Authorization": "x", "max_tokens": 5}}


async def test_each_event_is_on_disk_before_it_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "r"
    stream = record(given_events([AssistantDelta("a"), Done("stop")]), str(path), request=REQUEST, ref=REF)
    await anext(stream)
    assert objects(path)[-1]["event"] == {"type": "assistant_delta", "data": {"text": "a"}}
    await stream.aclose()
    assert objects(path)[-1]["event"] == {"type": "done", "data": {"reason": "cancelled"}}


async def test_an_error_is_kept_and_raised(tmp_path: Path) -> None:
    error = BadStatus("it answered with 503", status=503, hint="wait", body="the key is sk-abcdefghijklmnopqrstuv")
    with pytest.raises(BadStatus):
        await kept(tmp_path / "r", [AssistantDelta("a")], error)
    with pytest.raises(BadStatus) as caught:
        await played(tmp_path / "r")
    assert (caught.value.message, caught.value.status, caught.value.hint) == ("it answered with 503", 503, "wait")
    assert "sk-" not in json.dumps(objects(tmp_path / "r")[-1])


async def test_one_recording_holds_many_exchanges(tmp_path: Path) -> None:
    path = tmp_path / "r"
    with Recorder(str(path), ref=REF) as recorder:
        for word in ("one", "two"):
            async for _ in recorder.record(given_events([AssistantDelta(word), Done("stop")]), REQUEST):
                pass
    backend = ScriptedBackend(str(path))
    for word in ("one", "two"):
        assert [event async for event in backend.stream(REQUEST)] == [AssistantDelta(word), Done("stop")]


def test_a_file_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be written"):
        Recorder(str(tmp_path / "no" / "such"), ref=REF)


@pytest.mark.parametrize("redact", [False, True])
async def test_whoever_asks_sees_everything_whatever_is_kept(tmp_path: Path, redact: bool) -> None:
    items: list[Event] = [AssistantDelta("token hf_abcdefghijklmnopqrst"), Done("stop")]
    assert await kept(tmp_path / "r", items, redact=redact) == items


async def test_redacted_arguments_pictures_and_secrets_are_gone_and_lengths_stay(tmp_path: Path) -> None:
    path = tmp_path / "r"
    items: list[Event] = [
        AssistantDelta("the key is sk-abcdef"),
        AssistantDelta("ghijklmnopqrstuv!"),
        ToolCallEvent(ToolCall("1", "mail", {"to": "eve@example.org", "n": -77}, raw='{"to": "eve@example.org"}')),
        Done("tool_calls"),
    ]
    await kept(path, items, redact=True)
    text = path.read_text()
    for secret in ("sk-abcdef", "ghijklm", "eve@", "bob@", "12345", "-77", "secret picture"):
        assert secret not in text
    assert await played(path) == [
        AssistantDelta("the key is xxxxxxxxx"),
        AssistantDelta("xxxxxxxxxxxxxxxx!"),
        ToolCallEvent(ToolCall("1", "mail", {"to": "xxx@xxxxxxx.xxx", "n": -11}, raw='{"xx": "xxx@xxxxxxx.xxx"}')),
        Done("tool_calls"),
    ]
    asked = objects(path)[1]["request"]["messages"]
    assert asked[0]["content"] == "my key is xxxxxxxxxxxxxxxxxxxxxxxxx, keep it"
    assert asked[2]["calls"][0]["arguments"] == {"to": "xxx@xxxxxxx.xxx", "n": 11111}


async def test_a_redacted_exchange_that_breaks_off_is_kept(tmp_path: Path) -> None:
    error = CallgateError("it sent password=hunter22 back")
    with pytest.raises(CallgateError):
        await kept(tmp_path / "r", [AssistantDelta("a")], error, redact=True)
    *_, said, failed = objects(tmp_path / "r")
    assert said["event"]["data"] == {"text": "a"}
    assert failed["error"]["message"] == "it sent password=xxxxxxxx back"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(events(), max_size=6), endings)
async def test_a_redacted_recording_plays_as_many_events_of_the_same_kinds(
    tmp_path: Path, items: list[Event], end: Done
) -> None:
    await kept(tmp_path / "r", [*items, end], redact=True)
    assert [type(event) for event in await played(tmp_path / "r")] == [type(event) for event in [*items, end]]
