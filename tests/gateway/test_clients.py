"""What clients ask besides having a conversation, of the real command with the real engine."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import os
import subprocess
from collections.abc import Iterator

import pytest

from tests.backends import smollm2
from tests.conftest import may_build_ollama, missing
from tests.gateway.clients.talk import QUESTIONS, TOOLS
from tests.gateway.command import served
from tests.real_ollama import server

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def url(require_engine: None) -> Iterator[str]:
    for package in ("openai", "ollama"):
        if importlib.util.find_spec(package) is None:
            missing(f"no {package}: it is in the group of clients")
    with served("--explain") as gate:
        yield gate.url


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
        assert models == ["tiny", "tiny-plain"]
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


def test_ollama_sees_an_ollama(url: str) -> None:
    import ollama

    with ollama.Client(host=url) as client:
        assert [model.model for model in client.list().models] == ["tiny", "tiny-plain"]
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
            [server.installed(), *words], env=environ, capture_output=True, text=True, timeout=180, check=True
        )
        return done.stdout

    def running() -> list[str]:
        return [line.split()[0] for line in said("ps").splitlines()[1:]]

    (listed,) = [line for line in said("list").splitlines() if line.startswith("tiny ")]
    assert "MB" in listed
    _, _, capabilities = said("show", "tiny").partition("Capabilities")
    assert capabilities.split() == ["completion", "tools"]
    assert said("run", "tiny", "Say hello.").strip()
    assert "tiny" in running()
    said("stop", "tiny")
    assert "tiny" not in running()


@pytest.mark.ollama
def test_the_ollama_command_talks_with_a_model_that_knows_no_tools(require_engine: None, ollama_url: str) -> None:
    """Which has tools here all the same, for whoever offers some."""
    if not may_build_ollama():
        missing("no `ollama` command: ./dev test --ollama builds one")
    try:
        model = smollm2.fetched()
    except smollm2.NotFetched as why:
        missing(f"no SmolLM2: {why}")
    with served("--alias", f"smollm2={model}", CALLGATE_LLAMACPP_CONTEXT="4096") as gate:
        environ = {**os.environ, "OLLAMA_HOST": gate.url}

        def said(*words: str) -> str:
            done = subprocess.run(
                [server.installed(), *words], env=environ, capture_output=True, text=True, timeout=180, check=True
            )
            return done.stdout

        assert [line.split()[0] for line in said("list").splitlines()[1:]] == ["smollm2", "tiny", "tiny-plain"]
        shown = said("show", "smollm2")
        assert "135M" in shown
        assert shown.partition("Capabilities")[2].split() == ["completion", "tools"]
        assert said("run", "smollm2", "Say hello.").strip()
        assert "SmolLM2" in said("ps")
