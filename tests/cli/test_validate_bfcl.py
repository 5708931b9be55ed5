"""The Berkeley leaderboard's questions, out of a user's copy, through the real command."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

from tests.cli.command import callgate
from tests.runtime.agents import Script, says, script
from tests.validate.bfcl_samples import write_bfcl

__all__ = ["script"]


def test_a_model_that_only_talks_is_right_where_no_function_fits(script: Script, tmp_path: Path) -> None:
    talker = str(script(*[says("I can ", "only talk.")] * 20))
    folder = str(write_bfcl(tmp_path / "data"))
    report = tmp_path / "report.xml"
    done = callgate("validate", talker, "--bfcl", folder, "--modes", "native", "--json", "--junit", str(report))
    *trials, summary = done.objects
    assert done.status == 0
    assert {(trial["check"], trial["passed"], trial.get("kind")) for trial in trials} == {
        ("bfclSimple", False, "no-call"),
        ("bfclMultiple", False, "no-call"),
        ("bfclParallel", False, "no-call"),
        ("bfclIrrelevance", True, None),
    }
    assert len(trials) == 13
    assert summary["about"]["suite"] == "bfcl"
    assert ET.parse(report).getroot().get("tests") == "13"


def test_categories_and_a_limit_can_be_chosen_and_listed(tmp_path: Path) -> None:
    folder = str(write_bfcl(tmp_path))
    listed = callgate("validate", "--bfcl", folder, "--only", "simple,irrelevance", "--limit", "2", "--list", "--json")
    assert [case["name"] for case in listed.objects] == [
        "bfcl/simple/simple_0",
        "bfcl/irrelevance/irrelevance_0",
        "bfcl/irrelevance/irrelevance_5",
    ]


def test_a_folder_without_the_data_is_named(tmp_path: Path) -> None:
    done = callgate("validate", "tiny", "--bfcl", str(tmp_path))
    assert done.status == 1
    assert "there is nothing of BFCL" in done.err
    assert "hint: " in done.err


def test_what_only_goes_with_it_or_without_it_is_wrong_usage(tmp_path: Path) -> None:
    folder = str(write_bfcl(tmp_path))
    assert callgate("validate", "tiny", "--limit", "3").status == 2
    assert callgate("validate", "tiny", "--bfcl", folder, "--cases", folder).status == 2
