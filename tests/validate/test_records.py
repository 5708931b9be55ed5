import json
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate import Run, RunAbout, Trial, label_of, read_run
from callgate.vocabulary import CallgateError, ModelRef, NotFound, UsageError

ABOUT = RunAbout(
    model="tiny",
    at="2025-01-02T03:04:05Z",
    suite="quick",
    trials=1,
    seed=0,
    callgate="0.1.0",
    backend="file",
    modes=("native",),
    digest="sha256:00",
)


def trial(**fields: Any) -> Trial:
    given: dict[str, Any] = {
        "model": "tiny",
        "mode": "native",
        "case": "one-call",
        "check": "toolCall",
        "trial": 0,
        "outcome": "passed",
        "expected": [{"name": "add", "arguments": {"a": 1}}],
        "got": [{"name": "add", "arguments": {"a": 1}}],
        "ms": 12.5,
    }
    return Trial(**(given | fields))


def written(path: Path, *lines: dict[str, Any]) -> str:
    path.write_bytes(b"\n".join(msgspec.json.encode(line) for line in lines) + b"\n")
    return str(path)


def test_a_trial_is_printed_with_the_fields_that_scripts_read_and_no_empty_ones() -> None:
    assert list(trial().as_json()) == ["model", "mode", "case", "check", "trial", "passed", "expected", "got", "ms"]
    failed = trial(outcome="failed", kind="no-call", reason="it only spoke", tokens=3)
    assert failed.as_json()["passed"] is False
    assert list(failed.as_json())[9:] == ["reason", "kind", "tokens"]


def test_what_is_not_supported_neither_passed_nor_failed() -> None:
    run = Run(about=ABOUT, trials=(trial(), trial(outcome="failed"), trial(outcome="unsupported")))
    assert trial(outcome="unsupported").as_json()["passed"] is None
    assert run.rate == 0.5
    assert (run.summary()["passed"], run.summary()["failed"], run.summary()["unsupported"]) == (1, 1, 1)
    assert Run(about=ABOUT, trials=(trial(outcome="unsupported"),)).rate is None


def test_runs_come_back_as_they_were_printed(tmp_path: Path) -> None:
    first = Run(about=ABOUT, trials=(trial(), trial(trial=1, outcome="failed", kind="no-call", reason="silence")))
    other = msgspec.structs.replace(ABOUT, model="qwen3:8b", digest=None)
    second = Run(about=other, trials=(trial(model="qwen3:8b", outcome="unsupported", first_token_ms=3.0),))
    lines = [
        *(each.as_json() for each in first.trials),
        first.summary(),
        *(each.as_json() for each in second.trials),
        second.summary(),
    ]
    assert read_run(written(tmp_path / "runs.jsonl", *lines)) == [first, second]


def test_trials_of_a_run_that_was_killed_are_left_out(tmp_path: Path) -> None:
    run = Run(about=ABOUT, trials=(trial(),))
    lines = [trial().as_json(), run.summary(), trial(model="other").as_json()]
    assert read_run(written(tmp_path / "runs.jsonl", *lines)) == [run]


def test_other_lines_that_a_later_version_may_print_are_passed_over(tmp_path: Path) -> None:
    run = Run(about=ABOUT, trials=(trial(),))
    lines = [{"type": "weather", "model": "tiny"}, trial().as_json() | {"new": 1}, run.summary()]
    assert read_run(written(tmp_path / "runs.jsonl", *lines)) == [run]


@pytest.mark.parametrize(
    "content", [b"", b"{}\n", b"no json\n", b'{"model": 1}\n', b'{"type":"summary","model":"x"}\n']
)
def test_a_file_of_something_else_is_named_in_the_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other.txt"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"other\.txt"):
        read_run(str(path))


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        read_run(str(tmp_path / "nowhere"))


def test_a_models_name_is_shown_without_its_password() -> None:
    secret = label_of(ModelRef.parse("http://me:hunter2@lab:8080/v1#m"))
    assert "hunter2" not in secret
    assert secret.endswith("lab:8080/v1#m")
    assert label_of(ModelRef.parse("tiny")) == "tiny"


@given(st.binary(max_size=400))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        with suppress(CallgateError):
            read_run(file.name)


def test_what_else_programs_are_told_is_no_part_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "run.jsonl"
    whole = Run(about=ABOUT, trials=(trial(),))
    others = [{"type": "comparison", "pairs": []}, {"error": {"type": "NotFound"}}, {"type": "survey_summary"}]
    lines = [*(each.as_json() for each in whole.trials), *others, whole.summary(), others[0]]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_run(str(path)) == [whole]
    path.write_text('{"case": "one-call"}\n')
    with pytest.raises(UsageError, match="names no model"):
        read_run(str(path))
