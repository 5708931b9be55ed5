"""Ctrl-C, and what becomes of all that waits; errors of what goes on beside."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from callgate.vocabulary import UsageError
from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import Body, PlayedModels, Reply, says_hello
from tests.wire.server import serving


class Waiting:
    """A model that begins to speak and goes on only when it is told to."""

    def __init__(self) -> None:
        self.at_work = asyncio.Event()

    async def __call__(self, reply: Reply, _: Body) -> None:
        await reply.send({"content": "Well"})
        self.at_work.set()
        await asyncio.Event().wait()


async def test_what_was_asked_of_the_chat_is_done_and_what_was_to_be_said_is_named() -> None:
    slow = Waiting()
    played = PlayedModels(slow=slow, other=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#slow") as driver:
        driver.view.type("tell me")
        await slow.at_work.wait()
        driver.view.type("/model tiny")
        driver.view.type("a message that waits")
        driver.view.type("/retry")
        await driver.view.said_all()
        assert driver.chat.stop()
        await driver.idle()
        assert driver.chat.ref.name == "tiny"
        assert driver.view.stops == 1
        assert driver.view.lines_of("note") == ["not sent: 'a message that waits'", "not sent: '/retry'"]
        assert len(played.asked) == 1
        assert not driver.chat.stop()


async def test_errors_of_commands_during_a_turn_are_told() -> None:
    slow = Waiting()
    played = PlayedModels(slow=slow)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#slow") as driver:
        driver.view.type("tell me")
        await slow.at_work.wait()
        driver.view.type("/mcp restart nosuch")
        await driver.until(lambda: driver.view.errors)
        assert isinstance(driver.view.errors[0], UsageError)
        assert "'nosuch'" in driver.view.errors[0].message
        driver.chat.stop()


async def test_a_mistake_of_ours_is_told_without_its_text_and_the_chat_goes_on(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:

        def broken(_: object) -> None:
            raise ZeroDivisionError("secret")

        monkeypatch.setattr(driver.chat.conversations, "listed", broken)
        await driver.say("/load", "hi")
        message = driver.view.errors[0].message
        assert message.startswith("that failed inside callgate: ZeroDivisionError in test_stopping.py, line ")
        assert "ZeroDivisionError" in caplog.text
        assert "secret" not in message
        assert driver.view.answer == "Hello!"


async def test_no_file_has_a_name_with_a_null_in_it() -> None:
    async with chatting("tiny") as driver:
        await driver.say("/export a\0b.md")
        assert isinstance(driver.view.errors[0], UsageError)


async def test_undo_takes_back_the_question_that_failed_and_not_the_one_before() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:
        await driver.say("first", "/model http://127.0.0.1:1/v1#gone", "second")
        assert driver.chat.unanswered == "second"
        await driver.say("/undo")
        assert driver.view.lines_of("reply")[-1] == "taken back: 'second', which had no answer"
        assert driver.chat.conversation.count == 2
        await driver.say(f"/model {url}/v1#one", "/retry")
        assert played.asked[-1]["messages"][-1]["content"] == "first"


@pytest.mark.parametrize("named", [None, ["nothing", "listed"]])
async def test_servers_whose_file_is_no_good_are_told_of_before_anything_else(
    named: list[str] | None, tmp_path: Path
) -> None:
    file = tmp_path / "mcp.json"
    if named:
        file.write_text(json.dumps(named))
    options: dict[str, Any] = {"mcp": (str(file),)}
    with pytest.raises(UsageError, match=r"mcp\.json"):
        async with chatting("tiny", view=Listener(), **options):
            pass
