from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgate.chat.command_names import NAMES
from callgate.runtime import Refreshed
from callgate.settings import Settings, load_settings
from callgate.vocabulary import UsageError
from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import PlayedModels, calls_then_answers, says_hello
from tests.runtime.played import NOBODY
from tests.wire.server import serving


async def test_every_command_is_in_the_help_and_none_of_them_fails() -> None:
    async with chatting("tiny") as driver:
        await driver.say("/help")
        assert [row[0].split()[0] for row in driver.view.texts[0][2]["commands"]] == list(NAMES)
        await driver.say("/models", "/tools", "/mcp", "/caps", "/why", "/system", "/load", "/clear")
        assert not driver.view.errors
        assert [name for name, _, _ in driver.view.texts] == [
            "help", "models", "tools", "mcp", "caps", "why", "conversations",
        ]  # fmt: skip


async def test_a_command_that_isnt_there_is_named_with_one_that_is() -> None:
    async with chatting("tiny") as driver:
        await driver.say("/modle tiny", "/xyzzy")
        assert [error.hint for error in driver.view.errors] == [
            "did you mean /model?",
            "/help lists them; with a space before it, it goes to the model",
        ]


async def test_a_line_behind_a_space_goes_to_the_model() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:
        await driver.say(" /etc/passwd is what?")
        assert played.asked[-1]["messages"][-1]["content"] == "/etc/passwd is what?"


async def test_the_system_message_is_sent_from_then_on_and_survives_clear() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:
        await driver.say("/system Be brief.", "hi")
        assert played.asked[-1]["messages"][0]["role"] == "system"
        assert "Be brief." in played.asked[-1]["messages"][0]["content"]
        await driver.say("/clear", "hi")
        assert "Be brief." in played.asked[-1]["messages"][0]["content"]
        assert "hi" in played.asked[-1]["messages"][-1]["content"]
        await driver.say("/system none", "hi")
        assert "Be brief." not in str(played.asked[-1])


async def test_undo_takes_the_question_and_all_that_came_of_it_back(tool_file: str) -> None:
    played = PlayedModels(one=calls_then_answers)
    options: dict[str, Any] = {"tools": (tool_file,), "own_tools": False, "allow": ("*",)}
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one", view=Listener("y"), **options) as driver:
        await driver.say("What is 17 times 23?")
        assert driver.chat.conversation.count == 4
        await driver.say("/undo")
        assert driver.chat.conversation.count == 0
        await driver.say("/undo")
        assert isinstance(driver.view.errors[0], UsageError)


async def test_retry_asks_the_same_again() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:
        await driver.say("hi", "/retry")
        assert driver.view.answer == "Hello!Hello!"
        assert driver.chat.conversation.count == 2
        assert played.asked[0]["messages"] == played.asked[1]["messages"]


async def test_a_question_that_failed_is_taken_out_and_retried_elsewhere() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting("http://127.0.0.1:1/v1#gone") as driver:
        await driver.say("hi")
        assert len(driver.view.errors) == 1
        assert driver.chat.conversation.count == 0
        await driver.say(f"/model {url}/v1#one", "/retry")
        assert driver.view.answer == "Hello!"
        assert driver.chat.conversation.count == 2


async def test_tools_are_switched_one_by_one_and_their_cost_is_shown(tool_file: str) -> None:
    async with chatting("tiny", tools=(tool_file,)) as driver:
        await driver.say("/tools")
        shown = driver.view.texts[-1]
        assert [tool["name"] for tool in shown[2]["tools"]] == ["calculate", "current_time", "multiply"]
        assert shown[2]["tokens"] > 50
        await driver.say("/tools off c*", "/tools")
        assert [tool["on"] for tool in driver.view.texts[-1][2]["tools"]] == [False, False, True]
        assert driver.view.texts[-1][2]["tokens"] < shown[2]["tokens"]
        await driver.say("/tools off *")
        assert driver.view.lines_of("swap")[-1] == "now tiny · no tools at hand · context 4k"
        await driver.say("/tools on *", "/tools off nothing*")
        assert driver.view.lines_of("swap")[-1] == "now tiny · tools native · context 4k"
        assert len(driver.view.errors) == 1


async def test_tools_are_emulated_on_demand() -> None:
    async with chatting("tiny-plain") as driver:
        await driver.say("/tools emulate")
        assert driver.view.lines_of("swap") == [
            "now tiny-plain · tools emulated: that is what was asked for · context 4k"
        ]
        await driver.say("/tools auto")
        assert driver.view.lines_of("swap")[-1].startswith("now tiny-plain · tools off: its chat template")
        await driver.say("/tools off")
        assert driver.view.lines_of("swap")[-1] == "now tiny-plain · tools off: tools are switched off"


@pytest.mark.parametrize("kind", ["md", "json", "html"])
async def test_an_export_has_what_was_said_and_the_lines_between(kind: str, tmp_path: Path) -> None:
    played = PlayedModels(one=says_hello)
    path = tmp_path / f"talk.{kind}"
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:
        await driver.say("<b>hi</b>", "/model tiny", f"/export {path}")
        written = path.read_text()
        assert "Hello!" in written
        assert "now tiny · tools native · context 4k" in written
        assert path.stat().st_mode & 0o77 == 0
        if kind == "html":
            assert "<b>" not in written
        if kind == "json":
            roles = [message["role"] for message in json.loads(written)["messages"]]
            assert roles == ["callgate", "user", "assistant", "callgate"]
        await driver.say(f"/export {path}")
        assert "already" in driver.view.errors[0].message


async def test_a_conversation_is_loaded_with_its_model_and_its_lines() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url:
        async with chatting(f"{url}/v1#one") as driver:
            await driver.say("hi", "/save talk")
        async with chatting("tiny") as driver:
            await driver.say("/load talk")
            assert driver.chat.ref.name == "one"
            assert [type(item).__name__ for item in driver.view.history] == ["Line", "Said", "Said"]
            await driver.say("and?")
            assert [message["content"] for message in played.asked[-1]["messages"]][-3:] == ["hi", "Hello!", "and?"]
        async with chatting(resume="talk") as driver:
            assert driver.chat.ref.name == "one"
            assert driver.chat.conversation.count == 4


async def test_resume_without_a_name_is_the_last_one() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url:
        async with chatting(f"{url}/v1#one") as driver:
            await driver.say("hi")
        async with chatting(resume="") as driver:
            assert driver.chat.conversation.count == 2


async def test_exit_leaves() -> None:
    async with chatting("tiny") as driver:
        driver.view.type("/exit")
        await driver.chat.is_over.wait()


async def test_loading_the_conversation_that_one_is_in_changes_nothing() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as driver:
        await driver.say("hi", "/save mine", "/load mine")
        assert driver.view.lines_of("reply")[-1] == "you are in it: mine"
        await driver.say("hi again")
        assert driver.chat.conversation.name == "mine"
        assert driver.chat.conversation.count == 4


async def test_nothing_is_said_to_be_kept_that_isnt() -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url, chatting(f"{url}/v1#one") as first:
        await first.say("hi", "/save mine")
        async with chatting("tiny") as second:
            await second.say("/load mine", "/clear")
            assert "this is a copy: 2 messages, kept as " in second.view.lines_of("note")[-1]
            assert second.view.lines_of("reply")[-1] == "a new conversation"


async def test_many_tools_are_switched_in_a_few_words(tmp_path: Path) -> None:
    path = tmp_path / "many.py"
    path.write_text("".join(f'def tool_{n:02}() -> int:\n    """Number {n}."""\n    return {n}\n' for n in range(60)))
    async with chatting("tiny", tools=(str(path),), own_tools=False) as driver:
        await driver.say("/tools off tool_0*", "/tools off *")
        replies = driver.view.lines_of("reply")
        assert replies[0].startswith("off: 10 tools: tool_00, tool_01, ")
        assert replies[1].startswith("off: 60 tools: tool_00, tool_01, ")
        assert all(len(reply) < 100 for reply in replies)


async def test_who_asks_first_is_to_be_seen_on_a_narrow_screen(tool_file: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    async with chatting("tiny", tools=(tool_file,)) as driver:
        await driver.say("/tools")
        lines = driver.view.texts[0][1].splitlines()
        assert "multiply" in lines[3]
        assert "asks" in lines[3]
        assert max(map(len, lines)) <= 40


async def test_models_are_known_to_completion_without_a_look_at_the_start(quiet: Settings) -> None:
    async with chatting("tiny", settings=quiet) as driver:
        assert driver.chat.shelf.glance() == ()
        models = await driver.chat.shelf.look()
        assert [model.name for model in models] == ["tiny", "tiny-plain"]
        assert [model.tools for model in driver.chat.shelf.glance()] == ["yes", "no"]


async def test_a_glance_doesnt_stand_in_for_the_refresh_at_the_start(
    quiet: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chatting("tiny", settings=quiet) as driver:
        refreshed: list[bool] = []

        async def refresh() -> Refreshed:
            refreshed.append(True)
            return Refreshed()

        monkeypatch.setattr(driver.chat.agent.session, "refresh", refresh)
        driver.chat.shelf.glance()
        await driver.chat.shelf.look(refresh=True)
        assert refreshed


async def test_a_server_is_listed_without_its_password_and_found_by_that_name(home: Path) -> None:
    played = PlayedModels(one=says_hello)
    async with serving(*played.routes) as url:
        secret = f"{url}/v1".replace("://", "://me:hunter2@")
        used = load_settings({"ollama.host": NOBODY, "detect.refresh": "off", "discovery.endpoints": f"mine={secret}"})
        async with chatting("tiny", settings=used) as driver:
            await driver.say("/models")
            assert f"{url}/v1#one" in driver.view.texts[0][1]
            assert "hunter2" not in str(driver.view.texts)
            await driver.say(f"/model {url}/v1#one")
            assert driver.chat.ref.endpoint == secret
            await driver.say("hi")
        written = [file.read_bytes() for file in (home / "callgate").rglob("*.jsonl")]
        assert written
        assert all(b"hunter2" not in content for content in written)
