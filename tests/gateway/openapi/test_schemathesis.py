"""schemathesis against the real command: whatever it can make of /openapi.json, nothing is wrong with the answers."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest
from aiohttp import web

from callgate.vocabulary import AssistantDelta, Done, ThinkingDelta, ToolCall, ToolCallEvent, Usage
from tests.conftest import missing
from tests.gateway.command import served
from tests.gateway.running import recording
from tests.runtime.played import EMBEDDING, PlayedOllama, in_thread

EXAMPLES = os.environ.get("CALLGATE_TEST_SCHEMATHESIS", "")
"""For each operation: as many as one likes, or else a few that are always the same."""
A_FEW = ("--max-examples", "5", "--seed", "1")
KEY = "a-key-for-tests"
ANSWERS = (
    (AssistantDelta("Hel"), AssistantDelta("lo"), Usage(3, 2), Done("stop")),
    (ThinkingDelta("hm"), AssistantDelta("Hello"), Done("length")),
    (ToolCallEvent(ToolCall("1", "0", {"a": "17", "b": 23})), Usage(3, 2), Done("tool_calls")),
    (Done("stop"),),
)


class OllamaBehind(PlayedOllama):
    """Embeds, and agrees to all that is passed on."""

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        if request.path == "/api/embed":
            texts = (await request.json())["input"]
            return web.json_response({"embeddings": [[0.25, 0.5] for _ in texts]})
        if request.path.startswith(("/api/tags", "/api/show", "/api/ps", "/api/version")):
            return await super()._answer(request)
        await request.read()
        return web.json_response({"status": "success"})


@pytest.mark.skipif(bool(os.environ.get("CALLGATE_TEST_QUICK")), reason="it takes its time")
@pytest.mark.timeout(600 if not EXAMPLES else 36_000)
def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    if importlib.util.find_spec("schemathesis") is None:
        missing("no schemathesis: it is in the group of clients")
    model = recording(tmp_path / "said", *ANSWERS * 5_000)
    with (
        in_thread(*OllamaBehind(vectors=EMBEDDING).routes) as ollama,
        served("--model", model, "--explain", "--api-key", KEY, OLLAMA_HOST=ollama) as gate,
    ):
        done = subprocess.run(
            [
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{gate.url}/openapi.json", "--checks", "all"),
                *("--header", f"Authorization: Bearer {KEY}", "--continue-on-failure", "--no-color"),
                *(("--max-examples", EXAMPLES) if EXAMPLES else A_FEW),
            ],
            cwd=tmp_path,
            env={
                **os.environ,
                "PYTHONPATH": str(Path(__file__).parents[3]),
                "SCHEMATHESIS_HOOKS": "tests.gateway.openapi.schemathesis_hooks",
                "MODEL_THAT_TALKS": model,
                "MODEL_THAT_EMBEDS": "vectors",
            },
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
