from __future__ import annotations

import asyncio
import json
import re
import signal
import subprocess
from pathlib import Path

import pytest

from callgate.cli.validate import unmet
from callgate.cli.validate_model import verdict
from tests.cli.command import CALLGATE, callgate, environ
from tests.cli.test_terminal import seen
from tests.runtime.agents import Script, says, script
from tests.runtime.played import NOBODY
from tests.validate.made_runs import outcomes, trial
from tests.validate.made_runs import run as made_run
from tests.validate.played_model import PlayedModel

__all__ = ["script"]


@pytest.fixture
def talker(script: Script) -> str:
    """A model that only talks."""
    return str(script(*[says("Hello! I can ", "only talk.")] * 300))


def test_cases_are_listed_for_people_and_for_programs() -> None:
    shown = callgate("validate", "--list")
    assert (shown.status, "one-call" in shown.out, "long-tool-list" in shown.out) == (0, True, False)
    listed = callgate("validate", "--list", "--json", "--suite", "full").objects
    assert {"one-call", "long-tool-list"} <= {case["name"] for case in listed}


def test_each_trial_is_a_line_and_a_summary_comes_last(talker: str) -> None:
    done = callgate("validate", talker, "--json", "--modes", "native", "--trials", "2", "--only", "one-call,small-talk")
    assert done.status == 0
    *trials, summary = done.objects
    assert [(trial["case"], trial["trial"], trial["passed"]) for trial in trials] == [
        ("one-call", 0, False),
        ("one-call", 1, False),
        ("small-talk", 0, True),
        ("small-talk", 1, True),
    ]
    assert {"model", "mode", "case", "check", "trial", "passed", "expected", "got", "ms"} <= trials[0].keys()
    assert (summary["type"], summary["passed"], summary["failed"], summary["rate"]) == ("summary", 2, 2, 0.5)


def test_a_person_sees_a_table_and_why(talker: str) -> None:
    words = ("validate", talker, "--modes", "native", "--trials", "1", "--only", "one-call")
    shown = callgate(*words)
    assert (shown.status, shown.err) == (0, "")
    assert "0/1" in shown.out
    assert "1 no-call (--why shows them)" in shown.out
    assert "it had to call a tool, and only spoke" in callgate(*words, "--why").out


@pytest.mark.parametrize(("least", "status"), [("0.5", 0), ("50%", 0), ("0.51", 3)])
def test_less_than_was_asked_for_is_exit_status_3(talker: str, least: str, status: int) -> None:
    words = ("--modes", "native", "--trials", "1", "--only", "one-call", "--only", "small-talk")
    assert callgate("validate", talker, *words, "--min-pass", least).status == status


@pytest.mark.parametrize(
    ("native", "emulated", "off", "told"),
    [
        ("pppp", "pppp", "", []),
        ("pppp", "ffff", "", ["tiny emulated: 0.0% passed, less than 75.0%"]),
        ("pppf", "uuuu", "", []),  # what isn't supported neither passes nor fails
        ("pf", "pppf", "pp", []),  # a case that has no mode counts in each
        ("pp", "pp", "ff", [f"tiny {mode}: 50.0% passed, less than 75.0%" for mode in ("native", "emulated")]),
        ("", "", "pf", ["tiny off: 50.0% passed, less than 75.0%"]),
        ("u", "", "", ["tiny: nothing could be judged"]),
    ],
)
def test_each_mode_has_to_come_to_what_was_asked_for(
    native: str, emulated: str, off: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    by_mode = {"native": native, "emulated": emulated, "off": off}
    tried = made_run(trial for mode, pattern in by_mode.items() for trial in outcomes(pattern, mode=mode))
    assert unmet([tried], 0.75) == (3 if told else 0)
    assert capsys.readouterr().err.splitlines() == [f"note: {line}" for line in told]


def test_a_server_that_is_not_there_is_exit_status_4_and_the_rest_is_still_done(talker: str) -> None:
    words = ("--modes", "native", "--trials", "1", "--only", "one-call", "--json")
    done = callgate("validate", f"{NOBODY}/v1#m", talker, *words)
    assert done.status == 4
    assert done.objects[0]["error"]["type"] == "Unreachable"
    assert done.objects[-1]["model"] == talker


def test_two_runs_are_compared_and_reports_written(talker: str, tmp_path: Path) -> None:
    words = ("validate", talker, "--modes", "native", "--trials", "1", "--only", "one-call")
    before, junit, page = tmp_path / "before.jsonl", tmp_path / "out.xml", tmp_path / "out.html"
    before.write_text(callgate(*words, "--json").out)
    done = callgate(*words, "--against", str(before), "--junit", str(junit), "--html", str(page))
    assert done.status == 0
    assert "not one of 1 pair differs" in done.out
    assert junit.read_text().startswith("<?xml")
    assert "<html" in page.read_text()
    assert callgate(*words, "--against", str(tmp_path / "none")).status == 1
    assert callgate(*words, "--html", str(tmp_path / "no" / "where.html")).status == 2


def test_ctrl_c_shows_what_was_done(script: Script, tmp_path: Path) -> None:
    slow = f"{script(*[says('No.')] * 300, at=0.3)}?timing=1"
    command = [*CALLGATE, "validate", slow, "--modes", "native", "--only", "one-call", "--trials", "90", "--json"]
    with subprocess.Popen(command, env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        first = process.stdout.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    lines = [json.loads(line) for line in (first + out).splitlines()]
    assert process.returncode == 130
    assert (lines[0]["case"], lines[-1]["type"], lines[-1]["about"]["complete"]) == ("one-call", "summary", False)
    assert (lines[-1]["failed"], err) == (len(lines) - 1, b"")


@pytest.mark.parametrize(
    "words",
    [
        ("validate",),
        ("validate", "tiny", "--modes", "sideways"),
        ("validate", "tiny", "--trials", "0"),
        ("validate", "tiny", "--min-pass", "7"),
        ("validate", "tiny", "--only", "nonsense"),
        ("validate-model",),
    ],
)
def test_wrong_usage_is_exit_status_2(words: tuple[str, ...]) -> None:
    assert callgate(*words).status == 2


@pytest.mark.parametrize("spelling", [("--modelId={}",), ("--model-id", "{}"), ("{}",)])
def test_the_spelling_of_other_tools_is_understood(talker: str, spelling: tuple[str, ...]) -> None:
    words = [word.format(talker) for word in spelling]
    done = callgate("validate-model", *words, "--trials", "1", "--json")
    assert done.status == 3
    checks = done.objects[-1]["checks"]
    assert (checks["toolCall"], checks["noToolCall"], checks["plainText"]) == ("fail", "pass", "pass")


def test_the_full_suite_has_more_checks(talker: str) -> None:
    shown = callgate("validate-model", f"--modelId={talker}", "--fullSuite", "--trials", "1")
    assert shown.status == 3
    assert [line.split()[1] for line in shown.out.splitlines() if line.startswith("longToolList")] == ["fail"]


def test_somebody_who_looks_on_sees_how_far_it_is_and_how_long_it_takes(script: Script) -> None:
    slow = f"{script(*[says('No.')] * 9, at=0.2)}?timing=1"
    shown = seen("validate", slow, "--modes", "native", "--only", "one-call", "--trials", "8")
    assert re.search(r"\d of 8, \d failed, \d+ s left  native one-call", shown)
    assert shown.rstrip().endswith("8 no-call (--why shows them)")


def test_a_password_in_an_address_is_not_shown() -> None:
    url = f"{NOBODY.replace('://', '://joe:SECRETPW@')}/v1#m"
    for words in ((f"--modelId={url}",), (f"--modelId={url}", "--json")):
        done = callgate("validate-model", *words, "--trials", "1")
        assert done.status == 4
        assert "SECRETPW" not in done.out + done.err


def test_a_report_that_can_not_be_written_is_told_before_anything_is_tried(talker: str, tmp_path: Path) -> None:
    for option in ("--html", "--junit"):
        done = callgate("validate", talker, option, str(tmp_path / "no" / "where"), "--json")
        assert done.status == 2
        assert [list(line) for line in done.objects] == [["error"]]
    assert (
        callgate("validate", f"{NOBODY}/v1#m", "--html", str(tmp_path / "page.html"), "--against", "none").status == 1
    )
    assert not (tmp_path / "page.html").exists()


def test_a_share_that_is_met_exactly_is_met() -> None:
    trials = [trial(number < 55) for number in range(100)]
    assert [verdict(trials, least) for least in (0.55, 0.56)] == ["pass", "fail"]


def test_a_run_that_was_compared_can_be_compared_with(talker: str, tmp_path: Path) -> None:
    words = ("validate", talker, "--modes", "native", "--trials", "1", "--only", "one-call", "--json")
    first, second = tmp_path / "1.jsonl", tmp_path / "2.jsonl"
    first.write_text(callgate(*words).out)
    second.write_text(callgate(*words, "--against", str(first)).out)
    assert callgate(*words, "--against", str(second)).status == 0


async def test_who_is_validated_in_another_way_than_the_models_own_is_told_why() -> None:
    async with PlayedModel().running() as ref:
        words = ("validate", str(ref), "--only", "one-call", "--trials", "1")
        done = await asyncio.to_thread(callgate, *words)
        named = await asyncio.to_thread(callgate, *words, "--modes", "native")
    assert "--modes native tries them as they are" in done.err
    assert "--modes native" not in named.err
