from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from callgate.runtime import Session, probe_live
from callgate.settings import load_settings
from callgate.vocabulary import (
    Answer,
    AssistantDelta,
    ChatRequest,
    Done,
    Event,
    Facts,
    Message,
    ModelRef,
    ModelRejected,
    Notice,
    StreamFailed,
    Tool,
    ToolCall,
    ToolCallEvent,
    ToolsRefused,
    Unreachable,
)
from tests.runtime.played import WITHOUT, PlayedOllama
from tests.wire.server import serving

REF = ModelRef("played", "m")
ASKED = ChatRequest(
    model="m", messages=(Message(role="user", content="hello"),), tools=(Tool("now"),), tool_choice="auto"
)
HELLO: list[Event] = [AssistantDelta("hello"), Done("stop")]


class Played:
    """A backend that does what a test wants it to do."""

    def __init__(self, *, with_tools: list[Event] | Exception, plain: list[Event] | Exception) -> None:
        self.asked: list[ChatRequest] = []
        self._with_tools = with_tools
        self._plain = plain

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        self.asked.append(request)
        script = self._with_tools if request.tools else self._plain
        if isinstance(script, Exception):
            raise script
        for event in script:
            yield event

    async def models(self) -> list[str]:
        return ["m"]

    async def facts(self, model: str) -> Facts:
        return Facts(name=model)

    async def close(self) -> None: ...


def session_with(backend: Played, monkeypatch: pytest.MonkeyPatch) -> Session:
    monkeypatch.setattr("callgate.runtime.session.backend_for", lambda *_: backend)
    return Session()


async def events_of(session: Session, request: ChatRequest = ASKED) -> list[Event]:
    async with aclosing(session.turn(REF, request)) as events:
        return [event async for event in events]


async def test_a_turn_gives_what_the_backend_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    call: list[Event] = [ToolCallEvent(ToolCall("1", "now", {})), Done("tool_calls")]
    backend = Played(with_tools=call, plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        assert await events_of(session) == call
    assert backend.asked == [ASKED]


async def test_refused_tools_are_tried_once_a_session_and_then_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=ToolsRefused("m takes no tools"), plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        for _ in range(3):
            notice, *rest = await events_of(session)
            assert isinstance(notice, Notice)
            assert (notice.kind, "m takes no tools" in notice.message) == ("tools_refused", True)
            assert rest == HELLO
    assert [bool(request.tools) for request in backend.asked] == [True, False, False, False]
    assert backend.asked[1].tool_choice is None


async def test_if_the_retry_fails_too_the_first_error_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=ToolsRefused("m takes no tools"), plain=Unreachable("it is gone"))
    async with session_with(backend, monkeypatch) as session:
        with pytest.raises(ToolsRefused):
            await events_of(session)
        with pytest.raises(Unreachable):
            await events_of(session)


async def test_another_failure_is_not_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=StreamFailed("out of memory"), plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        with pytest.raises(StreamFailed):
            await events_of(session)
    assert len(backend.asked) == 1


RIGHT = ToolCallEvent(ToolCall("1", "get_weather", {"city": "lisbon "}))
WRONG_NAME = ToolCallEvent(ToolCall("1", "weather", {"city": "Lisbon"}))
WRONG_ARGUMENT = ToolCallEvent(ToolCall("1", "get_weather", {"city": "Porto"}))
NO_ARGUMENTS = ToolCallEvent(ToolCall("1", "get_weather", "{"))


@pytest.mark.parametrize(
    ("with_tools", "expected"),
    [
        ([RIGHT, Done("tool_calls")], {"tools": Answer.YES, "native_route": Answer.YES}),
        ([WRONG_NAME, Done("tool_calls")], {"tools": Answer.UNKNOWN}),
        ([WRONG_ARGUMENT, Done("tool_calls")], {"tools": Answer.UNKNOWN}),
        ([NO_ARGUMENTS, Done("tool_calls")], {"tools": Answer.UNKNOWN}),
        (HELLO, {"tools": Answer.UNKNOWN}),
        ([], {"tools": Answer.UNKNOWN}),
        (ToolsRefused("no tools"), {"native_route": Answer.NO}),
        (StreamFailed("broken"), {"tools": Answer.UNKNOWN}),
    ],
)
async def test_only_a_right_call_proves_anything(
    with_tools: list[Event] | Exception, expected: dict[str, Answer], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = Played(with_tools=with_tools, plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        found = await probe_live(session, REF, patience=5.0)
    assert {evidence.claim: evidence.answer for evidence in found} == expected
    assert not backend.asked[0].tools, "the model is loaded first, by a plain question"


async def test_a_model_that_never_answers_the_probe_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    class Silent(Played):
        async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
            if request.tools:
                await asyncio.Event().wait()
            yield Done("stop")

    async with session_with(Silent(with_tools=[], plain=[]), monkeypatch) as session:
        (found,) = await probe_live(session, REF, patience=0.01)
    assert found.answer == Answer.UNKNOWN


async def test_where_tools_are_required_they_are_at_every_door() -> None:
    ollama = PlayedOllama(plain=WITHOUT)
    async with serving(*ollama.routes) as url:
        required = load_settings({"ollama.host": url, "models.require_tools": True}, environ={})
        async with Session(required) as session:
            with pytest.raises(ModelRejected, match="supports_tools=false"):
                await anext(session.turn(ModelRef("ollama", "plain"), ASKED))
    assert ollama.asked["/api/chat"] == 0


async def test_our_engine_is_given_no_tools_that_a_model_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=[ToolCallEvent(ToolCall("1", "now", {})), Done("tool_calls")], plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        notice, *rest = [event async for event in session.turn(ModelRef("tiny-plain", "tiny-plain"), ASKED)]
    assert isinstance(notice, Notice)
    assert (notice.kind, "has no tools" in notice.message) == ("tools_unsupported", True)
    assert rest == HELLO
    assert [bool(request.tools) for request in backend.asked] == [False]
