"""Every client, unchanged, has the whole conversation: with a model that calls tools, and with one that can't.

Each is a program of its own beside this file, and runs where the clients are: `./dev env clients`, whose interpreter
CALLGATE_TEST_CLIENTS may name, or else the environment of these tests.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backends import smollm2
from tests.conftest import missing
from tests.gateway.clients.talk import RESULTS
from tests.gateway.command import served

pytestmark = pytest.mark.engine

ROOT = Path(__file__).resolve().parent.parent.parent
CLIENTS = {
    "with_openai": "openai",
    "with_openai_async": "openai",
    "with_responses": "openai",
    "with_responses_async": "openai",
    "with_anthropic": "anthropic",
    "with_anthropic_async": "anthropic",
    "with_ollama": "ollama",
    "with_chat_openai": "langchain_openai",
    "with_chat_ollama": "langchain_ollama",
    "with_chat_anthropic": "langchain_anthropic",
    "with_pydantic_ai": "pydantic_ai",
    "with_pydantic_ai_responses": "pydantic_ai",
    "with_pydantic_ai_anthropic": "pydantic_ai",
}
CALLS = [
    {"name": "get_weather", "arguments": {"city": "Paris"}},
    {"name": "multiply", "arguments": {"a": 17, "b": 23}},
]
LONGEST_SECONDS = 120


@pytest.fixture(scope="module")
def url(require_engine: None) -> Iterator[str]:
    with served() as gate:
        yield gate.url


@pytest.fixture(scope="module")
def url_of_smollm2(require_engine: None) -> Iterator[str]:
    try:
        model = smollm2.fetched()
    except smollm2.NotFetched as why:
        missing(f"no SmolLM2: {why}")
    with served("--alias", f"smollm2={model}", CALLGATE_LLAMACPP__CONTEXT="4096") as gate:
        yield gate.url


def talked(client: str, *words: str) -> list[dict[str, Any]]:
    """What came of each conversation."""
    python = os.environ.get("CALLGATE_TEST_CLIENTS", "")
    if not python and importlib.util.find_spec(CLIENTS[client]) is None:
        missing(f"no {CLIENTS[client]}: it is in the group of clients (./dev env clients)")
    done = subprocess.run(
        [python or sys.executable, str(ROOT / "tests" / "gateway" / "clients" / f"{client}.py"), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_has_a_conversation_with_two_tools(url: str, client: str) -> None:
    whole, streamed = talked(client, url, "tiny")
    for told in (whole, streamed):
        assert sorted(told["calls"], key=lambda call: str(call["name"])) == CALLS
        for result in RESULTS.values():
            assert any(result.split(",", maxsplit=1)[0] in answer for answer in told["answers"])
        assert set(told.get("modes", ["native"])) == {"native"}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_has_it_with_a_model_that_knows_no_tools(url_of_smollm2: str, client: str) -> None:
    (told,) = talked(client, url_of_smollm2, "smollm2", "--must", "--only-streamed")
    assert sorted(told["calls"], key=lambda call: str(call["name"])) == CALLS
    assert len(told["answers"]) == 2  # of which a model of this size makes what it can
    assert set(told.get("modes", ["emulated"])) == {"emulated"}
