"""`callgate ask` with tools that are run, and with models that take over."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Done, callgate

Record = Callable[..., str]

SUMS = '''
def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b
'''


def text(said: str) -> dict[str, Any]:
    return {"event": {"type": "assistant_delta", "data": {"text": said}}}


def call(name: str, **arguments: object) -> dict[str, Any]:
    return {"event": {"type": "tool_call", "data": {"id": "1", "name": name, "args": arguments}}}


def error(kind: str, message: str) -> dict[str, Any]:
    return {"error": {"type": kind, "message": message}}


@pytest.fixture
def record(tmp_path: Path) -> Record:
    """A model that says just this: one list for each turn."""

    def write(*exchanges: list[dict[str, Any]], name: str = "talk") -> str:
        lines: list[dict[str, Any]] = [{"callgate_recording": 1, "model": "m", "backend": "ollama"}]
        for exchange in exchanges:
            end = {"event": {"type": "done", "data": {"reason": "stop"}}}
            lines += [{"request": {}}, *({"at": 0, **line} for line in (*exchange, end))]
        path = tmp_path / f"{name}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines))
        return f"scripted:{path}"

    return write


@pytest.fixture
def sums(tmp_path: Path) -> str:
    path = tmp_path / "sums.py"
    path.write_text(SUMS)
    return str(path)


def ask(*words: str, **environ: str) -> Done:
    return callgate("ask", *words, given=b"", **environ)


def test_a_function_that_is_allowed_is_run_and_the_answer_is_all_on_standard_output(record: Record, sums: str) -> None:
    ref = record([call("multiply", a=17, b=23)], [text("It is 391.")])
    done = ask(ref, "17 times 23?", "--tools", sums, "--allow", "multiply")
    assert (done.status, done.out) == (0, "It is 391.\n")
    assert done.err == '→ multiply({"a":17,"b":23})\n← 391\n'


def test_without_a_terminal_it_is_denied_and_said_how_to_allow_it(record: Record, sums: str) -> None:
    ref = record([call("multiply", a=17, b=23)], [text("Sorry.")])
    done = ask(ref, "17 times 23?", "--tools", sums)
    assert (done.status, done.out) == (0, "Sorry.\n")
    assert "--allow 'sums/multiply'" in done.err


def test_denied_is_denied_though_it_is_allowed(record: Record, sums: str) -> None:
    ref = record([call("multiply", a=17, b=23)], [text("Sorry.")])
    done = ask(ref, "17 times 23?", "--tools", sums, "--allow", "*", "--deny", "sums/*")
    assert "settings don't allow" in done.err


def test_the_settings_allow_too(record: Record, sums: str) -> None:
    ref = record([call("multiply", a=17, b=23)], [text("It is 391.")])
    assert "← 391" in ask(ref, "?", "--tools", sums, CALLGATE_TOOLS_ALLOW="sums/*").err


def test_of_many_tools_those_are_offered_that_the_question_means(record: Record, sums: str) -> None:
    for words, environ in ((["--tool-limit", "1"], {}), ([], {"CALLGATE_TOOLS_LIMIT": "1"})):
        ref = record([call("multiply", a=17, b=23)], [text("It is 391.")])
        tools = ("--tools", sums, "--tools", "own", "--allow", "*")
        done = ask("--json", ref, "multiply 17 by 23", *tools, *words, **environ)
        (notice, *_) = [event["data"] for event in done.objects if event["type"] == "notice"]
        assert notice["kind"] == "tools_trimmed"
        assert "multiply" not in notice["message"]
        assert [event["data"]["name"] for event in done.objects if event["type"] == "tool_call"] == ["multiply"]


def test_all_that_happens_comes_as_json(record: Record, sums: str) -> None:
    ref = record([call("multiply", a=17, b=23)], [text("It is 391.")])
    done = ask("--json", ref, "17 times 23?", "--tools", sums, "--allow", "multiply")
    assert [event["type"] for event in done.objects] == [
        "tool_call",
        "tool_started",
        "tool_result",
        "assistant_delta",
        "done",
    ]
    result = done.objects[2]["data"]
    assert result.pop("seconds") >= 0
    assert result == {"id": "1", "name": "multiply", "content": "391", "is_error": False}
    assert done.err == ""


def test_described_tools_beside_ours_are_left_to_whoever_asked(record: Record, sums: str, tmp_path: Path) -> None:
    described = tmp_path / "tools.json"
    described.write_text('[{"type": "function", "function": {"name": "far"}}]')
    ref = record([call("far")])
    done = ask(ref, "?", "--tools", sums, "--tools", str(described))
    assert (done.status, done.out) == (0, "→ far({})\n")


def test_our_own_tools_need_no_permission(record: Record) -> None:
    ref = record([call("calculate", expression="17 * 23")], [text("It is 391.")])
    assert "← 391" in ask(ref, "17 times 23?", "--tools", "own").err


def test_files_below_a_folder_can_be_read(record: Record, tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "note.txt").write_text("the key is under the mat")
    ref = record([call("read_file", path="note.txt")], [text("Under the mat.")])
    assert "under the mat" in ask(ref, "Where is the key?", "--files", str(tmp_path / "papers")).err


def test_turns_are_limited_and_no_answer_is_a_failure(record: Record, sums: str) -> None:
    ref = record([call("multiply", a=1, b=1)], [call("multiply", a=2, b=2)])
    done = ask(ref, "?", "--tools", sums, "--allow", "*", "--max-turns", "1")
    assert (done.status, done.out) == (1, "")
    assert "called tools 1 times" in done.err


def test_control_sequences_of_a_tool_never_reach_the_terminal(record: Record, tmp_path: Path) -> None:
    path = tmp_path / "evil.py"
    path.write_text('def paint() -> str:\n    return "\\x1b]0;owned\\x07 red"\n')
    ref = record([call("paint", note="\x1b[2J")], [text("ok")])
    done = ask(ref, "?", "--tools", str(path), "--allow", "paint")
    assert "\x1b" not in done.out + done.err
    assert "\x07" not in done.out + done.err


def test_another_model_takes_over_and_a_line_says_so(record: Record) -> None:
    first = record([error("Unreachable", "nobody listens")], name="first")
    second = record([text("Hello.")], name="second")
    done = ask(first, "hi", "--fallback", f"{second},tiny")
    assert (done.status, done.out) == (0, "Hello.\n")
    assert "second.jsonl: nobody listens" in done.err
    events = ask("--json", first, "hi", "--fallback", second).objects
    assert events[0] == {"type": "model_changed", "data": {"model": second, "why": "nobody listens"}}


def test_what_another_model_can_do_no_better_is_told(record: Record) -> None:
    first = record([error("UsageError", "wrong")], name="first")
    done = ask(first, "hi", "--fallback", record([text("Hello.")], name="second"))
    assert (done.status, done.out) == (2, "")


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["--tools", "nowhere.py"], 1, "nowhere.py"),
        (["--mcp", "nowhere.json"], 1, "nowhere.json"),
        (["--files", "nowhere"], 1, "nowhere"),
        (["--max-turns", "0"], 2, "max-turns"),
        (["--fallback", "hf:x"], 2, "hub"),
    ],
)
def test_what_goes_wrong_is_said(words: list[str], status: int, says: str, record: Record) -> None:
    done = ask(record([text("hi")]), "hi", *words)
    assert (done.status, says in done.err) == (status, True), done.err
    assert "Traceback" not in done.err


def test_each_turn_is_recorded_and_plays_back(record: Record, sums: str, tmp_path: Path) -> None:
    ref = record([call("multiply", a=17, b=23)], [text("It is 391.")])
    again = str(tmp_path / "again.jsonl")
    words = ["17 times 23?", "--tools", sums, "--allow", "multiply"]
    first = ask(ref, *words, "--record", again)
    assert ask(f"scripted:{again}", *words) == first


@pytest.mark.engine
def test_the_model_in_the_box_calls_a_function_of_a_file(require_engine: None, sums: str) -> None:
    words = ["What is 17 times 23?", "--tools", sums, "--allow", "multiply", "--option", "temperature=0"]
    done = ask("tiny", *words)
    assert (done.status, "391" in done.out) == (0, True), done
    assert done.err == '→ multiply({"a":17,"b":23})\n← 391\n'
