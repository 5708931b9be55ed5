"""The real clients, unchanged, against the real command with the real engine."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conftest import may_build_ollama, missing
from tests.gateway.command import served
from tests.real_ollama import server

pytestmark = pytest.mark.engine

TOOLS: list[Any] = [
    {
        "type": "function",
        "function": {
            "name": "multiply",
            "description": "Multiply two numbers.",
            "parameters": {
                "type": "object",
                "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
                "required": ["a", "b"],
            },
        },
    },
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    },
]
QUESTIONS = {"multiply": "What is 17 times 23?", "get_weather": "What is the weather in Paris?"}
RESULTS = {"multiply": "391", "get_weather": "sunny, 21 degrees"}


def run(name: str, arguments: dict[str, Any]) -> str:
    assert arguments == ({"a": 17, "b": 23} if name == "multiply" else {"city": "Paris"})
    return RESULTS[name]


@pytest.fixture(scope="module")
def url(require_engine: None) -> Iterator[str]:
    for package in ("openai", "ollama"):
        if importlib.util.find_spec(package) is None:
            missing(f"no {package}: it is in the group of clients")
    with served("--explain") as gate:
        yield gate.url


@pytest.mark.parametrize("stream", [False, True])
def test_openai_completes_a_conversation_with_two_tools(url: str, stream: bool) -> None:
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        messages: list[Any] = []
        for tool, question in QUESTIONS.items():
            messages.append({"role": "user", "content": question})
            message = _said(client, messages, stream=stream)
            (call,) = message["tool_calls"]
            assert call["function"]["name"] == tool
            result = run(tool, json.loads(call["function"]["arguments"]))
            messages += [message, {"role": "tool", "tool_call_id": call["id"], "content": result}]
            answer = _said(client, messages, stream=stream)
            assert result.split(",", maxsplit=1)[0] in answer["content"]
            messages.append(answer)


def _said(client: Any, messages: list[Any], *, stream: bool) -> dict[str, Any]:
    asked = {"model": "tiny", "messages": messages, "tools": TOOLS}
    if not stream:
        completion = client.chat.completions.create(**asked)
        assert completion.usage.completion_tokens > 0
        said: dict[str, Any] = completion.choices[0].message.model_dump(exclude_none=True)
        assert completion.choices[0].finish_reason == ("tool_calls" if "tool_calls" in said else "stop")
        return said
    whole: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    usage = None
    for chunk in client.chat.completions.create(**asked, stream=True, stream_options={"include_usage": True}):
        usage = chunk.usage or usage
        for choice in chunk.choices:
            whole["content"] += choice.delta.content or ""
            whole["tool_calls"] += [call.model_dump(exclude={"index"}) for call in choice.delta.tool_calls or ()]
    assert usage
    return whole if whole["tool_calls"] else {"role": "assistant", "content": whole["content"]}


async def test_openai_asks_several_at_once(url: str) -> None:
    import openai

    async with openai.AsyncOpenAI(base_url=f"{url}/v1", api_key="none") as client:
        answers = await asyncio.gather(
            *(
                client.chat.completions.create(
                    model="tiny", messages=[{"role": "user", "content": question}], tools=TOOLS
                )
                for question in QUESTIONS.values()
            )
        )
        calls = [answer.choices[0].message.tool_calls[0].function.name for answer in answers]
        assert calls == list(QUESTIONS)
        models = [model.id async for model in client.models.list()]
        assert models == ["tiny"]
        assert (await client.models.retrieve("tiny")).id == "tiny"
        vectors = await client.embeddings.create(model="tiny", input=["a", "b"])
        assert len(vectors.data) == 2
        assert all(isinstance(number, float) for number in vectors.data[0].embedding)
        with pytest.raises(openai.NotFoundError, match="did you mean 'tiny'"):
            await client.chat.completions.create(model="tinyy", messages=[{"role": "user", "content": "hello"}])


def test_openai_gets_emulated_calls_from_a_model_that_knows_no_tools(url: str) -> None:
    import openai

    with openai.OpenAI(base_url=f"{url}/v1", api_key="none") as client:
        raw = client.chat.completions.with_raw_response.create(
            model="tiny-plain",
            messages=[{"role": "user", "content": "What is 17 times 23?"}],
            tools=TOOLS,
            tool_choice={"type": "function", "function": {"name": "multiply"}},
        )
        assert raw.headers["x-callgate-mode"] == "emulated"
        (call,) = raw.parse().choices[0].message.tool_calls
        assert call.function.name == "multiply"
        assert set(json.loads(call.function.arguments)) == {"a", "b"}


@pytest.mark.parametrize("stream", [False, True])
def test_ollama_completes_a_conversation_with_two_tools(url: str, stream: bool) -> None:
    import ollama

    messages: list[Any] = []
    with ollama.Client(host=url) as client:
        for tool, question in QUESTIONS.items():
            messages.append({"role": "user", "content": question})
            said = _of_ollama(client, messages, stream=stream)
            (call,) = said["tool_calls"]
            assert call["function"]["name"] == tool
            result = run(tool, call["function"]["arguments"])
            messages += [said, {"role": "tool", "tool_name": tool, "content": result}]
            answer = _of_ollama(client, messages, stream=stream)
            assert result.split(",", maxsplit=1)[0] in answer["content"]
            messages.append(answer)


def _of_ollama(client: Any, messages: list[Any], *, stream: bool) -> dict[str, Any]:
    if not stream:
        answer = client.chat(model="tiny", messages=messages, tools=TOOLS)
        assert answer.done_reason == "stop"
        said: dict[str, Any] = answer.message.model_dump(exclude_none=True)
        return said
    whole: dict[str, Any] = {"role": "assistant", "content": "", "tool_calls": []}
    for part in client.chat(model="tiny", messages=messages, tools=TOOLS, stream=True):
        whole["content"] += part.message.content or ""
        whole["tool_calls"] += [call.model_dump() for call in part.message.tool_calls or ()]
    return whole


def test_ollama_sees_an_ollama(url: str) -> None:
    import ollama

    with ollama.Client(host=url) as client:
        assert [model.model for model in client.list().models] == ["tiny"]
        shown = client.show("tiny")
        assert shown.capabilities == ["completion", "tools"]
        assert shown.template
        assert client.generate(model="tiny", prompt="Hello!").response
        assert len(client.embed(model="tiny", input=["a", "b"]).embeddings) == 2
        assert client.embeddings(model="tiny", prompt="a").embedding
        assert "tiny" in [model.model for model in client.ps().models]
        with pytest.raises(ollama.ResponseError, match="not found"):
            client.chat(model="nothing", messages=[{"role": "user", "content": "hello"}])


@pytest.mark.ollama
def test_the_ollama_command_takes_it_for_an_ollama(url: str, ollama_url: str) -> None:
    if not may_build_ollama():
        missing("no `ollama` command: ./dev test --ollama builds one")
    environ = {**os.environ, "OLLAMA_HOST": url}

    def said(*words: str) -> str:
        done = subprocess.run(
            [server.installed(), *words], env=environ, capture_output=True, text=True, timeout=60, check=True
        )
        return done.stdout

    assert "tiny" in said("list")
    assert "tools" in said("show", "tiny")
    assert said("run", "tiny", "Say hello.").strip()
    assert "tiny" in said("ps")
