from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest

from tests.cli.command import CALLGATE, callgate, environ
from tests.runtime.agents import Script, says, script
from tests.runtime.played import NOBODY

__all__ = ["script"]


@pytest.fixture
def talker(script: Script) -> str:
    return str(script(*[says("I can ", "only talk.")] * 99))


def test_a_person_sees_models_side_by_side(talker: str, tmp_path: Path) -> None:
    page = tmp_path / "survey.html"
    done = callgate("survey", talker, "--trials", "1", "--html", str(page), "--why")
    assert (done.status, done.err) == (0, "")
    assert "calls none" in done.out
    assert "of no model there is both a verdict and something that was seen" in done.out
    assert "it had to call a tool, and only spoke" in done.out
    assert "Verdict and behaviour" in page.read_text()


def test_programs_get_trials_summaries_and_surveys(talker: str) -> None:
    done = callgate("survey", talker, "--trials", "1", "--json")
    kinds = [line.get("type", "trial") for line in done.objects]
    assert kinds[-3:] == ["summary", "survey", "survey_summary"]
    assert set(kinds[:-3]) == {"trial"}
    survey = done.objects[-2]
    assert (survey["model"], survey["shown"]["tools"], survey["agrees"]) == (talker, False, None)


def test_a_server_that_is_not_there_is_told_and_the_rest_is_still_done(talker: str) -> None:
    done = callgate("survey", f"{NOBODY}/v1#m", talker, "--trials", "1")
    assert done.status == 4
    assert "can't be reached" in done.out
    assert "calls none" in done.out


@pytest.mark.parametrize("words", [(), ("tiny", "--modes", "sideways"), ("tiny", "--jobs", "0")])
def test_wrong_usage_is_exit_status_2(words: tuple[str, ...]) -> None:
    assert callgate("survey", *words).status == 2


def test_ctrl_c_shows_what_was_done(script: Script, talker: str) -> None:
    slow = f"{script(*[says('No.')] * 99, at=5)}?timing=1"
    command = [*CALLGATE, "survey", talker, slow, "--trials", "1", "--json"]
    with subprocess.Popen(command, env=environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        lines = [process.stdout.readline()]
        while json.loads(lines[-1]).get("type") != "survey":
            lines.append(process.stdout.readline())
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
    last = json.loads(out.splitlines()[-1])
    assert (process.returncode, err) == (130, b"")
    assert [model["model"] for model in last["models"]] == [talker]
