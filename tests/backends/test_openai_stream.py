import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from callgate.backends import OpenAIBackend
from callgate.backends.openai import client
from callgate.settings import Secret, Timeouts
from callgate.vocabulary import (
    AssistantDelta,
    BadAnswer,
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    Message,
    NotFound,
    StreamCut,
    Tool,
    ToolsRefused,
    Unreachable,
    Usage,
)
from callgate.wire import HttpClient
from tests.backends.test_openai_reading import delta, sse
from tests.runtime.played import NOBODY
from tests.wire.server import serving

HELLO = ChatRequest(model="m", messages=(Message(role="user", content="Hello"),))
WITH_TOOLS = ChatRequest(model="m", messages=HELLO.messages, tools=(Tool("f"),))
ANSWER = sse(
    delta(content="Hi 🦙"), delta("stop"), {"choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
)
EVENTS = [AssistantDelta("Hi 🦙"), Usage(1, 2), Done("stop")]

Answer = Callable[[web.Request, web.StreamResponse], Awaitable[None]]


async def events(backend: OpenAIBackend, request: ChatRequest = HELLO) -> list[Event]:
    async with aclosing(backend.stream(request)) as stream:
        return [event async for event in stream]


class Played:
    """A server that answers as it is told, and keeps what it is asked."""

    def __init__(self, answer: Answer, content_type: str = "text/event-stream") -> None:
        self.answer = answer
        self.content_type = content_type
        self.bodies: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.connections: set[object] = set()
        self.asked = asyncio.Event()
        self.left = asyncio.Event()

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.bodies.append(await request.json())
        self.keys.append(request.headers.get("Authorization"))
        self.connections.add(request.transport)
        self.asked.set()
        response = web.StreamResponse(headers={"Content-Type": self.content_type})
        await response.prepare(request)
        try:
            await self.answer(request, response)
        except (asyncio.CancelledError, ConnectionError):
            self.left.set()
            raise
        return response

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        handler = ("POST", "/v1/chat/completions", self.chat)
        async with serving(handler) as url:
            yield url


def sends(*pieces: bytes) -> Answer:
    async def answer(_: web.Request, response: web.StreamResponse) -> None:
        for piece in pieces:
            await response.write(piece)

    return answer


async def test_an_answer_streams_and_its_connection_is_used_again(http: HttpClient) -> None:
    server = Played(sends(ANSWER))
    async with server.running() as url:
        backend = OpenAIBackend(url, http, timeout=5)
        assert await events(backend) == EVENTS
        assert await events(backend) == EVENTS
    assert len(server.connections) == 1
    assert server.keys == [None, None]


async def test_bytes_may_dribble(http: HttpClient) -> None:
    async with Played(sends(*(bytes([byte]) for byte in ANSWER))).running() as url:
        assert await events(OpenAIBackend(url, http, timeout=5)) == EVENTS


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream"])
async def test_one_object_may_answer_a_request_for_a_stream(http: HttpClient, content_type: str) -> None:
    body = {
        "choices": [{"message": {"content": "Hi 🦙"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2},
    }
    text = json.dumps(body).encode()
    async with Played(sends(b" \n", text[:20], text[20:]), content_type).running() as url:
        assert await events(OpenAIBackend(url, http, timeout=5)) == EVENTS


async def test_a_key_is_sent_and_never_shown(http: HttpClient) -> None:
    async def models(request: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [{"id": request.headers["Authorization"].removeprefix("Bearer ")[:3]}]})

    server = Played(sends(ANSWER))
    handler = ("POST", "/v1/chat/completions", server.chat)
    async with serving(handler, ("GET", "/v1/models", models)) as url:
        backend = OpenAIBackend(url, http, timeout=5, api_key=Secret("sk-secret"))
        await events(backend)
        assert await backend.models() == ["sk-"]
    assert server.keys == ["Bearer sk-secret"]
    with pytest.raises(Unreachable) as caught:
        await events(backend)
    assert "secret" not in f"{caught.value} {caught.value.hint} {backend!r}"


async def test_a_server_with_one_model_needs_no_name(http: HttpClient) -> None:
    async def models(_: web.Request) -> web.StreamResponse:
        return web.json_response({"data": [{"id": "the-one"}]})

    server = Played(sends(ANSWER))
    async with serving(("POST", "/v1/chat/completions", server.chat), ("GET", "/v1/models", models)) as url:
        await events(OpenAIBackend(url, http, timeout=5), ChatRequest(model="", messages=()))
    assert server.bodies[0]["model"] == "the-one"


# What goes wrong


async def test_leaving_early_closes_the_connection(http: HttpClient) -> None:
    async def answer(_: web.Request, response: web.StreamResponse) -> None:
        for _number in range(100_000):
            await response.write(sse(delta(content="x"), done=False))
            await asyncio.sleep(0.001)

    server = Played(answer)
    async with server.running() as url:
        stream = OpenAIBackend(url, http, timeout=5).stream(HELLO)
        assert await anext(stream) == AssistantDelta("x")
        await stream.aclose()
        await asyncio.wait_for(server.left.wait(), 10)


async def test_a_cancelled_task_closes_the_connection(http: HttpClient) -> None:
    async def answer(_: web.Request, response: web.StreamResponse) -> None:
        await response.write(sse(delta(content="x"), done=False))
        while True:
            await asyncio.sleep(0.01)
            await response.write(b": ping\n\n")

    server = Played(answer)
    async with server.running() as url:
        task = asyncio.create_task(events(OpenAIBackend(url, http, timeout=5)))
        await asyncio.wait_for(server.asked.wait(), 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(server.left.wait(), 10)


async def failure(http: HttpClient, server: Played, timeouts: Timeouts | None = None) -> CallgateError:
    async with server.running() as url:
        with pytest.raises(CallgateError) as caught:
            await events(OpenAIBackend(url, http, timeout=5, timeouts=timeouts))
    return caught.value


async def test_a_server_that_hangs_up_in_the_middle_cut_its_answer(http: HttpClient) -> None:
    async def answer(request: web.Request, response: web.StreamResponse) -> None:
        await response.write(sse(delta(content="x"), done=False))
        assert request.transport
        request.transport.abort()

    assert isinstance(await failure(http, Played(answer)), StreamCut)


async def test_a_server_that_ends_in_the_middle_cut_its_answer(http: HttpClient) -> None:
    error = await failure(http, Played(sends(sse(delta(content="x"), done=False))))
    assert isinstance(error, StreamCut)
    assert "without a word that it is whole" in error.message


async def test_a_server_that_hangs_up_after_the_end_is_forgiven(http: HttpClient) -> None:
    async def answer(request: web.Request, response: web.StreamResponse) -> None:
        await response.write(sse(delta("stop", content="x"), done=False))
        assert request.transport
        request.transport.close()

    async with Played(answer).running() as url:
        assert await events(OpenAIBackend(url, http, timeout=5)) == [AssistantDelta("x"), Done("stop")]


async def test_a_server_that_never_hangs_up_is_not_waited_for(
    http: HttpClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LAST_WORDS_SECONDS", 0.05)

    async def answer(_: web.Request, response: web.StreamResponse) -> None:
        await response.write(sse(delta("stop", content="x"), done=False))
        await asyncio.sleep(3600)

    async with Played(answer).running() as url:
        assert await events(OpenAIBackend(url, http, timeout=5)) == [AssistantDelta("x"), Done("stop")]


async def silence(_: web.Request, __: web.StreamResponse) -> None:
    await asyncio.sleep(3600)


async def then_silence(_: web.Request, response: web.StreamResponse) -> None:
    await response.write(sse(delta(content="x"), done=False))
    await asyncio.sleep(3600)


@pytest.mark.parametrize(
    ("answer", "timeouts", "kind"),
    [
        (silence, Timeouts(first_byte=0.2, between=60), Unreachable),
        (then_silence, Timeouts(first_byte=60, between=0.2), StreamCut),
    ],
)
async def test_silence_has_its_limits(http: HttpClient, answer: Answer, timeouts: Timeouts, kind: type) -> None:
    assert isinstance(await failure(http, Played(answer), timeouts), kind)


async def test_a_web_page_is_a_bad_answer(http: HttpClient) -> None:
    error = await failure(http, Played(sends(b"<html>"), "text/html"))
    assert isinstance(error, BadAnswer)
    assert "web page" in error.message


async def test_an_event_of_ten_megabytes_arrives_and_one_without_end_does_not(http: HttpClient) -> None:
    text = "x" * (10 << 20)
    async with Played(sends(sse(delta("stop", content=text)))).running() as url:
        assert await events(OpenAIBackend(url, http, timeout=5)) == [AssistantDelta(text), Done("stop")]
    error = await failure(http, Played(sends(b'data: {"x":"', *[b"x" * (1 << 20)] * 20)))
    assert isinstance(error, BadAnswer)
    error = await failure(http, Played(sends(b'{"x":"', *[b"x" * (1 << 20)] * 80)))
    assert isinstance(error, BadAnswer)


async def test_nobody_there_is_unreachable(http: HttpClient) -> None:
    with pytest.raises(Unreachable, match="Connection refused"):
        await events(OpenAIBackend(f"{NOBODY}/v1", http, timeout=5))


async def refused(http: HttpClient, status: int, body: object, models: object, request: ChatRequest) -> CallgateError:
    async def chat(_: web.Request) -> web.StreamResponse:
        return web.json_response(body, status=status)

    async def listed(_: web.Request) -> web.StreamResponse:
        return web.json_response(models) if models else web.Response(status=404)

    async with serving(("POST", "/v1/chat/completions", chat), ("GET", "/v1/models", listed)) as url:
        with pytest.raises(CallgateError) as caught:
            await events(OpenAIBackend(url, http, timeout=5), request)
    return caught.value


async def test_a_refusal_of_tools_comes_before_any_event(http: HttpClient) -> None:
    error = await refused(http, 500, {"error": {"message": "tools param requires --jinja flag"}}, None, WITH_TOOLS)
    assert isinstance(error, ToolsRefused)
    assert "--jinja" in error.message


MISSING = {"error": {"message": "The model `qwen3-8` does not exist.", "code": 404}}
LISTED = {"data": [{"id": "qwen3-8b"}, {"id": "llama-3"}]}


@pytest.mark.parametrize("status", [400, 404])
async def test_a_missing_model_is_not_found_and_the_nearest_is_named(http: HttpClient, status: int) -> None:
    error = await refused(http, status, MISSING, LISTED, ChatRequest(model="qwen3-8", messages=()))
    assert isinstance(error, NotFound)
    assert error.message.endswith("/v1 has no model 'qwen3-8'")
    assert error.hint == "did you mean 'qwen3-8b'? it has: qwen3-8b, llama-3"


async def test_a_missing_path_is_no_missing_model(http: HttpClient) -> None:
    error = await refused(http, 404, {"detail": "Not Found"}, None, HELLO)
    assert isinstance(error, BadStatus)
    assert "/v1" in str(error.hint)


# Real servers


MULTIPLY = Tool(
    "multiply",
    "Multiply two numbers.",
    {
        "type": "object",
        "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
        "required": ["a", "b"],
    },
)


def ask(model: str, text: str, **more: Any) -> ChatRequest:
    message = Message(role="user", content=text)
    return ChatRequest(model=model, messages=(message,), options={"temperature": 0}, **more)


@pytest.mark.engine
@pytest.mark.parametrize("stream", [True, False])
async def test_a_real_llama_server_streams_a_call(http: HttpClient, llama_server_url: str, stream: bool) -> None:
    request = ask("my-tiny", "Multiply 17 by 23.", tools=(MULTIPLY,), stream=stream)
    found = await events(OpenAIBackend(llama_server_url, http, timeout=30), request)
    call = found[0]
    assert [type(event).__name__ for event in found] == ["ToolCallEvent", "Usage", "Done"]
    assert (call.call.name, call.call.arguments) == ("multiply", {"a": 17, "b": 23})  # type: ignore[union-attr]
    assert found[-1] == Done("tool_calls")


@pytest.mark.ollama
async def test_a_real_ollama_streams_a_call_at_this_door_too(http: HttpClient, ollama_url: str) -> None:
    request = ask("tiny", "Multiply 17 by 23.", tools=(MULTIPLY,))
    found = await events(OpenAIBackend(f"{ollama_url}/v1", http, timeout=30), request)
    assert [type(event).__name__ for event in found] == ["ToolCallEvent", "Usage", "Done"]


@pytest.mark.ollama
async def test_a_real_ollama_lacks_a_model_when_it_is_asked_to_chat(http: HttpClient, ollama_url: str) -> None:
    with pytest.raises(NotFound, match="has no model 'tinny'") as caught:
        await events(OpenAIBackend(f"{ollama_url}/v1", http, timeout=30), ask("tinny", "Hello"))
    assert "did you mean 'tiny:latest'?" in str(caught.value.hint)
