from __future__ import annotations

import json
import multiprocessing
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.registry import told_to
from callgate.runtime import AlwaysAllowed, Permissions, Question, Reply, ToolEntry
from callgate.runtime.always_allowed import Allowed
from callgate.settings import load_settings
from callgate.vocabulary import StorageError, Tool, ToolCall

CALL = ToolCall("c", "look", {"token": "abc", "path": "x"})


def entry(name: str = "look", source: str = "there", *, own: str = "", harmless: bool = False) -> ToolEntry:
    return ToolEntry(
        name=name,
        source=source,
        own_name=own or name,
        tool=Tool(name),
        is_on=True,
        is_harmless=harmless,
        runs_here=True,
    )


class Asked:
    """Somebody who answers the same each time."""

    def __init__(self, reply: Reply) -> None:
        self.reply: Reply = reply
        self.questions: list[Question] = []

    async def __call__(self, question: Question) -> Reply:
        self.questions.append(question)
        return self.reply


async def test_what_is_harmless_is_run_and_all_else_asked() -> None:
    asked = Asked("yes")
    permissions = Permissions(ask=asked)
    assert (await permissions.decide(entry(harmless=True), CALL)).reason == "harmless"
    assert (await permissions.decide(entry(), CALL)).reason == "agreed"
    assert [question.entry.path for question in asked.questions] == ["there/look"]
    assert asked.questions[0].arguments == '{"token":"… (3 characters)","path":"x"}'


@pytest.mark.parametrize(
    ("pattern", "allowed"),
    [
        ("look", True),
        ("lo*", True),
        ("there/*", True),
        ("*/look", True),
        ("*", True),
        ("here/*", False),
        ("LOOK", False),
    ],
)
async def test_patterns_allow_by_the_name_that_is_shown_or_by_source_and_tool(pattern: str, allowed: bool) -> None:
    assert (await Permissions(allow=[pattern]).decide(entry(), CALL)).may_run is allowed


async def test_a_name_that_a_stranger_takes_is_not_allowed_by_it() -> None:
    # Where two sources have a tool of one name, both are shown with their source in front.
    stranger = entry("evil_look", "evil", own="look")
    assert not (await Permissions(allow=["look"]).decide(stranger, CALL)).may_run
    assert not (await Permissions(allow=["there/look"]).decide(stranger, CALL)).may_run


@pytest.mark.parametrize("pattern", ["look", "there/look", "there", "*"])
async def test_what_is_denied_is_denied_whatever_else_allows_it(pattern: str) -> None:
    permissions = Permissions(allow=["*"], deny=[pattern], ask=Asked("always"))
    decision = await permissions.decide(entry(harmless=True), CALL)
    assert (decision.may_run, decision.reason) == (False, "denied")


async def test_the_settings_allow_and_deny_too() -> None:
    settings = load_settings({"tools.allow": "look, see*", "tools.deny": "seek"})
    permissions = Permissions.of(settings)
    may = [(await permissions.decide(entry(name), CALL)).may_run for name in ("look", "see", "seek", "wipe")]
    assert may == [True, True, False, False]


async def test_always_is_kept_listed_and_can_be_taken_back() -> None:
    settings, asked = load_settings(), Asked("always")
    await Permissions.of(settings, ask=asked).decide(entry(), CALL)
    later = Permissions.of(settings)
    assert (await later.decide(entry(), CALL)).reason == "always"
    assert not (await later.decide(entry(source="elsewhere"), CALL)).may_run
    assert not (await later.decide(entry("see"), CALL)).may_run
    assert [allowed.path for allowed in later.always] == ["there/look"]
    path = Path(settings.data_folder) / "permissions.json"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600

    assert [allowed.path for allowed in later.take_back("there/*")] == ["there/look"]
    assert later.always == ()
    assert not (await later.decide(entry(), CALL)).may_run


def _take_back(folder: str) -> None:
    assert AlwaysAllowed.in_folder(folder).take_back(lambda _: True)


async def test_what_another_process_takes_back_is_asked_again_at_once() -> None:
    settings, asked = load_settings(), Asked("always")
    permissions = Permissions.of(settings, ask=asked)
    assert (await permissions.decide(entry(), CALL)).reason == "agreed"
    assert (await permissions.decide(entry(), CALL)).reason == "always"
    other = multiprocessing.get_context("spawn").Process(target=_take_back, args=(settings.data_folder,))
    other.start()
    other.join()
    assert other.exitcode == 0
    asked.reply = "no"
    assert permissions.always == ()
    assert (await permissions.decide(entry(), CALL)).reason == "declined"


async def test_what_cannot_be_kept_can_be_taken_back_too(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    permissions = Permissions(ask=Asked("always"), kept=AlwaysAllowed(str(tmp_path / "file" / "permissions.json")))
    told_to(lambda _: None)
    try:
        await permissions.decide(entry(), CALL)
        assert (await permissions.decide(entry(), CALL)).reason == "always"
        assert [allowed.path for allowed in permissions.take_back("look")] == ["there/look"]
        assert permissions.always == ()
    finally:
        told_to(None)


async def test_always_is_for_that_very_source_and_not_for_another_of_its_name() -> None:
    class Server:
        def __init__(self, identity: str) -> None:
            self.identity = identity

    permissions = Permissions(ask=Asked("always"))
    await permissions.decide(entry(), CALL, Server("one"))  # type: ignore[arg-type]
    permissions._ask = None
    assert (await permissions.decide(entry(), CALL, Server("one"))).may_run  # type: ignore[arg-type]
    assert not (await permissions.decide(entry(), CALL, Server("two"))).may_run  # type: ignore[arg-type]


async def test_whatever_goes_wrong_with_the_question_is_a_no() -> None:
    async def fails(question: Question) -> Reply:
        raise OSError(question.entry.name)

    decision = await Permissions(ask=fails).decide(entry(), CALL)
    assert (decision.may_run, decision.reason) == (False, "declined")


async def test_a_yes_is_for_once() -> None:
    permissions = Permissions.of(load_settings(), ask=Asked("yes"))
    await permissions.decide(entry(), CALL)
    assert permissions.always == ()
    assert not (await Permissions.of(load_settings()).decide(entry(), CALL)).may_run


@pytest.mark.parametrize(
    "content", [b"", b"{", b'{"version": 9, "always": []}', b"[1]", b'{"always": [{"source": 1}]}']
)
async def test_a_file_that_cannot_be_read_allows_nothing_and_is_left_alone(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "permissions.json"
    path.write_bytes(content)
    told: list[str] = []
    told_to(told.append)
    try:
        permissions = Permissions(kept=AlwaysAllowed(str(path)), ask=Asked("always"))
        assert permissions.always == ()
        assert (await permissions.decide(entry(), CALL)).may_run
        assert (await permissions.decide(entry(), CALL)).reason == "always"  # for now
    finally:
        told_to(None)
    assert any("permissions.json" in line for line in told)
    assert path.read_bytes() == content


@given(st.binary(max_size=60))
def test_whatever_is_in_the_file_it_is_read_or_refused(content: bytes) -> None:
    kept = AlwaysAllowed("permissions.json")
    folder = Path(os.environ["CALLGATE_HOME"])
    folder.mkdir(parents=True, exist_ok=True)
    kept._path = str(folder / "permissions.json")
    Path(kept._path).write_bytes(content)
    told: list[str] = []
    told_to(told.append)
    try:
        assert all(isinstance(allowed, Allowed) for allowed in kept.listed())
    finally:
        told_to(None)


def _allow_some(path: str, start: int) -> None:
    for number in range(start, start + 10):
        AlwaysAllowed(path).add(Allowed("s", f"tool{number}"))


def test_many_processes_lose_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "kept" / "permissions.json")
    context = multiprocessing.get_context("spawn")
    workers = [context.Process(target=_allow_some, args=(path, start)) for start in (0, 10, 20)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert {allowed.tool for allowed in AlwaysAllowed(path).listed()} == {f"tool{number}" for number in range(30)}
    assert len(json.loads(Path(path).read_text())["always"]) == 30


def test_nothing_is_taken_back_where_nothing_is_kept(tmp_path: Path) -> None:
    assert AlwaysAllowed(str(tmp_path / "none.json")).take_back(lambda _: True) == ()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StorageError):
        AlwaysAllowed(str(tmp_path / "file" / "permissions.json")).add(Allowed("s", "t"))
