from __future__ import annotations

import json
from pathlib import Path

import pytest

from callgate.chat.unknowns import QUESTION
from callgate.settings import load_settings
from callgate.vocabulary import Answer, ModelRef
from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import Body, PlayedModels, Reply, says_hello
from tests.runtime.played import NOBODY
from tests.wire.server import serving


async def calls_the_test_tool(reply: Reply, body: Body) -> None:
    if body.get("tools"):
        await reply.call("get_weather", city="Lisbon")
    else:
        await reply.text("ok")


def kept(home: Path) -> list[dict[str, object]]:
    path = home / "callgate" / "user_models.json"
    models: list[dict[str, object]] = json.loads(path.read_text())["user_models"] if path.exists() else []
    return models


async def test_a_typed_yes_is_kept_and_holds_at_once(home: Path) -> None:
    played = PlayedModels(mystery=says_hello)
    view = Listener("y")
    async with serving(*played.routes) as url, chatting(f"{url}/v1#mystery", view=view) as driver:
        await driver.until(lambda: driver.view.lines_of("swap"))
        assert [ask.words for ask in view.asked] == [QUESTION]
        assert view.lines_of("first")[0].startswith("mystery, as you said · tools off: ")
        assert view.lines_of("swap") == ["now mystery · tools native"]
        record = kept(home)[0]
        assert record["tool_support"] is True
        assert record["tool_support_source"] == "user_confirmed"
        assert str(record["tool_support_confirmed_at"]).endswith("Z")


async def test_a_typed_no_is_kept(home: Path) -> None:
    played = PlayedModels(mystery=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#mystery", view=Listener("N")) as driver:
        await driver.until(lambda: kept(home))
        assert kept(home)[0]["tool_support"] is False
        await driver.idle()
        assert driver.chat.judgement.tools is Answer.NO


@pytest.mark.parametrize("view", [Listener(None), Listener(can_ask=False), Listener("maybe", "what?", "hm")])
async def test_no_answer_is_the_safe_default_for_this_session_and_kept_nowhere(view: Listener, home: Path) -> None:
    played = PlayedModels(mystery=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#mystery", view=view) as driver:
        await driver.say("hi")
        assert "tools" not in played.asked[-1]
        assert not kept(home)
        assert view.answer == "Hello!"
        assert not view.errors


async def test_it_is_asked_once_a_model_and_session() -> None:
    played = PlayedModels(mystery=says_hello)
    view = Listener(None)
    async with serving(*played.routes) as url, chatting("tiny", view=view) as driver:
        await driver.say(f"/model {url}/v1#mystery", "/model tiny", f"/model {url}/v1#mystery")
        assert len(view.asked) == 1


async def test_a_guess_by_name_is_used_and_not_asked_about() -> None:
    played = PlayedModels(qwen3=says_hello)
    view = Listener("n")
    async with serving(*played.routes) as url, chatting(f"{url}/v1#qwen3", view=view):
        assert not view.asked
        assert "tools native?, a guess by its name" in view.told[0][1]


async def test_auto_detect_keeps_a_right_call(home: Path) -> None:
    played = PlayedModels(mystery=calls_the_test_tool)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#mystery", view=Listener("auto-detect")) as driver:
        await driver.until(lambda: driver.view.lines_of("swap"))
        assert driver.view.lines_of("swap") == ["now mystery · tools native"]
        assert kept(home)[0]["tool_support_source"] == "auto_detected"
        assert kept(home)[0]["tool_support"] is True


async def test_auto_detect_keeps_nothing_of_a_model_that_only_talks(home: Path) -> None:
    played = PlayedModels(mystery=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#mystery", view=Listener("a")) as driver:
        await driver.until(lambda: driver.view.lines_of("note"))
        assert driver.view.lines_of("note")[0].startswith("not known: it answered the live probe with text")
        assert not kept(home)
        await driver.idle()
        assert driver.chat.judgement.tools is Answer.UNKNOWN


async def test_the_settings_may_say_to_try_it_out_or_to_leave_it(home: Path) -> None:
    played = PlayedModels(mystery=calls_the_test_tool)
    async with serving(*played.routes) as url:
        for unknown in ("no", "probe"):
            view = Listener("y")
            used = load_settings({"ollama.host": NOBODY, "detect.refresh": "off", "detect.unknown": unknown})
            async with chatting("tiny", settings=used, view=view) as driver:
                await driver.say(f"/model {url}/v1#mystery")
                expected = Answer.YES if unknown == "probe" else Answer.UNKNOWN
                assert driver.chat.judgement.tools is expected
                assert not view.asked


async def test_what_cant_be_kept_holds_for_the_session(home: Path) -> None:
    played = PlayedModels(mystery=says_hello)
    (home / "callgate").mkdir()
    async with serving(*played.routes) as url, chatting("tiny", view=Listener("y")) as driver:
        folder = home / "callgate" / "user_models.json"
        folder.mkdir()
        await driver.say(f"/model {url}/v1#mystery")
        assert "this session only" in driver.view.lines_of("warning")[0]
        assert driver.chat.ref == ModelRef("openai", "mystery", f"{url}/v1")
        assert driver.chat.judgement.mode == "native"
