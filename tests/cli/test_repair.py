from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import Done, callgate

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


@pytest.fixture
def schema(tmp_path: Path) -> str:
    return written(tmp_path / "schema.json", SCHEMA)


def written(path: Path, content: Any) -> str:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def repair(*words: str, given: str = "") -> Done:
    return callgate("repair", *words, given=given.encode())


def test_arguments_in_arguments_and_changes_out(schema: str) -> None:
    done = repair("--schema", schema, given='{"city": "00713", "days": "5"}')
    assert done.status == 0
    assert done.objects == [
        {
            "arguments": {"city": "00713", "days": 5},
            "repairs": [{"path": "/days", "from": "5", "to": 5, "rule": "number"}],
            "errors": [],
        }
    ]


def test_arguments_may_be_in_a_file(schema: str, tmp_path: Path) -> None:
    arguments = written(tmp_path / "arguments.json", {"city": "Rome"})
    for words in ([arguments, "--schema", schema], ["--schema", schema, arguments]):
        assert repair(*words).objects == [{"arguments": {"city": "Rome"}, "repairs": [], "errors": []}]


def test_what_still_does_not_fit_is_told_by_status_3(schema: str) -> None:
    done = repair("--schema", schema, given='{"days": "soon"}')
    assert done.status == 3
    assert done.objects[0]["errors"] == ["`/city` is missing: a string", "`/days` must be an integer"]


@pytest.mark.parametrize("given", ["nonsense", "[" * 10_000, '{"city": "Rom', "{" * 10_000 + "}" * 10_000])
def test_what_is_no_json_is_given_back_by_status_3(schema: str, given: str) -> None:
    done = repair("--schema", schema, given=given)
    assert (done.status, done.err) == (3, "")
    assert done.objects[0]["arguments"] == given


@pytest.mark.parametrize(
    "content",
    [
        {"type": "strin"},
        {"$ref": "http://127.0.0.1:9/x"},
        [],
        "no json",
        '{"properties":{"a":' * 10_000,
        {"anyOf": [{"$ref": "#"}] * 2},
    ],
)
def test_a_schema_that_is_none_is_wrong_usage_and_is_named(tmp_path: Path, content: Any) -> None:
    path = written(tmp_path / "bad.json", content)
    done = repair("--schema", path, given="{}")
    assert done.status == 2
    assert done.out == ""
    assert "bad.json" in done.err
    done = repair("--json", "--schema", path, given="{}")
    assert done.status == 2
    assert done.objects[0]["error"]["type"] == "UsageError"


def test_files_that_are_not_there_are_wrong_usage(schema: str, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere.json")
    assert repair("--schema", nowhere).status == 2
    assert repair("--schema", schema, nowhere).status == 2
    assert repair().status == 2
    assert repair("--schema", "-", given="{}").status == 2


def test_letters_beyond_ascii_and_bytes_that_are_no_text_come_through(schema: str) -> None:
    assert repair("--schema", schema, given='{"city": "Zürich"}').objects[0]["arguments"] == {"city": "Zürich"}
    done = callgate("repair", "--schema", schema, given=b'{"city": "Z\xfcrich"}')
    assert done.objects[0]["arguments"] == {"city": "Z\ufffdrich"}


def test_the_help_has_examples() -> None:
    assert "examples:" in repair("--help").out
