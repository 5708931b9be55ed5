"""Coding agents, unchanged, do two things with their own tools, and answer.

Their prompts are longer than the models of these tests can take, so a recording plays the model; all else is real. They
run where somebody has them: CALLGATE_TEST_AGENTS=node_modules/.bin, after
`npm install @anthropic-ai/claude-code @openai/codex opencode-ai`.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from callgate.vocabulary import AssistantDelta, Done, Event, ToolCall, ToolCallEvent, Usage
from tests.gateway.clients.coding_agents import AGENTS, calls_of, done_by
from tests.gateway.command import served
from tests.gateway.running import recording

pytestmark = [pytest.mark.engine, pytest.mark.timeout(240)]


@pytest.mark.parametrize("name", AGENTS)
def test_a_coding_agent_does_what_the_model_says(name: str, require_engine: None, tmp_path: Path) -> None:
    agent = AGENTS[name]
    if not (Path(os.environ.get("CALLGATE_TEST_AGENTS") or "/nowhere") / agent.command).exists():
        pytest.skip(f"no {name}: CALLGATE_TEST_AGENTS names no folder that has it")
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "--quiet", str(folder)], check=True)
    (folder / "notes.txt").write_text("The word is marmalade.\n", "utf-8")
    calls: list[Event] = [
        ToolCallEvent(ToolCall(f"c{n}", *call))
        for n, call in enumerate(calls_of(agent, folder / "notes.txt", "cp notes.txt copied.txt"))
    ]
    script = recording(
        tmp_path / "script",
        [*calls, Usage(100, 20), Done("tool_calls")],
        [AssistantDelta("It is "), AssistantDelta("marmalade."), Usage(200, 5), Done("stop")],
    )
    with served("--alias", f"played={script}") as gate:
        done = done_by(agent, folder, gate.url, "played", "Which word is in notes.txt? Copy it.")
    assert done.returncode == 0, done.stderr[-3000:]
    assert "It is marmalade." in done.stdout, done.stdout[-3000:] + done.stderr[-3000:]
    assert (folder / "copied.txt").read_text("utf-8") == "The word is marmalade.\n"
