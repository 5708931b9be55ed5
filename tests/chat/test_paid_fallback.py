"""A model of the settings that may cost money takes over only if the user says so."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from aiohttp import web

from callgate.settings import Settings, load_settings
from tests.chat.listening import Listener, chatting
from tests.runtime.played import WITHOUT, PlayedOllama
from tests.wire.server import serving

GONE = "http://127.0.0.1:1/v1#gone"
FAR = "kimi:cloud"


class Cloud(PlayedOllama):
    """An Ollama whose model runs elsewhere."""

    def __init__(self) -> None:
        super().__init__(kimi__cloud=WITHOUT)

    async def chat(self, request: web.Request) -> web.StreamResponse:
        self.asked[request.path] += 1
        message = {"role": "assistant", "content": "Hello from far away!"}
        return web.json_response({"model": FAR, "message": message, "done": True, "done_reason": "stop"})


@pytest.fixture
def cloud() -> Cloud:
    return Cloud()


@pytest.fixture
async def used(cloud: Cloud) -> AsyncIterator[Settings]:
    async with serving(("POST", "/api/chat", cloud.chat), *cloud.routes) as url:
        yield load_settings(
            {"ollama.host": url, "detect.refresh": "off", "detect.unknown": "no", "models.fallback": FAR}
        )


async def test_a_yes_is_for_this_turn_and_the_next_one_is_asked_about_again(cloud: Cloud, used: Settings) -> None:
    async with chatting(GONE, view=Listener("y", "n"), settings=used) as driver:
        await driver.say("hi")
        assert driver.view.answer == "Hello from far away!"
        (question,) = driver.view.asked
        assert FAR in question.words
        assert "may cost money" in question.words
        assert any(FAR in line and "it may cost money" in line for _, line in driver.view.told)
        await driver.say("hi again")
        assert len(driver.view.asked) == 2
        assert cloud.asked["/api/chat"] == 1
        assert len(driver.view.errors) == 1


@pytest.mark.parametrize("view", [Listener("n"), Listener(""), Listener(None), Listener(can_ask=False)])
async def test_anything_but_a_yes_sends_it_nothing(view: Listener, cloud: Cloud, used: Settings) -> None:
    async with chatting(GONE, view=view, settings=used) as driver:
        await driver.say("my secret plan")
        assert cloud.asked["/api/chat"] == 0
        assert any("nobody agreed" in line for _, line in _all(driver.view))
        assert len(driver.view.errors) == 1


async def test_whoever_names_it_when_the_chat_starts_has_agreed_and_is_told_still(cloud: Cloud, used: Settings) -> None:
    async with chatting(GONE, fallback=FAR, settings=used) as driver:
        await driver.say("hi")
        assert driver.view.asked == []
        assert any("it may cost money" in line for _, line in driver.view.told)
        assert cloud.asked["/api/chat"] == 1


def _all(view: Listener) -> list[tuple[str, str]]:
    return [*view.told, *(("event", str(getattr(event, "message", ""))) for event in view.events)]
