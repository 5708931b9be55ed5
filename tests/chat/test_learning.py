from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgate.chat.learning import shown_by
from callgate.gate import Observation, Observed
from callgate.settings import load_settings
from callgate.vocabulary import Answer
from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import PlayedModels, calls_then_answers, says_hello
from tests.runtime.played import NOBODY
from tests.wire.server import serving


def kept(home: Path) -> list[dict[str, object]]:
    path = home / "callgate" / "user_models.json"
    models: list[dict[str, object]] = json.loads(path.read_text())["user_models"] if path.exists() else []
    return models


SUPPORTS = "This model appears to support tools. Update metadata? (y/n)"
LACKS = "This model appears to not support tools. Update metadata? (y/n)"


@pytest.mark.parametrize(
    ("kind", "believed", "shown"),
    [
        ("native_call", Answer.NO, True),
        ("native_call", Answer.UNKNOWN, True),
        ("text_call", Answer.NO, True),
        ("native_call", Answer.YES, None),
        ("emulated_call", Answer.NO, None),
        ("tools_refused", Answer.YES, False),
        ("tools_ignored", Answer.YES, False),
        ("tools_refused", Answer.NO, None),
    ],
)
def test_only_what_contradicts_is_news(kind: Observed, believed: Answer, shown: bool | None) -> None:
    assert shown_by(Observation(kind), believed) is shown


async def test_a_call_of_a_model_without_tools_is_asked_about_and_kept(home: Path, tool_file: str) -> None:
    played = PlayedModels(plain=calls_then_answers)
    view = Listener("n", "y")
    options: dict[str, Any] = {"tools": (tool_file,), "own_tools": False, "allow": ("*",)}
    async with serving(*played.routes) as url, chatting(f"{url}/v1#plain", view=view, **options) as driver:
        await driver.say("/tools native", "What is 17 times 23?")
        assert view.answer == "It is 391."
        assert view.asked[-1].words == SUPPORTS
        assert view.asked[-1].before == ("plain called a tool, against what is known of it",)
        assert kept(home)[0]["tool_support"] is True
        assert kept(home)[0]["tool_support_source"] == "user_confirmed"
        assert driver.chat.judgement.tools is Answer.YES


@pytest.mark.parametrize("reply", [None, "n", "what?"])
async def test_a_refusal_is_asked_about_and_declined_it_holds_for_the_session(
    reply: str | None, home: Path, tool_file: str
) -> None:
    played = PlayedModels(able=says_hello)
    played.refuses_tools = True
    view = Listener("y", reply)
    async with serving(*played.routes) as url:
        async with chatting(f"{url}/v1#able", view=view, tools=(tool_file,), own_tools=False) as driver:
            await driver.say("hi")
            assert view.asked[-1].words == LACKS
            assert not view.errors
            assert kept(home)[0]["tool_support"] is True
            assert driver.chat.judgement.tools is Answer.NO
            assert "tools off: " in view.lines_of("swap")[-1]
            await driver.say("hi again")
            assert len(view.asked) == 2
        async with chatting(f"{url}/v1#able") as driver:
            assert driver.chat.judgement.tools is Answer.YES


async def test_it_is_asked_at_most_once_a_minute_and_model(tool_file: str) -> None:
    played = PlayedModels(able=says_hello)
    played.refuses_tools = True
    view = Listener("y", "n")
    options: dict[str, Any] = {"tools": (tool_file,), "own_tools": False}
    async with serving(*played.routes) as url, chatting(f"{url}/v1#able", view=view, **options) as driver:
        await driver.say("hi")
        asked = len(view.asked)
        driver.chat.agent.session.knowledge.notes.forget(driver.chat.ref)
        driver.chat.agent.session._refusals.clear()
        await driver.say("/tools auto", "hi again")
        assert len(view.asked) == asked


@pytest.mark.parametrize("learn", ["session", "never"])
async def test_the_settings_may_say_to_ask_nobody(learn: str, home: Path, tool_file: str) -> None:
    played = PlayedModels(able=says_hello)
    played.refuses_tools = True
    view = Listener("y")
    used = load_settings({"ollama.host": NOBODY, "detect.refresh": "off", "detect.learn": learn})
    options: dict[str, Any] = {"settings": used, "tools": (tool_file,)}
    async with serving(*played.routes) as url, chatting(f"{url}/v1#able", view=view, **options) as driver:
        await driver.say("hi")
        assert len(view.asked) == 1
        assert driver.chat.judgement.tools is (Answer.NO if learn == "session" else Answer.YES)
        assert kept(home)[0]["tool_support"] is True


async def test_nobody_is_asked_of_a_model_that_took_over_and_did_what_is_known_of_it(
    home: Path, tool_file: str
) -> None:
    played = PlayedModels(stand__in=calls_then_answers)
    view = Listener()
    async with serving(*played.routes) as url:
        (home / "callgate").mkdir()
        known = {"user_models": [{"id": f"{url}/v1#stand-in", "tool_support": True}]}
        (home / "callgate" / "user_models.json").write_text(json.dumps(known))
        used = load_settings({"ollama.host": NOBODY, "detect.refresh": "off", "detect.unknown": "no"})
        options: dict[str, Any] = {"tools": (tool_file,), "own_tools": False, "allow": ("*",), "settings": used}
        gone = "http://127.0.0.1:1/v1#gone"
        async with chatting(gone, view=view, fallback=f"{url}/v1#stand-in", **options) as driver:
            await driver.say("What is 17 times 23?")
            assert view.answer == "It is 391."
            assert not view.asked
            played.refuses_tools = True
            driver.chat.conversation.take_back(4)
            await driver.say("What is 17 times 23?")
            assert [ask.words for ask in view.asked] == [LACKS]
            assert view.asked[0].before[0].startswith("stand-in didn't take the tools")
