"""On Windows `check`, `recover` and `serve` as a proxy work, as far as that can be told elsewhere: in a process that
has nothing of POSIX.
"""

from __future__ import annotations

import ast
import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from callgate.detect.template import worker
from callgate.vocabulary import ModelRef
from tests.gateway.upstreams import Upstream
from tests.packaging import as_on_windows
from tests.runtime.played import NOBODY

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="on Windows there is nothing to pretend")

ROOT = Path(__file__).parent.parent.parent
WINDOWS = (sys.executable, "-W", "error", str(Path(as_on_windows.__file__)))
TEMPLATE = "{% for m in messages %}{{ m.content }}{% endfor %}{% if tools %}{{ tools | tojson }}{% endif %}"
COSTLY = "{% for i in range(100000000) %}{% for j in range(100000000) %}x{% endfor %}{% endfor %}"


@pytest.fixture(autouse=True)
def folders_of_windows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CALLGATE_HOME")
    monkeypatch.setenv("APPDATA", str(tmp_path / "AppData" / "Roaming"))
    monkeypatch.setenv("LOCALAPPDATA", str(tmp_path / "AppData" / "Local"))
    monkeypatch.setenv("OLLAMA_HOST", NOBODY)


def run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([*WINDOWS, *words], input=given, capture_output=True, text=True, timeout=60, check=False)


def test_the_pretence_holds() -> None:
    code = """
import as_on_windows; as_on_windows.pretend()
from callgate.registry import locking
import os, signal, socket
assert not hasattr(locking, "fcntl") and hasattr(locking, "msvcrt")
assert os.name == "nt" and not hasattr(os, "killpg")
assert not hasattr(signal, "SIGKILL") and not hasattr(socket, "AF_UNIX")
try:
    import resource
except ImportError:
    print("as on Windows")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=Path(__file__).parent, capture_output=True, text=True, check=False
    )
    assert done.stdout == "as on Windows\n", done.stderr


def test_check_works_and_keeps_what_it_found(tmp_path: Path, tiny_gguf: Path) -> None:
    (tmp_path / "template.jinja").write_text(TEMPLATE, "utf-8")
    done = run("check", "--json", "tiny", str(tiny_gguf), str(tmp_path / "template.jinja"))
    assert done.returncode == 0, done.stderr
    assert [json.loads(line)["tools"] for line in done.stdout.splitlines()] == ["yes", "yes", "no"]
    assert list((tmp_path / "AppData").rglob("derived.json"))


def test_a_template_that_takes_for_ever_is_given_up(tmp_path: Path) -> None:
    (tmp_path / "template.jinja").write_text(COSTLY, "utf-8")
    done = run("check", str(tmp_path / "template.jinja"))
    assert done.returncode == 1
    assert "too much time" in done.stdout + done.stderr


def test_what_the_user_says_is_kept(tmp_path: Path) -> None:
    assert run("models", "set", "tiny", "--tools", "no").returncode == 0
    (said,) = map(json.loads, run("check", "--json", "tiny").stdout.splitlines())
    assert said["tools"] == "no"


def test_recover_works() -> None:
    done = run("recover", "--json", given='<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>')
    assert done.returncode == 0, done.stderr
    assert '"add"' in done.stdout


@contextmanager
def served(*words: str) -> Iterator[str]:
    command = [*WINDOWS, "serve", "--port", "0", "--json", "--drain", "1", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout
            assert process.stderr
            line = process.stdout.readline()
            assert line, process.stderr.read().decode()
            yield str(json.loads(line)["url"])
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
            assert process.stderr.read() == b""
        finally:
            process.kill()


async def test_serve_works_as_a_proxy(tmp_path: Path) -> None:
    import asyncio

    upstream = Upstream("a")
    await upstream.start()
    log = tmp_path / "requests.jsonl"
    try:
        with served("--upstream", upstream.url, "--access-log", str(log)) as url:
            asked = {"model": "m", "messages": [{"role": "user", "content": "Hello!"}], "stream": True}
            answer = await asyncio.to_thread(posted, f"{url}/v1/chat/completions", asked)
    finally:
        await upstream.stop()
    assert "data: [DONE]" in answer
    assert upstream.chats == 1
    assert json.loads(log.read_text("utf-8"))["status"] == 200


def posted(url: str, asked: object) -> str:
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(asked).encode()), timeout=30) as response:
        return str(response.read().decode())


def test_several_workers_are_refused_in_plain_words() -> None:
    done = run("serve", "--port", "0", "--workers", "2")
    assert done.returncode == 2
    assert "Windows" in done.stderr


def test_a_url_of_a_file_there_is_its_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.name", "nt")
    named = [
        ModelRef.parse(text) for text in ("file:///C:/models/m.gguf", "file:C:\\models\\m.gguf", "C:\\models\\m.gguf")
    ]
    monkeypatch.undo()
    assert [ref.scheme for ref in named] == ["file"] * 3
    assert [ref.name for ref in named] == ["C:/models/m.gguf", "C:\\models\\m.gguf", "C:\\models\\m.gguf"]


def test_limits_that_a_system_refuses_do_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    import resource

    def refuse(*_: object) -> None:
        raise ValueError("current limit exceeds maximum limit")

    monkeypatch.setattr(resource, "setrlimit", refuse)
    worker._limit_memory()


def test_modules_of_posix_are_imported_only_where_somebody_asked_for_the_platform() -> None:
    """At the top of a file they would keep it from being imported at all."""
    unguarded = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path in sorted((ROOT / "src" / "callgate").rglob("*.py"))
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module])
        if name in as_on_windows.MISSING_MODULES
    ]
    assert not unguarded
