"""Emulated turns on real engines: whatever the model, what it writes is a valid call."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path

import jsonschema_rs
import msgspec
import pytest

from bench.shows.everyday_tools import TOOL_PROMPTS, TOOLS
from callgate.backends import Backend, OllamaBackend
from callgate.backends.llamacpp import LlamaCppBackend
from callgate.gate.emulation import emulation_of
from callgate.gate.recovery import Found, Piece, Text
from callgate.settings import load_settings
from callgate.vocabulary import AssistantDelta, Capabilities, ChatRequest, Means, Message, Tool
from callgate.wire import HttpClient
from tests.backends import smollm2
from tests.conftest import missing
from tests.real_ollama import server

pytestmark = pytest.mark.engine

KNOWN = Capabilities(name="m", context_length=2048)
BY_SCHEMA = Means(schema=True)
BY_GRAMMAR = Means(schema=True, grammar=True)
MODEL = "smollm2"


@pytest.fixture(scope="module")
def smollm2_gguf(require_engine: None) -> Path:
    try:
        return smollm2.fetched()
    except smollm2.NotFetched as error:
        missing(f"no SmolLM2: {error}")


@pytest.fixture
async def llamacpp(require_engine: None) -> AsyncIterator[Backend]:
    async with HttpClient() as http:
        backend = LlamaCppBackend(load_settings({"llamacpp.context": 2048}), http)
        yield backend
        await backend.close()


@pytest.fixture
async def ollama(ollama_url: str, smollm2_gguf: Path) -> AsyncIterator[Backend]:
    with server.lent(ollama_url, smollm2_gguf, MODEL):
        async with HttpClient() as http:
            backend = OllamaBackend(ollama_url, http, timeout=60)
            yield backend
            await backend.close()


async def answered(backend: Backend, means: Means, request: ChatRequest) -> list[Piece]:
    emulation = emulation_of(request, means, KNOWN)
    reader = emulation.answer()
    found: list[Piece] = []
    async with aclosing(backend.stream(emulation.request)) as events:
        async for event in events:
            if isinstance(event, AssistantDelta):
                found += reader.feed(event.text)
    return [*found, *reader.close()]


def asking(model: str, prompt: str, *tools: Tool, choice: str = "required", **more: int) -> ChatRequest:
    said = Message(role="user", content=prompt)
    return ChatRequest(model=model, messages=(said,), tools=tools, tool_choice=choice, **more)  # type: ignore[arg-type]


async def calls_of_all_tools(backend: Backend, means: Means, model: str, turns: int) -> None:
    for turn in range(turns):
        tools = TOOLS[turn * len(TOOLS) // turns : (turn + 1) * len(TOOLS) // turns]
        request = asking(model, TOOL_PROMPTS[turn], *tools, max_tokens=400)
        (call,) = await answered(backend, means, request)
        assert isinstance(call, Found), call
        schema = next(tool.parameters for tool in tools if tool.name == call.name)
        jsonschema_rs.validate(dict(schema), call.arguments)


@pytest.mark.parametrize("means", [BY_SCHEMA, BY_GRAMMAR])
async def test_a_model_without_tools_must_call_one_and_does(
    llamacpp: Backend, smollm2_gguf: Path, means: Means
) -> None:
    await calls_of_all_tools(llamacpp, means, str(smollm2_gguf), 5)


@pytest.mark.ollama
async def test_it_does_so_on_ollama(ollama: Backend) -> None:
    await calls_of_all_tools(ollama, BY_SCHEMA, MODEL, 5)


@pytest.mark.parametrize("means", [BY_SCHEMA, BY_GRAMMAR])
@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
async def test_the_engine_takes_what_every_tool_becomes(llamacpp: Backend, means: Means, tool: Tool) -> None:
    """With the model in the box, which has its own mind about what to write."""
    (call,) = await answered(llamacpp, means, asking("tiny", TOOL_PROMPTS[0], tool, choice=tool.name))
    assert isinstance(call, Found)
    jsonschema_rs.validate(dict(tool.parameters), call.arguments)


async def test_a_hundred_tools_are_taken(llamacpp: Backend) -> None:
    many = tuple(Tool(f"{tool.name}_{count}", "", tool.parameters) for count in range(9) for tool in TOOLS)
    for means in (BY_SCHEMA, BY_GRAMMAR):
        request = asking("tiny", "What is the weather in Paris?", *many)
        slim = emulation_of(request, means, KNOWN).request
        short = ChatRequest(model="tiny", messages=request.messages, schema=slim.schema, extra=slim.extra)
        async with aclosing(llamacpp.stream(short)) as events:
            text = "".join([event.text async for event in events if isinstance(event, AssistantDelta)])
        (call,) = emulation_of(request, means, KNOWN).answer().feed(text)
        assert isinstance(call, Found)


@pytest.mark.parametrize("means", [BY_SCHEMA, BY_GRAMMAR])
async def test_a_reply_streams(llamacpp: Backend, smollm2_gguf: Path, means: Means) -> None:
    """With no word about tools the model has none in mind; the answer has to be held to the form all the same."""
    request = asking(str(smollm2_gguf), "Tell me of the sea.", TOOLS[0], choice="auto", max_tokens=60)
    request = msgspec.structs.replace(request, options={"temperature": 0, "seed": 1})
    pieces = await answered(llamacpp, means, request)
    assert len(pieces) > 5 or isinstance(pieces[0], Found)
    assert not [piece for piece in pieces if isinstance(piece, Text) and '{"' in piece.text]
