from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from callgate.chat import judging
from callgate.chat.views import Kind
from callgate.registry import tell
from callgate.runtime import Agent, Session
from callgate.settings import Settings, load_settings
from callgate.vocabulary import ModelRef, NotFound
from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import Body, PlayedModels, Reply, calls_then_answers, says_hello
from tests.runtime.played import EMBEDDING, NOBODY, WITH_TOOLS, WITHOUT, PlayedOllama
from tests.runtime.played import settings as settings_for
from tests.wire.server import serving


async def test_the_first_line_says_which_model_and_why() -> None:
    async with chatting("tiny") as driver:
        assert driver.view.told[0] == ("first", "tiny, as you said · tools native · context 4k")


async def test_without_a_name_it_is_the_model_in_the_box_where_there_is_no_other() -> None:
    async with chatting() as driver:
        assert driver.view.told[0][1].startswith("tiny, the model in the box, for no other in reach")


async def test_llama_is_taken_where_ollama_has_it_and_the_first_with_tools_where_not() -> None:
    ollama = PlayedOllama(first=WITH_TOOLS, llama3__2=WITHOUT)
    ollama.models["llama3.2:latest"] = ollama.models.pop("llama3:2")
    async with serving(*ollama.routes) as url:
        async with chatting(settings=settings_for(url, detect__refresh="off")) as driver:
            assert driver.view.told[0][1].startswith("llama3.2:latest, your Ollama has it · tools off")
        del ollama.models["llama3.2:latest"]
        async with chatting(settings=settings_for(url, detect__refresh="off")) as driver:
            assert driver.view.told[0][1].startswith("first:latest, the first in reach that has tools · tools native")


async def test_the_model_that_was_used_last_is_taken_again() -> None:
    played = PlayedModels(some__model=says_hello)
    async with serving(*played.routes) as url:
        async with chatting(f"{url}/v1#some-model", view=Listener("y")) as driver:
            await driver.say("hi")
        async with chatting() as driver:
            assert driver.view.told[0][1].startswith("some-model, the last one you used")
    async with chatting() as driver:
        assert driver.view.told[0][1].startswith("tiny, ")


async def test_a_swap_says_what_changed_and_why_tools_are_off() -> None:
    async with chatting("tiny") as driver:
        await driver.say("/model tiny-plain", "/model tiny")
        assert driver.view.lines_of("swap") == [
            "now tiny-plain · tools off: its chat template has no tools · /tools emulate to try anyway",
            "now tiny · tools native · context 4k",
        ]
        assert not driver.view.errors


async def test_a_swap_to_what_is_known_asks_nobody() -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    quiet = {"detect__refresh": "off"}
    async with serving(*ollama.routes) as url, chatting("tiny", settings=settings_for(url, **quiet)) as driver:
        await driver.say("/model able", "/model tiny")
        asked = ollama.asked.total()
        await driver.say("/model able")
        assert ollama.asked.total() == asked
        assert len(driver.view.lines_of("swap")) == 3


async def test_facts_that_are_late_dont_hold_it_up_and_the_line_is_corrected(monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = PlayedOllama(qwen3__8b=WITHOUT)
    async with serving(*ollama.routes) as url:
        ollama.gate = asyncio.Event()
        async with chatting(
            "tiny", settings=settings_for(url, detect__refresh="off", detect__server_timeout=30)
        ) as driver:
            monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
            await driver.say("/model qwen3:8b")
            guess = "now qwen3:8b · tools native?, a guess by its name · it hasn't answered yet"
            assert driver.view.lines_of("swap") == [guess]
            ollama.gate.set()
            await driver.until(lambda: len(driver.view.lines_of("swap")) == 2)
            assert driver.view.lines_of("swap")[1].startswith("now qwen3:8b · tools off: ")


async def test_a_model_that_is_not_there_leaves_things_as_they_are() -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    async with serving(*ollama.routes) as url, chatting("tiny", settings=settings_for(url)) as driver:
        await driver.chat.shelf.look()
        await driver.say("/model albe:latest")
        assert isinstance(driver.view.errors[0], NotFound)
        assert "still tiny" in driver.view.errors[0].message
        assert driver.view.errors[0].hint == "did you mean 'able:latest'?"
        assert driver.chat.ref == ModelRef("tiny", "tiny")
        assert not driver.view.lines_of("swap")


async def test_a_model_for_embedding_isnt_talked_to() -> None:
    ollama = PlayedOllama(embed=EMBEDDING)
    async with serving(*ollama.routes) as url, chatting("tiny", settings=settings_for(url)) as driver:
        await driver.say("/model embed")
        assert "can't chat" in driver.view.errors[0].message
        assert driver.chat.ref.name == "tiny"


async def test_a_swap_in_the_middle_of_a_turn_comes_after_it_and_pending_calls_get_their_results(
    tool_file: str,
) -> None:
    at_work, go_on = asyncio.Event(), asyncio.Event()

    async def slow(reply: Reply, body: Body) -> None:
        at_work.set()
        await go_on.wait()
        await calls_then_answers(reply, body)

    played = PlayedModels(slow=slow, other=says_hello)
    async with serving(*played.routes) as url:
        options: dict[str, Any] = {"tools": (tool_file,), "own_tools": False, "allow": ("*",)}
        async with chatting(f"{url}/v1#slow", view=Listener("y", "n"), **options) as driver:
            driver.view.type("What is 17 times 23?")
            await at_work.wait()
            driver.view.type(f"/model {url}/v1#other")
            await driver.until(lambda: driver.view.lines_of("reply"))
            assert driver.view.lines_of("reply")[0].endswith("after this turn")
            assert driver.chat.ref.name == "slow"
            go_on.set()
            await driver.idle()
            assert driver.view.results == ["391"]
            assert driver.view.answer == "It is 391."
            assert driver.chat.ref.name == "other"
            await driver.say("And now?")
            assert driver.view.answer == "It is 391.Hello!"
            said = [message["content"] for message in played.asked[-1]["messages"]]
            assert "What is 17 times 23?" in said


async def test_the_line_is_kept_and_never_sent(tool_file: str) -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting("tiny", view=Listener("n")) as driver:
        await driver.say(f"/model {url}/v1#one", "hi")
        assert any("now one" in item.text for item in driver.chat.conversation.shown if hasattr(item, "text"))
        assert "now one" not in str(played.asked)


async def test_what_the_settings_name_comes_first() -> None:
    used = load_settings({"ollama.host": NOBODY, "models.default": "tiny-plain", "detect.refresh": "off"})
    async with chatting(settings=used) as driver:
        assert driver.view.told[0][1].startswith("tiny-plain, your settings name it")


@pytest.mark.parametrize("name", ["/nowhere/model.gguf", "hf:nonsense"])
async def test_a_name_that_is_no_model_is_an_error_and_no_more(name: str, quiet: Settings) -> None:
    async with chatting("tiny", settings=quiet) as driver:
        await driver.say(f"/model {name}")
        assert len(driver.view.errors) == 1
        assert driver.chat.ref.name == "tiny"


async def test_a_model_that_proves_not_to_be_there_is_left_again(monkeypatch: pytest.MonkeyPatch) -> None:
    played = PlayedModels(other=says_hello)
    async with serving(*played.routes) as url, chatting("tiny") as driver:
        played.listing = asyncio.Event()
        monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
        await driver.say(f"/model {url}/v1#gone")
        assert driver.chat.ref.name == "gone"
        played.listing.set()
        await driver.until(lambda: len(driver.view.lines_of("swap")) == 2)
        assert isinstance(driver.view.errors[0], NotFound)
        assert driver.view.errors[0].message.endswith("; back to tiny")
        assert driver.view.lines_of("swap")[1] == "now tiny · tools native · context 4k"
        assert driver.chat.ref.name == "tiny"
        assert driver.chat.conversation.model == "tiny"


async def test_so_is_one_for_embedding(monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = PlayedOllama(vectors=EMBEDDING)
    async with serving(*ollama.routes) as url:
        ollama.gate = asyncio.Event()
        used = settings_for(url, detect__refresh="off", detect__server_timeout=30)
        async with chatting("tiny", settings=used) as driver:
            monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
            await driver.say("/model vectors")
            ollama.gate.set()
            await driver.until(lambda: driver.view.errors)
            assert "can't chat" in driver.view.errors[0].message
            assert driver.chat.ref.name == "tiny"


async def test_a_chat_with_a_model_that_proves_not_to_be_there_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    played = PlayedModels(other=says_hello)
    played.listing = asyncio.Event()
    monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
    async with serving(*played.routes) as url:
        talk = chatting(f"{url}/v1#gone")
        driver = await talk.__aenter__()
        played.listing.set()
        await driver.chat.is_over.wait()
        with pytest.raises(NotFound, match="'gone'"):
            await talk.__aexit__(None, None, None)


async def test_what_we_have_to_load_ourselves_is_no_reason_for_a_guess(monkeypatch: pytest.MonkeyPatch) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    loading = asyncio.Event()
    started = asyncio.Event()

    async def loads(_: ModelRef) -> None:
        started.set()
        await loading.wait()

    monkeypatch.setattr(judging, "loaded", loads)
    async with serving(*ollama.routes) as url, Session(settings_for(url)) as session:
        judged = asyncio.create_task(judging.judge(Agent(session), ModelRef("ollama", "able")))
        await started.wait()
        assert not ollama.asked
        loading.set()
        assert not (await judged).now.is_guess


def test_what_the_first_look_at_a_server_needs_is_loaded_ahead() -> None:
    code = (
        "import sys; from callgate.chat import preloading; assert 'aiohttp' not in sys.modules;"
        "import asyncio; from callgate.vocabulary import ModelRef;"
        "asyncio.run(preloading.loaded(ModelRef('tiny', 'tiny'))); assert 'aiohttp' not in sys.modules;"
        "asyncio.run(preloading.loaded(ModelRef('ollama', 'x'))); assert 'aiohttp' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


async def test_what_is_told_in_another_thread_is_shown_in_ours() -> None:
    threads: list[int] = []

    class Watching(Listener):
        def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:
            threads.append(threading.get_ident())
            super().tell(text, kind, data)

    async with chatting("tiny", view=Watching()) as driver:
        await asyncio.to_thread(tell, "a file of yours was damaged")
        await driver.until(lambda: "a file of yours was damaged" in driver.view.lines_of("note"))
    assert set(threads) == {threading.get_ident()}
    tell("nobody listens any more")


async def test_after_a_fall_back_it_is_gone_on_with_the_model_that_was_chosen() -> None:
    played = PlayedModels(stand__in=says_hello)
    async with serving(*played.routes) as url:
        used = load_settings({"ollama.host": NOBODY, "detect.refresh": "off", "detect.unknown": "no"})
        gone = "http://127.0.0.1:1/v1#gone"
        async with chatting(gone, fallback=f"{url}/v1#stand-in", settings=used) as driver:
            await driver.say("hi")
            assert driver.view.answer == "Hello!"
            assert driver.chat.conversation.model == gone
            assert driver.chat.conversation.shown[-1].model == f"{url}/v1#stand-in"


async def test_a_file_is_found_again_from_anywhere(
    tmp_path: Path, tiny_gguf: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "good.gguf").symlink_to(tiny_gguf)
    monkeypatch.chdir(tmp_path)
    async with chatting("./good.gguf") as driver:
        assert driver.chat.conversation.model == f"file:{tmp_path / 'good.gguf'}"
        await driver.say("/clear", "/model tiny")
        assert driver.chat.conversation.model == "tiny"
