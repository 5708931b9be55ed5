from __future__ import annotations

import logging

import pytest

from callgate.registry import tell, telling, told_to


@pytest.fixture(autouse=True)
def _nothing_said_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(telling, "_said", set())
    monkeypatch.setattr(telling, "_listener", None)


def test_whoever_listens_is_told_each_thing_once() -> None:
    heard: list[str] = []
    told_to(heard.append)
    for message in ("one", "one", "two"):
        tell(message)
    assert heard == ["one", "two"]


def test_a_listener_that_fails_breaks_nobodys_work_and_the_log_has_it(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: str) -> None:
        raise RuntimeError("there is no current event loop")

    told_to(fail)
    with caplog.at_level(logging.WARNING, "callgate.registry"):
        tell("it was set aside")
    assert caplog.messages == ["it was set aside (which couldn't be shown: RuntimeError)"]


def test_where_nobody_listens_it_is_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "callgate.registry"):
        tell("it was set aside")
        tell("it was set aside")
    assert caplog.messages == ["it was set aside"]
