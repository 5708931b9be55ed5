"""Turns with a real Ollama: the shipped model as it is, and with a template that has no tools."""

import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from callgate.backends import OllamaBackend
from callgate.backends.ollama.names import entry_for
from callgate.detect import read_header
from callgate.vocabulary import (
    AssistantDelta,
    BadSchema,
    CallNotParsed,
    CannotThink,
    ChatRequest,
    ContextExceeded,
    Done,
    Event,
    Message,
    NotFound,
    ToolCall,
    ToolCallEvent,
    ToolsRefused,
    Usage,
)
from callgate.wire import HttpClient
from tests.backends.played_ollama import QUESTION, WEATHER, asking, events_of
from tests.real_ollama import server

pytestmark = [pytest.mark.ollama, pytest.mark.engine]

PLAIN = "tiny-without-tools"
GREEDY = {"temperature": 0, "seed": 1}


@pytest.fixture
async def backend(ollama_url: str, http: HttpClient, require_engine: None) -> AsyncIterator[OllamaBackend]:
    backend = OllamaBackend(ollama_url, http, timeout=30)
    yield backend
    await backend.close()


@pytest.fixture(scope="module")
def plain_model(ollama_url: str, tiny_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The shipped weights with a template without tools, written over the other in place."""
    template = read_header(str(tiny_gguf)).templates["default"].encode()
    plain = (tiny_gguf.parent / "tiny-plain.jinja").read_bytes()
    file = tmp_path_factory.mktemp("plain") / "plain.gguf"
    file.write_bytes(tiny_gguf.read_bytes().replace(template, plain.ljust(len(template))))
    with server.lent(ollama_url, file, PLAIN):
        yield PLAIN


def ask(**more: object) -> ChatRequest:
    return asking(**{"model": "tiny", "options": GREEDY, **more})


def calls_in(events: list[Event]) -> list[tuple[str, object]]:
    return [(event.call.name, event.call.arguments) for event in events if isinstance(event, ToolCallEvent)]


def text_in(events: list[Event]) -> str:
    return "".join(event.text for event in events if isinstance(event, AssistantDelta))


@pytest.mark.parametrize("stream", [True, False])
async def test_it_calls_a_tool(backend: OllamaBackend, stream: bool) -> None:
    events = await events_of(backend, ask(tools=(WEATHER,), stream=stream))
    assert calls_in(events) == [("get_weather", {"city": "Paris"})]
    assert [type(event).__name__ for event in events] == ["ToolCallEvent", "Usage", "Done"]
    assert events[-1] == Done("tool_calls")
    assert isinstance(usage := events[-2], Usage)
    assert usage.prompt_tokens
    assert usage.completion_tokens


async def test_it_calls_two_at_once_and_each_has_an_id(backend: OllamaBackend) -> None:
    both = Message(role="user", content="What is the weather in Paris and in Rome?")
    events = await events_of(backend, ask(messages=(both,), tools=(WEATHER,)))
    assert calls_in(events) == [("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"})]
    assert len({event.call.id for event in events if isinstance(event, ToolCallEvent)}) == 2


async def test_it_answers_with_what_a_tool_said(backend: OllamaBackend) -> None:
    history = (
        QUESTION,
        Message(role="assistant", calls=(ToolCall("call_1", "get_weather", {"city": "Paris"}),)),
        Message(role="tool", call_id="call_1", content='{"temperature": 18, "condition": "sunny"}'),
    )
    events = await events_of(backend, ask(messages=history, tools=(WEATHER,)))
    assert "18" in text_in(events)
    assert len([event for event in events if isinstance(event, AssistantDelta)]) > 3
    assert events[-1] == Done("stop")


async def test_without_tools_there_is_only_text(backend: OllamaBackend) -> None:
    events = await events_of(backend, ask())
    assert {type(event) for event in events} == {AssistantDelta, Usage, Done}


async def test_it_stops_at_the_limit(backend: OllamaBackend) -> None:
    events = await events_of(backend, ask(max_tokens=2))
    assert events[-1] == Done("length")


async def test_its_answer_keeps_to_a_schema(backend: OllamaBackend) -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "enum": ["Paris", "Rome"]}},
        "required": ["city"],
        "additionalProperties": False,
    }
    events = await events_of(backend, ask(schema=schema, max_tokens=60))
    assert json.loads(text_in(events))["city"] in ("Paris", "Rome")


async def test_a_request_without_messages_loads_the_model(backend: OllamaBackend) -> None:
    assert await events_of(backend, ask(messages=())) == [Done("stop")]


async def test_leaving_stops_it_and_the_next_turn_is_answered(backend: OllamaBackend) -> None:
    events = backend.stream(ask())
    assert isinstance(await anext(events), AssistantDelta)
    await events.aclose()
    assert (await events_of(backend, ask()))[-1] == Done("stop")


async def test_a_model_without_tools_refuses_them_before_any_event(backend: OllamaBackend, plain_model: str) -> None:
    with pytest.raises(ToolsRefused, match=f"takes no tools for '{plain_model}'"):
        await anext(backend.stream(ask(model=plain_model, tools=(WEATHER,))))
    assert (await events_of(backend, ask(model=plain_model, max_tokens=2)))[-1] == Done("length")


async def test_an_unknown_model_is_told_with_the_nearest_name(backend: OllamaBackend) -> None:
    with pytest.raises(NotFound, match="has no model 'tinny'") as caught:
        await anext(backend.stream(ask(model="tinny")))
    assert "did you mean 'tiny:latest'?" in str(caught.value.hint)


async def test_a_model_that_cannot_think_says_so(backend: OllamaBackend) -> None:
    with pytest.raises(CannotThink):
        await anext(backend.stream(ask(think=True)))


@pytest.mark.parametrize("schema", [{"type": "objekt"}, {"$ref": "#/nowhere"}])
async def test_a_schema_that_it_does_not_take_is_told(backend: OllamaBackend, schema: dict[str, object]) -> None:
    with pytest.raises(BadSchema):
        await anext(backend.stream(ask(schema=schema)))


async def test_a_call_that_is_cut_is_not_parsed_and_never_quoted(backend: OllamaBackend) -> None:
    """At some lengths the call has begun and isn't whole: Ollama's own parser fails."""
    failures = []
    for limit in range(8, 24):
        try:
            await events_of(backend, ask(tools=(WEATHER,), max_tokens=limit))
        except CallNotParsed as problem:
            failures.append(f"{problem} {problem.hint}")
    assert failures
    assert not [said for said in failures if "Paris" in said or "get_weather" in said]


async def test_a_context_that_is_loaded_too_small_is_grown(
    backend: OllamaBackend, http: HttpClient, ollama_url: str
) -> None:
    async def loaded() -> int:
        running = await http.get_json(f"{ollama_url}/api/ps")
        entry = entry_for(running, "tiny")
        assert entry
        return int(entry["context_length"])

    other = OllamaBackend(ollama_url, http, timeout=30)
    await events_of(other, ask(messages=(), options={"num_ctx": 2048}))
    assert await loaded() == 2048
    filler = Message(role="user", content="hello " * 900)
    await events_of(backend, ask(messages=(filler, QUESTION), max_tokens=3))
    assert await loaded() == 4096


async def test_a_prompt_that_must_be_whole_and_is_too_long_is_refused(backend: OllamaBackend) -> None:
    filler = Message(role="user", content="hello there " * 6_000)
    with pytest.raises(ContextExceeded) as caught:
        await events_of(backend, ask(messages=(filler, QUESTION), max_tokens=3, whole_prompt=True))
    assert "context" in caught.value.message
    assert await events_of(backend, ask(messages=(filler, QUESTION), max_tokens=3)), "the beginning is left out"
