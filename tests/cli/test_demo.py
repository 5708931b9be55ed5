"""The tour, with the model in the box and the real engine."""

from __future__ import annotations

import os
import pty
import signal
import subprocess
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest

from callgate.cli import demo, demo_steps, main
from callgate.cli.demo_steps import STEPS, Ran, Step, Taken, is_now
from callgate.cli.installation import as_installed
from callgate.vocabulary import ToolCall, ToolResult
from tests.cli.command import CALLGATE, callgate, environ

CALCULATOR = STEPS[0]
GARBAGE = (
    "The result is 392.",
    "The result is 391.\n</tool_call>",
    'The result is 391 (Sunday), "sunday)"}}\n</tool_response>',
    "The result is 391, - Sunday, U11-pines.",
    "<tool_call> The result is 391.",
    '{"result": 391}',
    "Sorry.",
)


def taken(result: str = "391", *, step: Step = CALCULATOR, name: str = "calculate", is_error: bool = False) -> Taken:
    call = ToolCall("1", name, {})
    ran = Ran(call, ToolResult(call_id="1", name=name, content=result, is_error=is_error))
    return Taken(
        step=step, mode="native", reason="", ran=(ran,), answer=f"The result is {result}.", notices=(), seconds=0.1
    )


def but(**changes: object) -> Taken:
    return msgspec.structs.replace(taken(), **changes)


# The judgement


def test_a_step_is_right_if_its_call_ran_and_gave_what_was_asked_for() -> None:
    assert taken().problem is None


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (taken("392"), "gave something else"),
        (taken(name="current_time"), "calculate was not called"),
        (taken(is_error=True), "could not be run"),
        (but(ran=()), "calculate was not called"),
        (but(ran=(Ran(ToolCall("1", "calculate", {}), None),)), "could not be run"),
        (but(ran=(*taken().ran, *taken(name="read_file").ran)), "the call of read_file gave something else"),
        (but(mode="emulated"), "should be native here, and were emulated"),
        (but(answer=""), "no answer"),
        *((but(answer=answer), "isn't what the tool said") for answer in GARBAGE),
    ],
)
def test_anything_else_is_a_problem_that_is_named(wrong: Taken, words: str) -> None:
    assert wrong.problem is not None
    assert words in wrong.problem


@pytest.mark.parametrize("told", ["", "soon", "2020-01-01T00:00:00+00:00", "Wednesday 2020-01-01 00:00 UTC"])
def test_only_the_time_is_the_time(told: str) -> None:
    assert not is_now(told)
    assert not is_now(f"{datetime.now(UTC) - timedelta(hours=1):%A %Y-%m-%d %H:%M} UTC")
    assert is_now(f"{datetime.now(UTC):%A %Y-%m-%d %H:%M} UTC")


@pytest.mark.parametrize("answer", ["391", "The result is 391.", "Here is the result:\n391\n"])
def test_an_answer_may_have_a_few_words_before_the_result(answer: str) -> None:
    assert but(answer=answer).problem is None


# The engine


def test_without_the_engine_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo, "find_spec", lambda _: None)
    assert main(["demo", "--no-input"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert as_installed("hint: pip install 'callgate[llamacpp]'") in shown.err


def test_help_has_examples() -> None:
    done = callgate("demo", "--help")
    assert (done.status, done.err) == (0, "")
    assert "callgate demo --no-input --json" in done.out
    assert "exit status:" in done.out


# The tour


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_each_call_really_runs_and_the_steps_tell_mode_and_calls(home: Path) -> None:
    done = callgate("demo", "--no-input", "--json")
    assert (done.status, done.err) == (0, "")
    steps = {each["step"]: each for each in done.objects}
    assert list(steps) == [step.name for step in STEPS]
    assert all(each["ok"] and each["problem"] is None for each in steps.values())
    assert {name: each["mode"] for name, each in steps.items()} == {
        "calculator": "native",
        "clock": "native",
        "files": "native",
        "swap": "emulated",
        "back": "native",
    }
    (calculated,) = steps["calculator"]["calls"]
    assert (calculated["name"], calculated["result"]) == ("calculate", "391")
    (read,) = steps["files"]["calls"]
    assert (read["args"], read["result"].strip()) == ({"path": "welcome.txt"}, "The gate is open.")
    (held,) = steps["swap"]["calls"]
    assert held["raw"].startswith("<tool_call>")
    assert steps["swap"]["model"] == "tiny-plain"
    (told,) = steps["clock"]["calls"]
    assert steps["clock"]["answer"] == told["result"]
    assert (held["result"], steps["swap"]["answer"]) == ("399", "The result is 399.")
    assert steps["back"]["answer"] == "The result is 42."
    assert not (home / "callgate").exists()  # nothing is kept


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_a_page_for_people_says_what_the_gate_did_whatever_is_set_here() -> None:
    done = callgate("demo", "--no-input", CALLGATE_TOOLS_STRATEGY="off", CALLGATE_MODELS_REQUIRE_TOOLS="true")
    assert (done.status, done.err) == (0, "")
    assert "\x1b" not in done.out
    for words in (
        "native for tiny: its chat template shows the model its tools",
        "emulated for tiny-plain: its chat template has no tools",
        'calculate {"expression":"17 * 23"}',
        "each call really ran, gave the right result, and the answer says it",
    ):
        assert words in done.out


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_one_wrong_result_is_a_failure(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = msgspec.structs.replace(CALCULATOR, is_right=lambda _: False)
    monkeypatch.setattr(demo_steps, "STEPS", (wrong,))
    assert main(["demo", "--json"]) == 1
    assert '"ok":false' in capsys.readouterr().out


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
@pytest.mark.parametrize("term", ["xterm", "dumb"])
def test_on_a_terminal_there_is_a_prompt_to_try_it(term: str) -> None:
    leader, follower = pty.openpty()
    command = [*CALLGATE, "demo"]
    with subprocess.Popen(
        command, stdin=follower, stdout=follower, stderr=follower, env=environ(TERM=term), start_new_session=True
    ) as process:
        os.close(follower)
        written, has_asked = b"", False
        try:
            while piece := _read(leader):
                written += piece
                if not has_asked and b"Now you" in written:
                    has_asked = True
                    os.write(leader, b"What is 12 * 34?\r" if term == "xterm" else b"What is 12 * 34?\n")
                if written.count(b"408") > 1:
                    os.write(leader, b"\x04")
        finally:
            os.close(leader)
            if process.poll() is None:
                process.wait(30)
    assert has_asked
    assert b"408" in written.partition(b"Now you")[2]
    assert process.returncode == 0


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_an_interruption_leaves_a_clean_line_behind() -> None:
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [*CALLGATE, "demo"], stdin=follower, stdout=follower, stderr=follower, env=environ(TERM="xterm")
    ) as process:
        os.close(follower)
        written = b""
        try:
            while piece := _read(leader):
                if "tiny …".encode() in written + piece and "tiny …".encode() not in written:
                    process.send_signal(signal.SIGINT)
                written += piece
        finally:
            os.close(leader)
            if process.poll() is None:
                process.wait(30)
    assert process.returncode == 130
    assert "tiny …" not in written.decode().rpartition("\x1b[K")[2]


def _read(leader: int) -> bytes:
    try:
        return os.read(leader, 65_536)
    except OSError:  # nobody has the terminal open any more
        return b""
