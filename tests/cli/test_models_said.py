from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import CALLGATE, Done, callgate, environ
from tests.runtime.played import NOBODY, TOOLS, WITHOUT, PlayedOllama, in_thread, model

SHA = "7" * 64


@pytest.fixture
def played() -> PlayedOllama:
    return PlayedOllama(able=model("completion", "tools", template=TOOLS, digest=SHA), plain=WITHOUT)


@pytest.fixture
def ollama(played: PlayedOllama) -> Iterator[str]:
    with in_thread(*played.routes) as url:
        yield url


@pytest.fixture
def registry() -> Path:
    return Path(os.environ["CALLGATE_HOME"]) / "user_models.json"


def models(*words: str, ollama: str = NOBODY) -> Done:
    return callgate("models", *words, OLLAMA_HOST=ollama, OLLAMA_MODELS="/nowhere", CALLGATE_DISCOVERY_TIMEOUT="10")


def entries(registry: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(registry.read_bytes())["user_models"]
    return found


def put(registry: Path, content: str) -> None:
    registry.parent.mkdir(exist_ok=True)
    registry.write_text(content)


def test_what_is_set_is_kept_and_heeded_everywhere(ollama: str, registry: Path) -> None:
    said = models("set", "able", "--tools", "no", "--context", "2_048")
    assert (said.status, said.err) == (0, "")
    assert said.out == f"able: tools no (user confirmed), context 2,048 tokens\nkept in {registry}\n"
    (entry,) = entries(registry)
    assert (entry["id"], entry["tool_support"], entry["manual_context"]) == ("ollama:able:latest", False, 2048)

    (checked,) = callgate("check", "--json", "able", OLLAMA_HOST=ollama).objects
    assert (checked["tools"], checked["capabilities"]["context_length"]) == ("no", 2048)
    assert checked["evidence"][0]["source"] == "user_confirmed"
    listed = {shown["ref"]: shown for shown in models("--json", ollama=ollama).objects}
    able = listed["ollama:able:latest"]
    assert (able["tools"], able["source"], able["context_length"]) == ("no", "user_confirmed", 2048)


def test_with_auto_it_is_found_out_again(ollama: str, registry: Path) -> None:
    models("set", "able", "--tools", "no")
    assert "found out" in models("set", "able", "--tools", "auto").out
    assert entries(registry) == []
    assert callgate("check", "--json", "able", OLLAMA_HOST=ollama).objects[0]["tools"] == "yes"


def test_a_file_that_was_written_by_hand_is_heeded(ollama: str, registry: Path) -> None:
    put(registry, '{"user_models": [{"id": "plain", "tool_support": true}]}')
    (checked,) = callgate("check", "--json", "plain", OLLAMA_HOST=ollama).objects
    assert (checked["tools"], checked["evidence"][0]["source"]) == ("yes", "user_confirmed")


def test_the_model_in_the_box_and_files_are_models_too(tiny_gguf: Path) -> None:
    for target in ("tiny", str(tiny_gguf)):
        assert models("set", target, "--context", "512").status == 0
    shown = callgate("check", "--json", "tiny", str(tiny_gguf), "tiny-plain").objects
    assert [one["capabilities"]["context_length"] for one in shown] == [512, 512, 4096]


def test_forgetting_says_what_it_was_and_twice_is_a_failure(registry: Path) -> None:
    models("set", "able", "--tools", "yes")
    assert models("forget", "ollama:able:latest").out == (
        "ollama:able:latest: forgotten; it was tools yes (user confirmed)\n"
    )
    assert entries(registry) == []
    again = models("forget", "able")
    assert (again.status, again.out) == (1, "")
    assert "nothing is kept of 'able'" in again.err


def test_show_has_the_record_the_evidence_and_where_it_is_kept(ollama: str, registry: Path) -> None:
    put(registry, '{"user_models": [{"id": "able", "tool_support": false, "colour": {"deep":\n [1.50]}}]}')
    done = models("show", "able", "--json", ollama=ollama)
    assert (done.status, done.err) == (0, "")
    (shown,) = done.objects
    assert shown["kept_in"] == str(registry)
    assert shown["record"] == {"id": "able", "tool_support": False, "colour": {"deep": [1.5]}}
    assert (shown["ref"], shown["tools"]) == ("ollama:able", "no")
    assert [found["source"] for found in shown["evidence"] if found["claim"] == "tools"][:2] == [
        "user_confirmed",
        "template",
    ]
    for_people = models("show", "able", ollama=ollama).out
    assert 'colour: {"deep":[1.50]}' in for_people
    assert f"kept in {registry}" in for_people
    assert "● user_confirmed says no: you said so" in for_people
    assert "≠ template says yes" in for_people


def test_show_marks_the_validation_of_what_is_another_model_by_now(ollama: str, registry: Path) -> None:
    outdated = "the validation is outdated: the model by that name is another one now"
    for name, digest, is_outdated in (("able", SHA, False), ("able", "8" * 64, True), ("tiny", "sha256:8", True)):
        entry = {"id": name, "validated_at": "2026-01-02T03:04:05Z", "validated_digest": digest}
        put(registry, json.dumps({"user_models": [entry]}))
        (shown,) = models("show", name, "--json", ollama=ollama).objects
        assert shown["validation_outdated"] is is_outdated
        assert (outdated in models("show", name, ollama=ollama).out) is is_outdated
    (shown,) = models("show", "plain", "--json", ollama=ollama).objects
    assert shown["validation_outdated"] is None


def test_show_of_a_model_that_nobody_spoke_of(ollama: str) -> None:
    (shown,) = models("show", "plain", "--json", ollama=ollama).objects
    assert (shown["record"], shown["tools"]) == (None, "no")
    assert "nothing is kept of it" in models("show", "plain", ollama=ollama).out


def test_show_of_a_model_whose_server_is_away_shows_the_record_and_is_four() -> None:
    models("set", "able", "--tools", "yes")
    done = models("--json", "show", "able")
    assert done.status == 4
    assert done.objects[0]["record"]["tool_support"] is True


@pytest.mark.parametrize(
    "words",
    [
        ["set", "able"],
        ["set", "able", "--tools", "maybe"],
        ["set", "able", "--context", "0"],
        ["set", "able", "--context", "-5"],
        ["set", "able", "--context", "lots"],
        ["set", "auto", "--tools", "yes"],
        ["set"],
        ["show"],
        ["unset", "able"],
    ],
)
def test_wrong_usage_is_two_and_writes_nothing(words: list[str], registry: Path) -> None:
    done = models(*words)
    assert (done.status, done.out) == (2, "")
    assert not registry.exists()


def test_a_damaged_file_is_told_of_once_and_set_aside(registry: Path) -> None:
    put(registry, '{"user_models": [{"id"')
    first = callgate("check", "--json", "tiny")
    assert (first.status, first.objects[0]["tools"]) == (0, "yes")
    assert first.err.count("was damaged") == 1
    assert "corrupt-" in first.err
    assert callgate("check", "--json", "tiny").err == ""
    assert models("set", "tiny", "--tools", "no").status == 0


def test_a_newer_file_isnt_overwritten(registry: Path) -> None:
    put(registry, '{"version": 9, "user_models": []}')
    done = models("set", "able", "--tools", "yes", "--json")
    assert done.status == 1
    assert done.objects[0]["error"]["type"] == "StorageError"
    assert registry.read_text() == '{"version": 9, "user_models": []}'


def test_what_the_file_says_never_reaches_the_terminal_as_it_is(registry: Path, ollama: str) -> None:
    evil = {"id": "able", "name": "\x1b]0;boo\x07", "\x1b[31m": "x"}
    put(registry, json.dumps({"user_models": [evil]}))
    for done in (models("show", "able", ollama=ollama), models("show", "able", "--json", ollama=ollama)):
        assert done.status == 0
        assert not {"\x1b", "\x07"} & set(done.out)


@pytest.mark.parametrize("way", [[], ["--json"]])
def test_a_password_for_the_server_is_neither_shown_nor_kept(way: list[str], registry: Path) -> None:
    model = "http://me:hunter2@127.0.0.1:9/v1#m"
    done = [models(*words, model, *way) for words in (["set", "--tools=yes"], ["show"], ["forget"], ["forget"])]
    assert [each.status for each in done] == [0, 4, 0, 1]
    assert not [each for each in done if "hunter2" in each.out + each.err]
    models("set", model, "--tools", "no")
    assert entries(registry)[0]["id"] == "http://127.0.0.1:9/v1#m"


def test_two_terminals_at_once_lose_nothing(registry: Path) -> None:
    running = [
        subprocess.Popen([*CALLGATE, "models", "set", f"m:{number}", "--tools", "yes"], env=environ(), stdout=-3)
        for number in range(8)
    ]
    assert [process.wait(60) for process in running] == [0] * 8
    assert sorted(entry["id"] for entry in entries(registry)) == [f"ollama:m:{number}" for number in range(8)]


def test_refresh_says_what_it_did_and_then_lists_them(ollama: str, played: PlayedOllama, registry: Path) -> None:
    models("set", "able", "--context", "99")
    models("set", "gone", "--tools", "yes")
    done = models("--refresh", "--json", ollama=ollama)
    assert done.status == 0
    assert "models looked at again" in done.err
    assert "absent today, but kept: ollama:gone:latest" in done.err
    shown = {entry["ref"]: entry for entry in done.objects}
    assert shown["ollama:able:latest"]["context_length"] == 99
    assert entries(registry)[0]["last_seen"]
    assert played.asked["/api/show"] == 3  # one has no digest that proves anything, and is looked at for the list again


def test_a_second_list_asks_for_no_model_that_hasnt_changed(ollama: str, played: PlayedOllama) -> None:
    first = models("--json", ollama=ollama)
    asked = played.asked["/api/show"]
    assert models("--json", ollama=ollama) == first
    assert played.asked["/api/show"] == asked + 1


def test_help_of_an_action(registry: Path) -> None:
    assert "yes|no|auto" in models("set", "--help").out
