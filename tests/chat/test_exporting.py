from __future__ import annotations

import json
from pathlib import Path

import pytest

from callgate.vocabulary import Message, ToolCall
from tests.chat.listening import chatting

CALL = ToolCall("c1", "log_in", {"user": "me", "pw": "hunter2"})
BROKEN = ToolCall("c2", "log_in", '{"user": "me", "otp": "hunter3", broken')


@pytest.mark.parametrize("kind", ["md", "html", "txt"])
async def test_what_people_read_is_masked(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"talk.{kind}"
    async with chatting("tiny") as driver:
        driver.chat.conversation.say(Message(role="assistant", content="", calls=(CALL, BROKEN)))
        await driver.say(f"/export {path}")
        assert driver.view.lines_of("reply")[-1] == f"written into {path}"
    written = path.read_text()
    assert "log_in" in written
    assert "hunter" not in written


async def test_what_programs_go_on_with_is_whole_and_the_user_is_told_if_that_matters(tmp_path: Path) -> None:
    paths = [tmp_path / "plain.json", tmp_path / "secret.json"]
    async with chatting("tiny") as driver:
        driver.chat.conversation.say(Message(role="user", content="hi"))
        await driver.say(f"/export {paths[0]}")
        assert driver.view.lines_of("reply")[-1] == f"written into {paths[0]}"
        driver.chat.conversation.say(Message(role="assistant", content="", calls=(CALL, BROKEN)))
        await driver.say(f"/export {paths[1]}")
        assert driver.view.lines_of("reply")[-1].startswith(f"written into {paths[1]}, which is whole: arguments named")
    calls = json.loads(paths[1].read_text())["messages"][-1]["tool_calls"]
    assert json.loads(calls[0]["function"]["arguments"]) == CALL.arguments
    assert calls[1]["function"]["arguments"] == BROKEN.arguments
