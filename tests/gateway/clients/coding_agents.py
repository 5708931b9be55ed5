"""Real coding agents, by their published settings: in a folder, with nothing but this machine in their reach.

They are large, and none of ours, so nobody gets them unasked. Standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import NamedTuple

LONGEST_SECONDS = 150
NOWHERE = "http://127.0.0.1:9"
QUIET = {
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
    "DO_NOT_TRACK": "1",
    "OPENCODE_DISABLE_AUTOUPDATE": "1",
    "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
    "OPENCODE_DISABLE_MODELS_FETCH": "1",
}


class Agent(NamedTuple):
    command: str
    words: tuple[str, ...]
    """Before what it is told to do."""
    read: tuple[str, str]
    """Its tool that reads a file, or runs a command that does, and the parameter for it."""
    run: tuple[str, str]


AGENTS = {
    "claude": Agent("claude", ("--allowedTools=Read,Bash", "-p"), read=("Read", "file_path"), run=("Bash", "command")),
    "codex": Agent(
        "codex",
        ("exec", "--skip-git-repo-check", "--sandbox", "danger-full-access"),
        read=("exec_command", "cmd"),
        run=("exec_command", "cmd"),
    ),
    "opencode": Agent("opencode", ("run",), read=("read", "filePath"), run=("bash", "command")),
}


def calls_of(agent: Agent, file: Path, command: str) -> list[tuple[str, dict[str, str]]]:
    """Two calls, as its model would make them."""
    name, parameter = agent.read
    reading = {parameter: f"cat {file}" if agent.read == agent.run else str(file)}
    return [(name, reading), (agent.run[0], {agent.run[1]: command, "description": "Do it"})]


def done_by(agent: Agent, folder: Path, url: str, model: str, told: str) -> subprocess.CompletedProcess[str]:
    """What came of it; `folder` is its home, too."""
    _settle(folder, url, model)
    return subprocess.run(
        [Path(os.environ["CALLGATE_TEST_AGENTS"]) / agent.command, *agent.words, told],
        cwd=folder,
        env={
            **os.environ,
            **QUIET,
            "HOME": str(folder),
            "PWD": str(folder),  # which opencode believes rather than where it is
            "ANTHROPIC_BASE_URL": url,
            "ANTHROPIC_AUTH_TOKEN": "none",
            "ANTHROPIC_MODEL": model,
            "ANTHROPIC_DEFAULT_HAIKU_MODEL": "tiny",
            "HTTPS_PROXY": NOWHERE,
            "HTTP_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=LONGEST_SECONDS,
        check=False,
    )


def _settle(folder: Path, url: str, model: str) -> None:
    """The files of those that want files."""
    (folder / ".codex").mkdir()
    provider = f'[model_providers.callgate]\nname = "callgate"\nbase_url = "{url}/v1"\nwire_api = "responses"\n'
    quiet = "check_for_update_on_startup = false\n[analytics]\nenabled = false\n"
    codex = f'model = "{model}"\nmodel_provider = "callgate"\n{quiet}{provider}'
    (folder / ".codex" / "config.toml").write_text(codex, "utf-8")
    limit = {"limit": {"context": 65_536, "output": 4_096}}
    callgate = {
        "npm": "@ai-sdk/openai-compatible",
        "options": {"baseURL": f"{url}/v1"},
        "models": {model: limit, "tiny": limit},
    }
    opencode = {"provider": {"callgate": callgate}, "model": f"callgate/{model}", "small_model": "callgate/tiny"}
    (folder / ".config" / "opencode").mkdir(parents=True)
    (folder / ".config" / "opencode" / "opencode.json").write_text(json.dumps(opencode), "utf-8")
