from __future__ import annotations

from callgate.runtime import (
    Permissions,
    Question,
    Reply,
)
from tests.runtime.agents import Script, Source, calls, play, says, script

__all__ = ["script"]


async def test_what_is_not_harmless_is_asked_and_a_no_is_told_to_the_model(script: Script) -> None:
    asked: list[tuple[str, str]] = []

    async def no(question: Question) -> Reply:
        asked.append((question.entry.path, question.arguments))
        return "no"

    source = Source("wipe")
    made = calls(("wipe", {"path": "/", "api_key": "abc"}))
    played = await play(script(made, made, says("ok")), source, permissions=Permissions(ask=no))
    assert asked == [("there/wipe", '{"path":"/","api_key":"… (3 characters)"}')]
    assert source.called == []
    assert "the user didn't allow this call" in played.results[0]
    assert "ToolStarted" not in played.kinds


async def test_always_is_asked_once(script: Script) -> None:
    asked: list[str] = []

    async def always(question: Question) -> Reply:
        asked.append(question.entry.name)
        return "always"

    source = Source("look", "wipe")
    permissions = Permissions(ask=always)
    made = calls(("look", {"a": 1}), ("look", {"a": 2}), ("wipe", {}))
    await play(script(made, says("ok")), source, permissions=permissions)
    assert asked == ["look", "wipe"]
    assert sorted(source.called) == ["look", "look", "wipe"]


async def test_without_anybody_to_ask_it_is_denied_and_the_user_told(script: Script) -> None:
    source = Source("wipe")
    played = await play(script(calls(("wipe", {})), says("ok")), source)
    assert (source.called, played.notices) == ([], ["call_denied"])
