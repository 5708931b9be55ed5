from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec
import pytest

from callgate.runtime import Session, probe_live
from callgate.settings import load_settings
from callgate.vocabulary import (
    Answer,
    AssistantDelta,
    BadSchema,
    BadStatus,
    CallgateError,
    CallNotParsed,
    ChatRequest,
    Done,
    Event,
    Facts,
    Image,
    Means,
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
from tests.detect.template.samples import SAMPLES
from tests.runtime.played import WITHOUT, PlayedOllama
from tests.wire.server import serving

REF = ModelRef("played", "m")
ASKED = ChatRequest(
    model="m", messages=(Message(role="user", content="hello"),), tools=(Tool("now"),), tool_choice="auto"
)
HELLO: list[Event] = [AssistantDelta("hello"), Done("stop")]


class Played:
    """A backend that does what a test wants it to do."""

    def __init__(
        self,
        *,
        with_tools: list[Event] | Exception,
        plain: list[Event] | Exception,
        template: str | None = SAMPLES["tools and calls"].source,
    ) -> None:
        self.asked: list[ChatRequest] = []
        self._template = template
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
        return Facts(name=model, templates={"default": self._template} if self._template else None)

    async def close(self) -> None: ...


def session_with(backend: Played, monkeypatch: pytest.MonkeyPatch, **settings: object) -> Session:
    for place in ("session", "looks"):
        monkeypatch.setattr(f"callgate.runtime.{place}.backend_for", lambda *_: backend)
    overrides = {key.replace("__", "."): value for key, value in settings.items()}
    return Session(load_settings(overrides, environ={}))


async def events_of(session: Session, request: ChatRequest = ASKED) -> list[Event]:
    async with aclosing(session.turn(REF, request)) as events:
        return [event async for event in events]


async def test_a_turn_gives_what_the_backend_gives(monkeypatch: pytest.MonkeyPatch) -> None:
    call: list[Event] = [ToolCallEvent(ToolCall("1", "now", {}, "{}")), Done("tool_calls")]
    backend = Played(with_tools=call, plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        assert await events_of(session) == call
    assert [request.tools for request in backend.asked] == [ASKED.tools]


async def test_without_tools_the_request_is_a_plain_one(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=[], plain=HELLO)
    plain = ChatRequest(model="m", messages=ASKED.messages)
    async with session_with(backend, monkeypatch) as session:
        assert await events_of(session, plain) == HELLO
    assert backend.asked == [plain]


async def test_refused_tools_are_tried_once_a_session_and_then_emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=ToolsRefused("m takes no tools"), plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        for _ in range(3):
            notice, *rest = await events_of(session)
            assert isinstance(notice, Notice)
            assert (notice.kind, "m takes no tools" in notice.message) == ("tools_emulated", True)
            assert rest == HELLO
    assert [bool(request.tools) for request in backend.asked] == [True, False, False, False]
    assert "now" in backend.asked[1].messages[0].content, "the tool is described instead"


async def test_another_strategy_holds_from_the_next_turn_on(monkeypatch: pytest.MonkeyPatch) -> None:
    async with session_with(Played(with_tools=HELLO, plain=HELLO), monkeypatch) as session:
        modes = [(await session.plan(REF, ASKED)).mode]
        session.strategies[REF] = "off"
        modes.append((await session.plan(REF, ASKED)).mode)
        del session.strategies[REF]
        modes.append((await session.plan(REF, ASKED)).mode)
    assert modes == ["native", "off", "native"]


async def test_where_it_is_wanted_refused_tools_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=ToolsRefused("m takes no tools"), plain=HELLO, template=None)
    wanted = {"tools__strategy": "native", "tools__unsupported_in_library": "off"}
    async with session_with(backend, monkeypatch, **wanted) as session:
        notice, *rest = await events_of(session)
    assert isinstance(notice, Notice)
    assert (notice.kind, "m takes no tools" in notice.message) == ("tools_off", True)
    assert rest == HELLO
    told = backend.asked[1].messages[0]
    assert (told.role, "off" in told.content) == ("system", True)
    assert backend.asked[1].tool_choice is None


async def test_the_next_turn_after_tools_are_back_says_nothing_of_their_absence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = Played(with_tools=HELLO, plain=HELLO)
    async with session_with(backend, monkeypatch, tools__strategy="off") as session:
        await events_of(session)
    async with session_with(backend, monkeypatch) as session:
        await events_of(session)
    assert ["off" in request.messages[0].content for request in backend.asked] == [True, False]


async def test_a_call_that_its_server_could_not_read_is_tried_in_the_next_way(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=CallNotParsed("the call couldn't be read"), plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        for _ in range(2):
            notice, *rest = await events_of(session)
            assert isinstance(notice, Notice)
            assert notice.kind == "tools_emulated"
            assert rest == HELLO
    assert [bool(request.tools) for request in backend.asked] == [True, False] * 2, "it was bad luck, not a refusal"


class TalksFirst(Played):
    """A server that takes `required`, and lets the model talk all the same."""

    def __init__(self, said: list[Event]) -> None:
        super().__init__(
            with_tools=said, plain=[AssistantDelta('{"calls":[{"name":"now","parameters":{}}]}'), Done("stop")]
        )

    def means(self, model: str) -> Means:  # noqa: ARG002
        return Means(tool_choice=True, schema=True)


OWED = msgspec.structs.replace(ASKED, tool_choice="required")


@pytest.mark.parametrize("said", [HELLO, [AssistantDelta("la " * 9) for _ in range(999)]])
async def test_a_model_that_talks_where_it_must_call_is_held_to_a_call(
    said: list[Event], monkeypatch: pytest.MonkeyPatch
) -> None:
    backend = TalksFirst(said)
    async with session_with(backend, monkeypatch) as session:
        notice, *rest = await events_of(session, OWED)
    assert isinstance(notice, Notice)
    assert notice.kind == "tools_emulated"
    assert [event.call.name for event in rest if isinstance(event, ToolCallEvent)] == ["now"]
    assert not [event for event in rest if isinstance(event, AssistantDelta)]
    assert [request.tool_choice for request in backend.asked] == ["required", None]


async def test_words_before_a_call_that_must_come_are_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[Event] = [
        AssistantDelta("let me see"),
        ToolCallEvent(ToolCall("1", "now", {}, "{}")),
        Done("tool_calls"),
    ]
    async with session_with(TalksFirst(said), monkeypatch) as session:
        assert await events_of(session, OWED) == said


async def test_who_wants_tools_to_go_through_gets_what_the_model_says(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = TalksFirst(HELLO)
    async with session_with(backend, monkeypatch, tools__strategy="native") as session:
        events = await events_of(session, OWED)
    assert [event for event in events if not isinstance(event, Notice)] == HELLO
    assert len(backend.asked) == 1


async def test_a_server_that_takes_no_schema_is_asked_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = HeldToNothing(BadSchema("no schema here"))
    async with session_with(backend, monkeypatch, tools__strategy="emulate") as session:
        assert (await events_of(session))[1:] == HELLO
        assert (await events_of(session))[1:] == HELLO
    assert [request.schema is not None for request in backend.asked] == [True, False, False]


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


@pytest.mark.parametrize(
    ("said", "words", "notices"), [("so <tool_ca", "so <tool_ca", []), ('so <tool_call>{"na', "so ", ["call_cut_off"])]
)
async def test_what_was_held_back_is_given_out_before_an_error_but_for_half_a_call(
    said: str, words: str, notices: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    class Breaks(Played):
        async def stream(self, _: ChatRequest) -> AsyncGenerator[Event, None]:
            yield AssistantDelta(said)
            raise StreamFailed("broken")

    heard: list[Event] = []

    async def listen() -> None:
        async for event in session.turn(REF, ASKED):
            heard.append(event)  # noqa: PERF401 - what came before the error counts

    async with session_with(Breaks(with_tools=[], plain=[]), monkeypatch) as session:
        with pytest.raises(StreamFailed):
            await listen()
    assert "".join(event.text for event in heard if isinstance(event, AssistantDelta)) == words
    assert [event.kind for event in heard if isinstance(event, Notice)] == notices


async def test_what_a_turn_showed_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[ModelRef, str]] = []
    text = AssistantDelta('<tool_call>{"name": "now", "arguments": {}}</tool_call>')
    backend = Played(with_tools=[text, Done("stop")], plain=HELLO)
    async with session_with(backend, monkeypatch) as session:
        session.on_observation = lambda ref, observation: seen.append((ref, observation.kind))
        events = await events_of(session)
    assert [type(event) for event in events] == [ToolCallEvent, Done]
    assert seen == [(REF, "text_call")]


async def test_each_decision_is_logged_with_its_reason(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    backend = Played(with_tools=HELLO, plain=HELLO)
    with caplog.at_level("INFO", "callgate"):
        async with session_with(backend, monkeypatch, tools__per_model="other=native, m=off") as session:
            await events_of(session)
    assert "tools for 'm': off, because tools are switched off" in caplog.text


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
    assert (notice.kind, "has no tools" in notice.message) == ("tools_emulated", True)
    assert rest == HELLO
    assert [bool(request.tools) for request in backend.asked] == [False]


class HeldToNothing(Played):
    """A server that answers with an error while a schema is in the request."""

    def __init__(self, failure: CallgateError) -> None:
        super().__init__(with_tools=HELLO, plain=HELLO)
        self._failure = failure

    def means(self, _: str) -> Means:
        return Means(schema=True)

    async def stream(self, request: ChatRequest) -> AsyncGenerator[Event, None]:
        self.asked.append(request)
        if request.schema:
            raise self._failure
        for event in HELLO:
            yield event


async def test_a_request_that_is_too_long_is_no_reason_to_hold_a_model_to_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = HeldToNothing(BadStatus("too long", status=400, body="the request exceeds the context size"))
    async with session_with(backend, monkeypatch, tools__strategy="emulate") as session:
        for _ in range(2):
            with pytest.raises(BadStatus):
                await events_of(session)
    assert all(request.schema for request in backend.asked)
    assert len(backend.asked) == 2


async def test_where_nothing_holds_a_model_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = HeldToNothing(BadStatus("no", status=422, body="unknown field response_format"))
    async with session_with(backend, monkeypatch, tools__strategy="emulate") as session:
        notice, *rest = await events_of(session)
    assert isinstance(notice, Notice)
    assert "nothing holds the model" in notice.message
    assert rest == HELLO


async def test_our_engine_sees_no_pictures_without_a_projector(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = Played(with_tools=HELLO, plain=HELLO)
    picture = ChatRequest(model="m", messages=(Message(role="user", content="What is it?", images=(Image(b"x"),)),))
    async with session_with(backend, monkeypatch) as session:
        notice, *_ = [event async for event in session.turn(ModelRef("tiny", "tiny"), picture)]
    assert isinstance(notice, Notice)
    assert notice.kind == "images_left_out"
    assert not backend.asked[0].messages[0].images
