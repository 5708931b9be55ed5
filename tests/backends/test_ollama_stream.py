import asyncio
import json
from contextlib import aclosing

import pytest
from aiohttp import web

from callgate.backends import OllamaBackend, backend_for
from callgate.settings import load_settings
from callgate.vocabulary import (
    AssistantDelta,
    BackendError,
    BadAnswer,
    BadSchema,
    BadStatus,
    CallgateError,
    CallNotParsed,
    CannotChat,
    CannotThink,
    Done,
    Event,
    ModelRef,
    NotFound,
    Notice,
    StreamCut,
    StreamFailed,
    ThinkingDelta,
    ToolCallEvent,
    ToolsRefused,
    Unreachable,
    Usage,
    UsageError,
)
from callgate.wire import HttpClient, Patience
from tests.backends.played_ollama import WEATHER, PlayedOllama, asking, call, end, events_of, heard, line

NOBODY = "http://127.0.0.1:1"


def kinds(events: list[Event]) -> list[str]:
    return [type(event).__name__ for event in events]


async def raised(ollama: PlayedOllama, **more: object) -> tuple[CallgateError, list[Event]]:
    """What a turn raises, and the events before it."""
    seen: list[Event] = []

    async def turn() -> None:
        async with ollama.backend() as backend, aclosing(backend.stream(asking(**more))) as events:
            async for event in events:
                seen.append(event)  # noqa: PERF401 - what came before an error counts

    with pytest.raises(CallgateError) as caught:
        await turn()
    return caught.value, seen


# What is answered


async def test_text_comes_piece_by_piece_then_usage_then_the_end() -> None:
    events = await heard(PlayedOllama(line(content="Hel"), line(content="lo"), end()))
    assert events == [AssistantDelta("Hel"), AssistantDelta("lo"), Usage(9, 2), Done("stop")]


async def test_thinking_text_and_calls_come_in_the_order_in_which_they_happened() -> None:
    pieces = [
        line(thinking="Hm"),
        line(content="Let me look."),
        line(content="And", tool_calls=[call(city="Paris"), call(city="Rome")]),
        line(content="so"),
        end(tool_calls=[call(city="Oslo")]),
    ]
    events = await heard(PlayedOllama(*pieces), asking(tools=(WEATHER,)))
    deltas = ["ThinkingDelta", "AssistantDelta", "AssistantDelta", "ToolCallEvent", "ToolCallEvent", "AssistantDelta"]
    assert kinds(events) == [*deltas, "ToolCallEvent", "Usage", "Done"]
    assert events[0] == ThinkingDelta("Hm")
    calls = [event.call for event in events if isinstance(event, ToolCallEvent)]
    assert [each.arguments for each in calls] == [{"city": "Paris"}, {"city": "Rome"}, {"city": "Oslo"}]
    assert len({each.id for each in calls}) == 3
    assert events[-1] == Done("tool_calls")


async def test_an_answer_that_does_not_stream_gives_the_same_events() -> None:
    ollama = PlayedOllama(end(content="Hi", thinking="Hm").rstrip())
    events = await heard(ollama, asking(stream=False))
    assert events == [ThinkingDelta("Hm"), AssistantDelta("Hi"), Usage(9, 2), Done("stop")]
    assert ollama.last["stream"] is False


@pytest.mark.parametrize(
    ("last", "reason"),
    [
        (end("length"), "length"),
        (end("length", tool_calls=[call()]), "length"),
        (end("stop", tool_calls=[call()]), "tool_calls"),
        (end("load"), "stop"),
        (end("unload"), "stop"),
        (line(done=True), "stop"),
    ],
)
async def test_how_it_ended_is_said_once_and_last(last: bytes, reason: str) -> None:
    events = await heard(PlayedOllama(last, line(content="after the end"), last))
    assert events[-1] == Done(reason)  # type: ignore[arg-type]
    assert kinds(events).count("Done") == 1
    assert AssistantDelta("after the end") not in events


async def test_one_connection_serves_turn_after_turn() -> None:
    ports = set()

    async def note(request: web.Request, response: web.StreamResponse) -> None:
        assert request.transport is not None
        ports.add(request.transport.get_extra_info("peername")[1])

    async with PlayedOllama(line(content="a"), end(), talk=note).backend() as backend:
        for _ in range(5):
            await events_of(backend, asking())
    assert len(ports) == 1


async def test_leaving_the_stream_closes_the_connection() -> None:
    left = asyncio.Event()

    async def endless(request: web.Request, response: web.StreamResponse) -> None:
        try:
            while True:
                await response.write(line(content="on and on"))
                await asyncio.sleep(0)
        finally:
            left.set()

    async with PlayedOllama(talk=endless).backend() as backend:
        events = backend.stream(asking())
        assert await anext(events) == AssistantDelta("on and on")
        await events.aclose()
        await asyncio.wait_for(left.wait(), 10)


# What goes wrong


@pytest.mark.parametrize(
    ("status", "said", "error"),
    [
        (400, '{"error":"registry.ollama.ai/library/m:latest does not support tools"}', ToolsRefused),
        (400, '{"error":"\\"m\\" does not support thinking"}', CannotThink),
        (400, '{"error":"\\"m\\" does not support chat"}', CannotChat),
        (400, '{"error":"json: cannot unmarshal number into Go struct field .tools of type x"}', BadSchema),
        (500, '{"error":"error parsing tool call: raw=\'{\\"city\\": \\"Paris\', err=unexpected end"}', CallNotParsed),
        (404, '{"error":"model \'m\' not found"}', NotFound),
        (404, "404 page not found", BadStatus),
        (500, '{"error":"model requires more system memory (5.6 GiB) than is available (3.1 GiB)"}', BadStatus),
        (500, "", BadStatus),
        (503, '{"error":"server busy, please try again.  maximum pending requests exceeded"}', BadStatus),
        (500, '{"error":"option \\"temperature\\" must be of type float32"}', UsageError),
    ],
)
async def test_a_refusal_has_its_type_and_comes_before_any_event(
    status: int, said: str, error: type[CallgateError]
) -> None:
    problem, seen = await raised(PlayedOllama(said.encode(), status=status), tools=(WEATHER,))
    assert type(problem) is error
    assert seen == []
    assert "Paris" not in f"{problem} {problem.hint} {getattr(problem, 'body', '')}"


async def test_an_unknown_model_is_told_with_those_that_there_are() -> None:
    ollama = PlayedOllama(b'{"error":"model \'qwen3:8\' not found"}', status=404)
    ollama.names = ("qwen3:8b", "llama3:latest")
    problem, _ = await raised(ollama, model="qwen3:8")
    assert "has no model 'qwen3:8'" in problem.message
    assert problem.hint == "did you mean 'qwen3:8b'? it has: qwen3:8b, llama3:latest"


async def test_nobody_there_is_said_in_plain_words() -> None:
    async with HttpClient() as http:
        with pytest.raises(Unreachable, match=r"Ollama at http://127\.0\.0\.1:1 can't be reached") as caught:
            await events_of(OllamaBackend(NOBODY, http, timeout=5), asking(tools=(WEATHER,)))
    assert caught.value.hint == "is it running? `ollama serve`"


SECRET = "sk-12345"
ERROR_LINES = [
    f'error parsing tool call: raw=\'{{"key": "{SECRET}"}}\', err=unexpected end of JSON input',
    f"error parsing tool call: {SECRET}",
    f'llama-server returned invalid tool call arguments for "f": {SECRET}',
    f"Failed to parse input at pos 35: {SECRET}",
    f"XML syntax error on line 1: element <parameter={SECRET}> closed by </function>",
    f"unexpected token `{SECRET}`",
    f"cannot use '{SECRET}' here",
    f'{{"error":{{"message":"Failed to parse input at pos 3: {SECRET}","code":500}}}}',
]


@pytest.mark.parametrize("said", ERROR_LINES)
async def test_an_error_line_in_mid_stream_is_a_failure_that_quotes_nothing(
    said: str, caplog: pytest.LogCaptureFixture
) -> None:
    problem, seen = await raised(PlayedOllama(line(content="I"), _error(said)), tools=(WEATHER,))
    assert type(problem) is StreamFailed
    assert seen == [AssistantDelta("I")]
    assert SECRET not in f"{problem} {problem.hint} {caplog.text}"


@pytest.mark.parametrize("said", ERROR_LINES)
async def test_nor_does_any_other_error(said: str) -> None:
    for ollama in (PlayedOllama(_error(said)), PlayedOllama(_error(said), status=500)):
        problem, _ = await raised(ollama, tools=(WEATHER,), schema={"type": "object"})
        assert SECRET not in f"{problem} {problem.hint} {getattr(problem, 'body', '')}"


async def test_what_an_error_line_says_is_passed_on_where_it_is_safe() -> None:
    problem, _ = await raised(PlayedOllama(line(content="I"), _error("llama runner process has terminated: killed")))
    assert problem.message.endswith("failed in the middle of its answer: llama runner process has terminated: killed")


async def test_an_error_line_before_anything_else_is_typed_like_a_status() -> None:
    problem, _ = await raised(PlayedOllama(_error("error parsing tool call: raw=x")), tools=(WEATHER,))
    assert type(problem) is CallNotParsed


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        (line(content="I"),),
        (line(content="I"), line(content="am")[:20]),
        (line(content="I"), line(content="é")[:-20]),
        (end()[:30],),
        (b"\n\n \n",),
    ],
)
async def test_an_answer_that_just_ends_is_cut(pieces: tuple[bytes, ...]) -> None:
    problem, seen = await raised(PlayedOllama(*pieces))
    assert type(problem) is StreamCut
    assert set(kinds(seen)) <= {"AssistantDelta"}


async def test_a_reset_is_a_cut() -> None:
    async def reset(request: web.Request, response: web.StreamResponse) -> None:
        await response.write(line(content="I"))
        assert request.transport is not None
        request.transport.abort()

    problem, seen = await raised(PlayedOllama(talk=reset))
    assert type(problem) is StreamCut
    assert seen == [AssistantDelta("I")]


@pytest.mark.parametrize(("first", "error"), [(b"", Unreachable), (line(content="I"), StreamCut)])
async def test_silence_has_its_limits(first: bytes, error: type[BackendError]) -> None:
    forever = asyncio.Event()

    async def silent(request: web.Request, response: web.StreamResponse) -> None:
        await response.write(first)
        await forever.wait()

    async with PlayedOllama(talk=silent).backend(Patience(5.0, 0.1, 0.1)) as backend:
        with pytest.raises(error):
            await events_of(backend, asking())
        forever.set()


async def test_a_long_line_passes_and_an_endless_one_does_not() -> None:
    text = "é" * 5_000_000
    assert (await heard(PlayedOllama(line(content=text), end())))[0] == AssistantDelta(text)
    problem, _ = await raised(PlayedOllama(line(content="x" * (17 << 20)), end()))
    assert type(problem) is BadAnswer
    assert "more than 16 MiB" in problem.message


async def test_dribbled_bytes_give_the_same_events() -> None:
    sent = line(content="né 日本 🎉") + line(tool_calls=[call(city="Þórshöfn")]) + end()
    events = await heard(PlayedOllama(*(sent[i : i + 1] for i in range(len(sent)))))
    assert [type(event).__name__ for event in events] == ["AssistantDelta", "ToolCallEvent", "Usage", "Done"]
    assert events[0] == AssistantDelta("né 日本 🎉")


# Old servers


@pytest.mark.parametrize(("version", "stream"), [("0.7.1", False), ("0.8.0", True), ("0.0.0", True), ("dev", True)])
async def test_an_old_server_is_asked_for_calls_in_one_piece(version: str, stream: bool) -> None:
    ollama = PlayedOllama(end(tool_calls=[call(city="Paris")]), version=version)
    events = await heard(ollama, asking(tools=(WEATHER,)))
    assert ollama.last["stream"] is stream
    notices = [event for event in events if isinstance(event, Notice)]
    assert len(notices) == (0 if stream else 1)
    assert all("0.8" in notice.message and "0.7.1" in notice.message for notice in notices)
    assert kinds(events)[-3:] == ["ToolCallEvent", "Usage", "Done"]


async def test_the_version_is_asked_once_and_only_for_tools() -> None:
    ollama = PlayedOllama(end())
    async with ollama.backend() as backend:
        await events_of(backend, asking())
        assert ollama.asked == {"/api/chat": 1}
        for _ in range(3):
            await events_of(backend, asking(tools=(WEATHER,)))
    assert ollama.asked == {"/api/chat": 4, "/api/version": 1}


async def test_a_refusal_by_a_server_that_reads_no_jinja_says_so() -> None:
    said = b'{"error":"m does not support tools"}'
    problem, _ = await raised(PlayedOllama(said, status=400, version="0.24.0"), tools=(WEATHER,))
    assert "0.24.0" in problem.message
    assert "0.30" in problem.message
    problem, _ = await raised(PlayedOllama(said, status=400, version="0.30.1"), tools=(WEATHER,))
    assert "0.30" not in problem.message


async def test_a_choice_that_ollama_does_not_know_is_noticed() -> None:
    events = await heard(
        PlayedOllama(end()), asking(tools=(WEATHER,), tool_choice="required", parallel_tool_calls=False)
    )
    assert [event.kind for event in events if isinstance(event, Notice)] == ["tool_choice_ignored"] * 2


async def test_the_table_of_backends_leads_here() -> None:
    ollama = PlayedOllama(line(content="Hi"), end())
    async with ollama.backend() as backend, HttpClient() as http:
        host = backend.endpoint.removeprefix("http://")
        settings = load_settings({"ollama.host": host, "timeouts.between": 7})
        made = backend_for(ModelRef("ollama", "m"), settings, http)
        async with aclosing(made.stream(asking())) as events:
            assert [event async for event in events][-1] == Done("stop")
        await made.close()


def _error(said: str) -> bytes:
    return json.dumps({"error": said}).encode() + b"\n"
