"""What becomes of a request: the bytes that go out, and the prompt that the other side makes of them."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web

from callgate.backends import OllamaBackend, OpenAIBackend, RenderedPrompt, ShowsPrompts
from callgate.backends.llamacpp import LlamaCppBackend
from callgate.backends.scripted import ScriptedBackend
from callgate.settings import Secret, load_settings
from callgate.vocabulary import BadAnswer, CannotChat, ChatRequest, Message, NotFound, ToolsRefused, Unreachable
from callgate.wire import HttpClient
from tests.backends.played_ollama import QUESTION, WEATHER, PlayedOllama, asking, end, events_of
from tests.backends.test_openai_stream import HELLO, WITH_TOOLS, Played
from tests.detect.gguf.writer import Gguf
from tests.real_ollama import server
from tests.runtime.played import NOBODY
from tests.wire.server import serving

LONG = Message(role="user", content="word " * 3000)
PROMPT = json.dumps({"model": "m", "_debug_info": {"rendered_template": "<user>"}, "done": False}).encode()


# A recording


async def test_a_recording_gets_the_request_itself_and_makes_no_prompt(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"callgate_recording": 1, "model": "m", "backend": "ollama"}\n')
    backend = ScriptedBackend(str(file))
    assert isinstance(backend, ShowsPrompts)
    wire = await backend.wire(HELLO)
    assert wire.url == f"scripted:{file}"
    assert msgspec.json.decode(wire.body, type=ChatRequest) == HELLO
    assert await backend.rendered(HELLO, may_load=True) is None


# Ollama


@pytest.mark.parametrize(
    "request_",
    [
        asking(),
        asking(tools=(WEATHER,), max_tokens=5),
        asking(messages=(LONG,), tools=(WEATHER,)),
        asking(options={"num_ctx": 8192}),
    ],
)
async def test_what_ollama_would_get_is_what_it_gets(request_: ChatRequest) -> None:
    ollama = PlayedOllama(end())
    async with ollama.backend() as backend:
        wire = await backend.wire(request_)
        assert not ollama.bodies
        await events_of(backend, request_)
        assert wire.url == f"{backend.endpoint}/api/chat"
    assert ollama.bodies == [wire.body]


async def test_a_password_in_an_address_isnt_shown(http: HttpClient) -> None:
    ollama = OllamaBackend(f"{NOBODY}".replace("://", "://me:secret@"), http, timeout=1)
    openai = OpenAIBackend("http://me:secret@localhost:9/v1", http, timeout=1, api_key=Secret("sk-1"))
    for backend in (ollama, openai):
        wire = await backend.wire(HELLO)
        assert b"secret" not in wire.url.encode() + wire.body
        assert b"sk-1" not in wire.body


async def test_an_ollama_is_asked_for_the_prompt_of_a_model_that_is_loaded() -> None:
    ollama = PlayedOllama(PROMPT)
    ollama.loaded = 4096
    async with ollama.backend() as backend:
        prompt = await backend.rendered(asking(tools=(WEATHER,), max_tokens=500))
    assert prompt == RenderedPrompt("<user>", "ollama")
    assert ollama.last["_debug_render_only"] is True
    assert (ollama.last["stream"], ollama.last["options"]["num_predict"]) == (False, 1)
    assert ollama.last["tools"]


@pytest.mark.parametrize(
    ("loaded", "request_"), [(None, asking()), (4096, asking(model="another")), (4096, asking(messages=(LONG,)))]
)
async def test_a_model_isnt_loaded_for_its_prompt_unless_it_may_be(loaded: int | None, request_: ChatRequest) -> None:
    ollama = PlayedOllama(PROMPT)
    ollama.loaded = loaded
    async with ollama.backend() as backend:
        assert await backend.rendered(request_) is None
        assert not ollama.bodies
        assert await backend.rendered(request_, may_load=True)
    assert len(ollama.bodies) == 1


async def test_an_ollama_that_is_too_old_isnt_asked() -> None:
    ollama = PlayedOllama(PROMPT, version="0.11.4")
    async with ollama.backend() as backend:
        assert await backend.rendered(asking(), may_load=True) is None
    assert not ollama.bodies


async def test_an_answer_instead_of_a_prompt_is_none() -> None:
    async with PlayedOllama(end(content="Paris")).backend() as backend:
        assert await backend.rendered(asking(), may_load=True) is None


async def test_an_ollama_refuses_a_prompt_as_it_refuses_an_answer(http: HttpClient) -> None:
    refusal = PlayedOllama(b'{"error":"registry.ollama.ai/library/m:latest does not support tools"}', status=400)
    async with refusal.backend() as backend:
        with pytest.raises(ToolsRefused):
            await backend.rendered(asking(tools=(WEATHER,)), may_load=True)
    missing = PlayedOllama(b'{"error":"model \'m\' not found"}', status=404)
    async with missing.backend() as backend:
        with pytest.raises(NotFound):
            await backend.rendered(asking(), may_load=True)
    with pytest.raises(Unreachable, match="Ollama at"):
        await OllamaBackend(NOBODY, http, timeout=1).rendered(asking(), may_load=True)
    assert await OllamaBackend(NOBODY, http, timeout=1).rendered(asking()) is None


@pytest.mark.ollama
@pytest.mark.engine
async def test_a_real_ollama_shows_its_prompt_without_a_word_of_the_models(
    ollama_url: str, http: HttpClient, require_engine: None
) -> None:
    server.unload(ollama_url, "tiny", "kind")
    backend = OllamaBackend(ollama_url, http, timeout=30)
    assert await backend.rendered(asking(model="tiny", tools=(WEATHER,))) is None
    prompt = await backend.rendered(asking(model="tiny", tools=(WEATHER,)), may_load=True)
    assert prompt is not None
    assert "get_weather" in prompt.text
    assert prompt.text.endswith(f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n")
    assert await backend.rendered(asking(model="tiny", tools=(WEATHER,))) == prompt
    await backend.close()


# Servers that speak OpenAI's protocol


@pytest.mark.parametrize("request_", [HELLO, WITH_TOOLS])
async def test_what_a_server_would_get_is_what_it_gets(request_: ChatRequest, http: HttpClient) -> None:
    async def answer(_: web.Request, response: web.StreamResponse) -> None:
        await response.write(b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n')

    played = Played(answer)
    async with played.running() as url:
        backend = OpenAIBackend(url, http, timeout=5, api_key=Secret("sk-1"))
        wire = await backend.wire(request_)
        assert wire.url == f"{url}/v1/chat/completions"
        assert not played.bodies
        _ = [event async for event in backend.stream(request_)]
    assert played.bodies == [json.loads(wire.body)]


class PlayedLlamaServer:
    """Answers `/apply-template` with what it is told to."""

    def __init__(self, answer: object, status: int = 200, owner: str = "llamacpp") -> None:
        self.answer, self.status, self.owner = answer, status, owner
        self.asked: list[tuple[str, Mapping[str, Any]]] = []

    async def models(self, _: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "m", "object": "model", "owned_by": self.owner}]})

    async def apply(self, request: web.Request) -> web.Response:
        self.asked.append((request.query_string, await request.json()))
        return web.json_response(self.answer, status=self.status)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[str]:
        async with serving(("GET", "/v1/models", self.models), ("POST", "/apply-template", self.apply)) as url:
            yield url


async def test_a_llama_server_is_asked_for_the_prompt_of_the_same_request(http: HttpClient) -> None:
    played = PlayedLlamaServer({"prompt": "<user>"})
    async with played.running() as url:
        backend = OpenAIBackend(f"{url}/v1", http, timeout=5)
        assert await backend.rendered(WITH_TOOLS) == RenderedPrompt("<user>", "llama-server")
        await backend.rendered(WITH_TOOLS, may_load=True)
        sent = json.loads((await backend.wire(WITH_TOOLS)).body)
    assert played.asked == [("autoload=false", sent), ("", sent)]


async def test_another_server_isnt_told_the_conversation(http: HttpClient) -> None:
    played = PlayedLlamaServer({"prompt": "<user>"}, owner="vllm")
    async with played.running() as url:
        assert await OpenAIBackend(url, http, timeout=5).rendered(HELLO, may_load=True) is None
    assert not played.asked


@pytest.mark.parametrize(
    ("status", "answer"), [(404, {}), (400, {"error": {"code": 400, "message": "model is not loaded"}})]
)
async def test_a_llama_server_that_cant_show_a_prompt_is_no_failure(
    http: HttpClient, status: int, answer: object
) -> None:
    async with PlayedLlamaServer(answer, status).running() as url:
        assert await OpenAIBackend(url, http, timeout=5).rendered(HELLO) is None


async def test_a_prompt_that_is_none_is_a_bad_answer(http: HttpClient) -> None:
    answers: list[object] = [{}, [], {"prompt": 5}]
    for answer in answers:
        async with PlayedLlamaServer(answer).running() as url:
            with pytest.raises(BadAnswer):
                await OpenAIBackend(url, http, timeout=5).rendered(HELLO)


async def test_a_llama_server_refuses_a_prompt_as_it_refuses_an_answer(http: HttpClient) -> None:
    refusal = {"error": {"code": 500, "message": "tools param requires --jinja flag"}}
    async with PlayedLlamaServer(refusal, 500).running() as url:
        with pytest.raises(ToolsRefused, match="--jinja"):
            await OpenAIBackend(url, http, timeout=5).rendered(WITH_TOOLS)


@pytest.mark.engine
async def test_a_real_llama_server_shows_its_prompt(llama_server_url: str, http: HttpClient) -> None:
    prompt = await OpenAIBackend(f"{llama_server_url}/v1", http, timeout=30).rendered(
        asking(model="", tools=(WEATHER,))
    )
    assert prompt is not None
    assert prompt.by == "llama-server"
    assert "get_weather" in prompt.text


# Our own engine


async def test_no_engine_is_started_in_order_to_show_a_request(http: HttpClient) -> None:
    backend = LlamaCppBackend(load_settings(), http)
    wire = await backend.wire(asking(model="tiny", tools=(WEATHER,)))
    body = json.loads(wire.body)
    assert wire.url == "http://llama.cpp/v1/chat/completions"
    assert (body["model"], body["temperature"], body["seed"]) == ("tiny", 0, 1)
    assert await backend.rendered(asking(model="tiny")) is None
    assert await backend.models() == []


async def test_what_cant_chat_gets_no_request(http: HttpClient, tmp_path: Path) -> None:
    file = tmp_path / "embed.gguf"
    file.write_bytes(Gguf({"general.architecture": "bert", "bert.pooling_type": 1}).to_bytes())
    backend = LlamaCppBackend(load_settings(), http)
    with pytest.raises(CannotChat):
        await backend.wire(asking(model=str(file)))


@pytest.mark.engine
async def test_our_engine_shows_its_prompt(http: HttpClient, require_engine: None) -> None:
    backend = LlamaCppBackend(load_settings(), http)
    try:
        prompt = await backend.rendered(asking(model="tiny-plain"), may_load=True)
    finally:
        await backend.close()
    said = f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n"
    assert prompt is not None
    assert (prompt.text, prompt.by) == (said, "llama.cpp")
    assert prompt.tokens is not None
    assert 10 < prompt.tokens < len(said)
