"""Every client, unchanged, has the whole conversation: with a model that calls tools, and with one that can't.

Each is a program of its own beside this file, and runs where the clients are: those of Python in `./dev env clients`,
whose interpreter CALLGATE_TEST_CLIENTS may name, or else in the environment of these tests; those of npm with Node.js.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.backends import smollm2
from tests.conftest import missing
from tests.gateway.clients.npm import packages
from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, RESULTS, TOOLS
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
NPM = packages.HERE
CLIENTS_OF_NPM = sorted(program.stem for program in NPM.glob("with_*.mjs"))
TALK_OF_NPM = json.dumps({"tools": TOOLS, "questions": QUESTIONS, "results": RESULTS, "most_tokens": MOST_TOKENS})
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
    with served("--alias", f"smollm2={model}", CALLGATE_LLAMACPP_CONTEXT="4096") as gate:
        yield gate.url


@pytest.fixture(scope="module")
def programs_of_npm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the programs, and beside them, where Node.js looks for it, what they import."""
    try:
        modules = packages.installed()
    except packages.NotInstalled as why:
        missing(f"no clients of npm: {why}")
    folder = tmp_path_factory.mktemp("npm")
    shutil.copytree(NPM, folder, dirs_exist_ok=True)
    (folder / "node_modules").symlink_to(modules)
    return folder


def talked(client: str, *words: str) -> list[dict[str, Any]]:
    """What came of each conversation."""
    python = os.environ.get("CALLGATE_TEST_CLIENTS", "")
    if not python and importlib.util.find_spec(CLIENTS[client]) is None:
        missing(f"no {CLIENTS[client]}: it is in the group of clients (./dev env clients)")
    return told_by(python or sys.executable, ROOT / "tests" / "gateway" / "clients" / f"{client}.py", *words)


def told_by(interpreter: str, program: Path, *words: str) -> list[dict[str, Any]]:
    done = subprocess.run(
        [interpreter, str(program), *words],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=TALK_OF_NPM,
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(line) for line in done.stdout.splitlines()]


def both_tools_were_used(conversations: list[dict[str, Any]]) -> None:
    assert len(conversations) == 2, "whole, and in pieces"
    for told in conversations:
        assert sorted(told["calls"], key=lambda call: str(call["name"])) == CALLS
        for result in RESULTS.values():
            assert any(result.split(",", maxsplit=1)[0] in answer for answer in told["answers"])
        assert set(told.get("modes", ["native"])) == {"native"}


def both_tools_were_used_all_the_same(conversations: list[dict[str, Any]]) -> None:
    (told,) = conversations
    assert sorted(told["calls"], key=lambda call: str(call["name"])) == CALLS
    assert len(told["answers"]) == 2  # of which a model of this size makes what it can
    assert set(told.get("modes", ["emulated"])) == {"emulated"}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_client_has_a_conversation_with_two_tools(url: str, client: str) -> None:
    both_tools_were_used(talked(client, url, "tiny"))


@pytest.mark.parametrize("client", CLIENTS_OF_NPM)
def test_a_client_of_npm_has_it_too(url: str, programs_of_npm: Path, client: str) -> None:
    both_tools_were_used(told_by("node", programs_of_npm / f"{client}.mjs", url, "tiny"))


@pytest.mark.parametrize("client", [client for client in CLIENTS if not client.endswith("_async")])
def test_a_client_has_it_with_a_model_that_knows_no_tools(url_of_smollm2: str, client: str) -> None:
    both_tools_were_used_all_the_same(talked(client, url_of_smollm2, "smollm2", "--must", "--only-streamed"))


@pytest.mark.parametrize("client", CLIENTS_OF_NPM)
def test_a_client_of_npm_has_it_with_one_too(url_of_smollm2: str, programs_of_npm: Path, client: str) -> None:
    words = (url_of_smollm2, "smollm2", "--must", "--only-streamed")
    both_tools_were_used_all_the_same(told_by("node", programs_of_npm / f"{client}.mjs", *words))
