"""Where the commands of a page are run: a home and a folder of their own, with stand-ins for what readers have.

Their Ollama is another callgate, which has the model in the box by the names that the pages use; their hub is one that
we play; `uvx` runs what is installed here; agents ask one question where their variables lead them. Servers get a free
port instead of the one that the page shows.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.cli.command import CALLGATE
from tests.docs.snippets import Shown
from tests.gateway.command import served
from tests.hub.played_hub import PlayedHub, Repo
from tests.runtime.played import in_thread

LONGEST_SECONDS = 90
START_SECONDS = 60
PORT = "11435"
TINY = Path(__file__).parents[2] / "src" / "callgate" / "data" / "tiny.gguf"
WITH_TOOLS = ("qwen3:8b", "qwen3:4b", "llama3.2", "qwen2.5-coder:7b", "mistral-small")
WITHOUT = ("gemma3:4b", "phi3:mini")
REPOSITORIES = {
    "Qwen/Qwen3-4B-GGUF": ("Qwen3-4B-Q4_K_M.gguf", "Qwen3-4B-Q8_0.gguf"),
    "NousResearch/Hermes-2-Pro-Mistral-7B-GGUF": ("Hermes-2-Pro-Mistral-7B.Q4_K_M.gguf",),
}
_SERVER = re.compile(r"^(?:\w+=\S+ )*callgate serve\b(?!.*(?:--help|;))")
_ELSEWHERE = re.compile(r"http://(?:a|b|host|lab|gpu-?\d?)(?::\d+)?(?=[/#\s]|$)")
_ASK = """curl -sS --fail-with-body "$1" -H "Authorization: Bearer $2" -d '{"model": "'"$3"'", "max_tokens": 9,
    "messages": [{"role": "user", "content": "Hello!"}]}'"""
AGENTS = {
    "claude": 'set -- "$ANTHROPIC_BASE_URL/v1/messages" "$ANTHROPIC_AUTH_TOKEN" "$ANTHROPIC_MODEL"',
    "goose": 'set -- "$OPENAI_HOST/$OPENAI_BASE_PATH" "$OPENAI_API_KEY" "$GOOSE_MODEL"',
    "aider": 'set -- "$OPENAI_API_BASE/chat/completions" "$OPENAI_API_KEY" "${2#openai/}"',
}
"""Stand-ins, by where each of them is told to ask: the address, the key and the model."""
FILES = {
    "tools.json": """[{"name": "multiply", "description": "Multiply two numbers.", "inputSchema": {"type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}}]""",
    "tools.py": 'def multiply(a: int, b: int) -> int:\n    """Multiply two numbers."""\n    return a * b\n',
    "schema.json": """{"type": "object", "properties": {"days": {"type": "integer"},
        "unit": {"enum": ["celsius", "fahrenheit"]}}}""",
}
"""What pages speak of without showing it; those that do show it have their own."""


class Others:
    """The servers that readers have, for all pages."""

    def __init__(self, ollama: str, hub: str) -> None:
        self.ollama = ollama
        self.hub = hub


@contextmanager
def others() -> Iterator[Others]:
    aliases = [f"{name}=tiny" for name in WITH_TOOLS] + [f"{name}=tiny-plain" for name in WITHOUT]
    words = [word for alias in aliases for word in ("--alias", alias)]
    hub = PlayedHub()
    hub.repos = {name: Repo(dict.fromkeys(files, TINY)) for name, files in REPOSITORIES.items()}
    storage = (("*", "/{path:.*}", hub._store),)
    answers = (("*", "/{path:.*}", hub._answer),)
    with in_thread(*storage) as hub.storage, in_thread(*answers) as hub.url, served(*words) as endpoint:
        yield Others(endpoint.url, hub.url)


class Stage:
    def __init__(self, folder: Path, others: Others) -> None:
        self.folder = folder / "work"
        self._home = folder / "home"
        self._others = others
        self._ports = {"11434": others.ollama.rpartition(":")[2]}
        self._exports: list[str] = []
        self._servers: list[subprocess.Popen[bytes]] = []
        programs = folder / "bin"
        for made in (self.folder, self._home, programs):
            made.mkdir(parents=True)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)
        for name in ("model.gguf", "Qwen3-Coder-30B-A3B-Instruct-Q4_K_M.gguf"):
            (self.folder / name).symlink_to(TINY)
        self._program(programs / "callgate", "exec " + " ".join(CALLGATE) + ' "$@"')
        self._program(programs / "uvx", 'exec "$@"')
        for name, where in AGENTS.items():
            self._program(programs / name, f"{where}\n{_ASK}")
        here = [str(programs), str(Path(sys.executable).parent)]
        self.environ = {
            **{name: value for name, value in os.environ.items() if name not in ("CALLGATE_HOME", "COLUMNS")},
            "PATH": os.pathsep.join([*here, os.environ["PATH"]]),
            "HOME": str(self._home),
            "OLLAMA_HOST": others.ollama,
            "HF_ENDPOINT": others.hub,
            # Without the plugins of those who happen to be installed beside us.
            "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
            "PYTEST_PLUGINS": "callgate.testing",
            "PYTEST_ADDOPTS": "-p no:cacheprovider",
            "PYTHONDONTWRITEBYTECODE": "1",
        }

    @staticmethod
    def _program(path: Path, script: str) -> None:
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def here(self, text: str) -> str:
        """The text with this place's addresses for those of the page."""
        text = _ELSEWHERE.sub(self._others.ollama, text)
        return re.sub(r"\b\d{4,5}\b", lambda found: self._ports.get(found[0], found[0]), text)

    def write(self, name: str, text: str) -> None:
        path = self.folder / name
        assert path.resolve().is_relative_to(self.folder.resolve()), name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.write_text(self.here(text))

    def run(self, shown: Shown) -> tuple[int, str]:
        """The command's exit status, and what it said on both outputs."""
        if _SERVER.match(shown.command):
            return 0, self._serve(shown.command.removesuffix("&").rstrip())
        if shown.command.startswith("export "):
            self._exports.append(self.here(shown.command))
        return self.script("\n".join([*self._exports, self.here(shown.command)]))

    def script(self, text: str, *shell: str) -> tuple[int, str]:
        done = subprocess.run(
            [*(shell or ("bash", "-c")), text],
            cwd=self.folder,
            env=self.environ,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=LONGEST_SECONDS,
            check=False,
        )
        return done.returncode, done.stdout.decode()

    def python(self, program: str) -> tuple[int, str]:
        self.write(".program.py", program)
        return self.script(f"exec '{sys.executable}' -W error .program.py")

    def _serve(self, command: str) -> str:
        """Starts it, and gives what it said until it was ready."""
        self.end()
        named = re.search(r"--port (\d+)", command)
        port = named[1] if named else PORT
        self._ports[port] = free_port()
        if not named:
            command += f" --port {port}"
        said = self.folder.parent / "server.log"
        with said.open("wb") as output:
            process = subprocess.Popen(
                ["bash", "-c", "\n".join([*self._exports, self.here(command)])],
                cwd=self.folder,
                env=self.environ,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._servers.append(process)
        until = time.monotonic() + START_SECONDS
        while "http://" not in said.read_text():
            assert process.poll() is None, f"it didn't start: {said.read_text()}"
            assert time.monotonic() < until, f"it takes too long to start: {said.read_text()}"
            time.sleep(0.05)  # between two looks
        return said.read_text()

    def end(self) -> None:
        for process in self._servers:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._servers.clear()

    def leave(self) -> None:
        self.end()
        shutil.rmtree(self.folder, ignore_errors=True)


def free_port() -> str:
    with socket.socket() as opened:
        opened.bind(("127.0.0.1", 0))
        return str(opened.getsockname()[1])
