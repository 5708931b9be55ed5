from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import CALLGATE, environ

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": "get_weather",
            "description": "Get the current weather in a city.",
            "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        },
    }
]
RECORDING = [
    {"callgate_recording": 1, "model": "m", "backend": "ollama"},
    {"request": {"model": "m", "messages": []}},
    {"at": 0, "event": {"type": "assistant_delta", "data": {"text": "It is \x1b[31mred\x07"}}},
    {"at": 0, "event": {"type": "tool_call", "data": {"id": "1", "name": "get_weather", "args": {"city": "Paris"}}}},
    {"at": 0, "event": {"type": "usage", "data": {"prompt_tokens": 3, "completion_tokens": 2}}},
    {"at": 0, "event": {"type": "done", "data": {"reason": "tool_calls"}}},
]


def ask(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*CALLGATE, "ask", *words], input=given, capture_output=True, text=True, timeout=120, check=False, env=environ()
    )


def events(done: subprocess.CompletedProcess[str]) -> list[dict[str, object]]:
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.fixture
def recording(tmp_path: Path) -> str:
    path = tmp_path / "talk.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in RECORDING))
    return f"scripted:{path}"


def test_events_come_as_json_lines_in_their_order(recording: str) -> None:
    done = ask("--json", recording, "hello")
    assert done.returncode == 0
    assert [event["type"] for event in events(done)] == ["assistant_delta", "tool_call", "usage", "done"]
    assert events(done)[1]["data"] == {"id": "1", "name": "get_weather", "args": {"city": "Paris"}}


def test_a_person_sees_text_and_calls_and_nothing_that_a_terminal_obeys(recording: str) -> None:
    done = ask(recording, "hello")
    assert done.stdout == 'It is �[31mred�\n→ get_weather({"city":"Paris"})\n'


def test_the_question_may_stand_behind_the_options(recording: str) -> None:
    assert ask(recording, "--system", "Be kind.", "--json", "hello").returncode == 0
    assert ask(recording, "hello", "--json", "again").returncode == 2


def test_what_is_recorded_plays_back_the_same(recording: str, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    first = ask("--json", "--record", str(again), recording, "hello")
    assert ask("--json", f"scripted:{again}", "hello").stdout == first.stdout


def test_a_redacted_record_has_no_arguments(recording: str, tmp_path: Path) -> None:
    again = tmp_path / "again.jsonl"
    ask("--json", "--record", str(again), "--redact", recording, "hello")
    assert "Paris" not in again.read_text()


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["tiny"], 2, "no question"),
        (["--tools", "nowhere.json", "tiny", "x"], 2, "can't be read"),
        (["--image", "nowhere.png", "tiny", "x"], 2, "can't be read"),
        (["--option", "temperature", "tiny", "x"], 2, "NAME=VALUE"),
        (["scripted:nowhere.jsonl", "x"], 1, "nowhere.jsonl"),
        (["elsewhere://m", "x"], 2, "elsewhere"),
        (["--endpoint", "http://127.0.0.1:9", "m", "x"], 4, "ollama serve"),
    ],
)
def test_what_goes_wrong_is_said_with_the_right_status(words: list[str], status: int, says: str) -> None:
    done = ask(*words)
    assert (done.returncode, says in done.stderr) == (status, True), done.stderr
    assert "Traceback" not in done.stderr


def test_an_error_is_json_too() -> None:
    done = ask("--json", "--endpoint", "http://127.0.0.1:9", "m", "x")
    (line,) = events(done)
    assert isinstance(line["error"], dict)
    assert line["error"]["type"] == "Unreachable"


@pytest.mark.ollama
def test_the_same_question_gives_the_same_kinds_of_events_wherever_it_is_asked(
    ollama_url: str, require_engine: None, tmp_path: Path
) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps(TOOLS))
    kinds = []
    for ref in ("tiny", f"ollama+{ollama_url}#tiny", f"{ollama_url}/v1#tiny"):
        done = ask("--json", "--option", "temperature=0", "--tools", str(tools), ref, "What is the weather in Paris?")
        assert done.returncode == 0, done.stdout + done.stderr
        assert any(event["type"] == "tool_call" for event in events(done))
        kinds.append([event["type"] for event in events(done)])
    assert kinds[0] == kinds[1] == kinds[2]


@pytest.mark.engine
def test_a_model_that_may_not_run_is_refused_in_these_words(require_engine: None) -> None:
    done = subprocess.run(
        [*CALLGATE, "ask", "tiny-plain", "Hello!"],
        env=environ() | {"CALLGATE_MODELS_REQUIRE_TOOLS": "true"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    words = "Model 'tiny-plain' rejected: its chat template does not support tool calling (supports_tools=false)"
    assert (done.returncode, words in done.stderr) == (3, True)


@pytest.mark.engine
def test_ctrl_c_cancels_in_order_and_leaves_no_engine_behind(require_engine: None) -> None:
    asked = ["ask", "--json", "--option", "ignore_eos=true", "--max-tokens", "3000", "tiny", "Hello!"]
    process = subprocess.Popen(
        [*CALLGATE, *asked],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environ(),
    )
    assert process.stdout is not None
    first = json.loads(process.stdout.readline())
    children = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    rest, complaints = process.communicate(timeout=60)
    assert first["type"] == "assistant_delta"
    assert json.loads(rest.splitlines()[-1]) == {"type": "done", "data": {"reason": "cancelled"}}
    assert (process.returncode, complaints) == (130, "")
    assert children
    assert not [child for child in children if Path(f"/proc/{child}").exists()]


def descendants(pid: int) -> list[int]:
    found = []
    for listing in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in map(int, listing.read_text().split()):
            found += [child, *descendants(child)]
    return found
