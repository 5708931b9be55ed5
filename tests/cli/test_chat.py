"""`callgate chat` through pipes, as scripts use it."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chat.played_openai import Body, PlayedModels, Reply, calls_then_answers, says_hello
from tests.cli.command import Done, callgate
from tests.runtime.played import in_thread

TOOLS = 'def multiply(a: int, b: int) -> int:\n    """Multiply two numbers."""\n    return a * b\n'


async def attacks(reply: Reply, body: Body) -> None:
    await reply.text("\x1b]0;title\x07red\x1b[2J\x9b31m")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    played = PlayedModels(hello=says_hello, caller=calls_then_answers, attacker=attacks)
    with in_thread(*played.routes) as base:
        yield f"{base}/v1"


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS)
    return str(path)


def chat(*words: str, lines: list[str]) -> Done:
    return callgate("chat", *words, given="".join(f"{line}\n" for line in lines).encode())


def test_lines_are_taken_one_by_one_and_answers_are_all_that_is_on_standard_output(url: str) -> None:
    done = chat(f"{url}#hello", lines=["hi", "hi again"])
    assert done.status == 0
    assert done.out == "Hello!\nHello!\n"
    assert "hello, as you said · tools off" in done.err


def test_a_last_line_without_an_end_counts(url: str) -> None:
    assert callgate("chat", f"{url}#hello", given=b"hi").out == "Hello!\n"


def test_commands_work_through_a_pipe(url: str) -> None:
    done = chat(f"{url}#hello", lines=["/model tiny-plain", f"/model {url}#hello", "hi", "/exit", "never said"])
    assert done.out.splitlines()[0].startswith("now tiny-plain · tools off: its chat template has no tools")
    assert done.out.splitlines()[-1] == "Hello!"


def test_nobody_is_asked_so_tools_are_denied_unless_they_are_allowed(url: str, tools: str, home: Path) -> None:
    (home / "callgate").mkdir()
    known = {"user_models": [{"id": f"{url}#caller", "tool_support": True}]}
    (home / "callgate" / "user_models.json").write_text(json.dumps(known))
    words = (f"{url}#caller", "--tools", tools, "--no-own-tools")
    denied = chat(*words, lines=["What is 17 times 23?"])
    assert "391" not in denied.out + denied.err
    assert "isn't run, for nobody can be asked" in denied.err
    allowed = chat(*words, "--allow", "multiply", lines=["What is 17 times 23?"])
    assert allowed.out == "It is 391.\n"
    assert '→ multiply {"a":17,"b":23}' in allowed.err


def test_json_prints_events(url: str) -> None:
    done = callgate("chat", "--json", f"{url}#hello", given=b"hi\n/model tiny\n/caps\n/tools\n")
    kinds = [entry["type"] for entry in done.objects]
    assert kinds == [
        "model", "turn", *["assistant_delta"] * 3, "usage", "done", "model", "caps", "tools",
    ]  # fmt: skip
    assert done.objects[0]["data"]["model"] == f"{url}#hello"
    assert done.objects[7]["data"]["message"] == "now tiny · tools native · context 4k"
    assert done.objects[8]["data"]["tools"] == "yes"


def test_an_error_is_an_object_and_a_status() -> None:
    done = callgate("chat", "--json", "http://127.0.0.1:1/v1#gone", given=b"hi\n")
    assert done.status == 1
    assert done.objects[-1]["error"]["type"] == "Unreachable"


def test_nothing_that_a_terminal_obeys_gets_out(url: str) -> None:
    assert chat(f"{url}#attacker", lines=["hi"]).out == "red\n"
    assert "\x1b" not in callgate("chat", "--json", f"{url}#attacker", given=b"hi\n").out


def test_a_conversation_is_resumed(url: str) -> None:
    chat(f"{url}#hello", lines=["first", "/save talk"])
    done = callgate("chat", "--resume", "--json", given=b"second\n")
    past = [entry["data"]["content"] for entry in done.objects if entry["type"] == "message"]
    assert past == ["first", "Hello!"]
    assert chat("--resume", "nothing", lines=[]).status == 1


@pytest.mark.parametrize(
    ("words", "status"), [(("/nowhere/model.gguf",), 1), (("--tools", "/nowhere.py", "tiny"), 1), (("--nonsense",), 2)]
)
def test_what_is_wrong_at_the_start_is_said_with_a_status(words: tuple[str, ...], status: int) -> None:
    done = chat(*words, lines=["hi"])
    assert done.status == status
    assert "error" in done.err


def test_a_file_whose_name_is_hostile_is_listed_and_harmless(tmp_path: Path, tiny_gguf: Path) -> None:
    folder = tmp_path / "models"
    folder.mkdir()
    (folder / "ev\x1b[31mil\x1b]0;pw\x07.gguf").symlink_to(tiny_gguf)
    done = callgate("chat", "tiny", given=b"/models\n", CALLGATE_MODELS_DIR=str(folder), COLUMNS="200")
    assert "/evil.gguf" in done.out
    assert "\x1b" not in done.out
    assert "\x07" not in done.out


def test_a_password_is_kept_nowhere(url: str, tmp_path: Path, home: Path) -> None:
    model = url.replace("://", "://me:hunter2pw@") + "#hello"
    exported = [tmp_path / "talk.md", tmp_path / "talk.json", tmp_path / "talk.html"]
    done = chat(model, lines=["hi", *(f"/export {path}" for path in exported)])
    assert done.status == 0
    kept = [*exported, *(home / "callgate" / "conversations").iterdir()]
    assert len(kept) == 4
    assert all("Hello!" in path.read_text() for path in kept)
    assert not any("hunter2pw" in path.read_text() for path in kept)
    assert "hunter2pw" not in callgate("chat", "--json", model, given=b"hi\n").out
    assert "hello, as before" in chat("--resume", lines=["hi"]).err


def test_servers_that_cant_be_read_of_are_an_error_at_once() -> None:
    done = chat("tiny", "--mcp", "/nowhere/mcp.json", lines=["/mcp"])
    assert done.status == 1
    assert "there is no file '/nowhere/mcp.json' with MCP servers" in done.err


def test_programs_hear_of_tools_when_they_are_there(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    time = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "Etc/UTC"]}
    file.write_text(json.dumps({"mcpServers": {"time": time}}))
    done = chat("tiny", "--mcp", str(file), "--no-own-tools", lines=["/mcp"])
    assert "tiny, as you said · tools native" in done.err
    assert "time" in done.out
    assert "starting" not in done.out
