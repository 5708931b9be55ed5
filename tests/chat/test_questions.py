"""Questions come one at a time, and take nothing that isn't their answer."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.chat import judging
from callgate.chat.typed import is_command, is_done_at_once, is_no_answer
from callgate.chat.unknowns import QUESTION
from callgate.chat.views import Ask
from tests.chat.listening import Listener, chatting
from tests.chat.played_openai import Body, PlayedModels, Reply, says_hello
from tests.runtime.played import in_thread
from tests.wire.server import serving


class Patient(Listener):
    """Answers only when it is told to."""

    def __init__(self) -> None:
        super().__init__()
        self.open = 0
        self.most_open = 0
        self._answers: asyncio.Queue[str | None] = asyncio.Queue()

    async def ask(self, ask: Ask) -> str | None:
        self.asked.append(ask)
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        self._news.set()
        try:
            return await self._answers.get()
        finally:
            self.open -= 1

    def reply(self, text: str | None) -> None:
        self._answers.put_nowait(text)


async def test_facts_that_come_late_are_asked_about_when_no_other_question_stands(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = PlayedModels(mystery=says_hello)
    view = Patient()
    async with serving(*played.routes) as url, chatting("tiny", view=view) as driver:
        played.listing = asyncio.Event()
        monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
        await driver.say(f"/model {url}/v1#mystery")
        view.type("/model")
        await driver.until(lambda: view.asked)
        assert view.asked[0].pick
        played.listing.set()
        await driver.until(lambda: len(view.lines_of("swap")) == 2)
        view.reply(None)
        await driver.until(lambda: len(view.asked) == 2)
        assert view.asked[1].words == QUESTION
        assert view.asked[1].before == ("mystery: y and n are kept, Enter leaves tools off for this session",)
        view.reply("n")
        await driver.say("hi")
        assert view.answer == "Hello!"
        assert view.most_open == 1


async def test_a_turn_that_waits_for_late_facts_shows_a_sign_of_life_and_asks_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = PlayedModels(mystery=says_hello)
    view = Patient()
    async with serving(*played.routes) as url, chatting("tiny", view=view) as driver:
        played.listing = asyncio.Event()
        monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
        await driver.say(f"/model {url}/v1#mystery")
        view.type("hi")
        await driver.until(lambda: view.last_status and view.last_status.doing == "asking what mystery can do")
        played.listing.set()
        await driver.until(lambda: view.asked)
        assert not played.asked
        view.reply("y")
        await driver.idle()
        assert view.answer == "Hello!"
        assert view.last_status
        assert view.last_status.doing == ""
        assert len(view.asked) == 1


async def test_a_message_that_is_stopped_while_facts_are_waited_for_can_be_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    played = PlayedModels(mystery=says_hello)
    async with serving(*played.routes) as url, chatting("tiny", view=Listener()) as driver:
        played.listing = asyncio.Event()
        monkeypatch.setattr(judging, "PATIENCE_SECONDS", 0.05)
        await driver.say(f"/model {url}/v1#mystery")
        driver.view.type("hi")
        await driver.until(lambda: driver.view.last_status and driver.view.last_status.doing)
        assert driver.chat.stop()
        await driver.idle()
        assert driver.view.lines_of("note") == ["stopped"]
        played.listing.set()
        await driver.say("/retry")
        assert driver.view.answer == "Hello!"


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("/model tiny", True),
        ("/xyzzy", True),
        ("/?", True),
        ("/srv/models/x.gguf", False),
        ("/model.gguf", False),
        ("y", False),
        ("", False),
    ],
)
def test_a_command_is_told_from_a_path(text: str, is_one: bool) -> None:
    assert is_command(text) is is_one
    assert is_no_answer(text, gives_way=False) is is_one


def test_a_message_is_no_answer_to_a_question_that_gives_way() -> None:
    assert is_no_answer("What is 17 times 23?", gives_way=True)
    assert not is_no_answer("What is 17 times 23?", gives_way=False)
    assert not is_no_answer("auto detect", gives_way=True)


@given(st.text())
def test_whatever_is_typed_is_something(text: str) -> None:
    assert is_no_answer(text, gives_way=True) >= is_command(text)
    assert not is_done_at_once(text) or is_command(text.strip())


if sys.platform != "win32":
    from tests.chat.screens import BACKSPACE, CTRL_C, ENTER, Terminal

    async def hangs(reply: Reply, body: Body) -> None:
        await asyncio.Event().wait()

    class Gated(PlayedModels):
        """Lists its models when another thread says so."""

        def __init__(self) -> None:
            super().__init__(mystery=says_hello, hanger=hangs)
            self.was_asked = threading.Event()
            self.may_list = threading.Event()

    @pytest.fixture
    def gated() -> Iterator[tuple[Gated, str]]:
        played = Gated()

        async def wait_then_answer(request: object) -> object:
            if getattr(request, "path", "") == "/v1/models":
                played.was_asked.set()
                await asyncio.to_thread(played.may_list.wait, 60)
            return await played._answer(request)  # type: ignore[arg-type]

        with in_thread(("*", "/{path:.*}", wait_then_answer)) as base:  # type: ignore[arg-type]
            yield played, f"{base}/v1"
            played.may_list.set()

    def test_a_command_at_a_question_is_a_command(gated: tuple[Gated, str]) -> None:
        played, url = gated
        played.may_list.set()
        with Terminal(f"{url}#mystery") as terminal:
            terminal.wait_for("mystery: y and n are kept, Enter leaves tools off for this session", QUESTION)
            terminal.type("/help", ENTER)
            terminal.wait_for("every model in reach")
            terminal.wait_until(lambda text: text.rfind(QUESTION) > text.find("a space   before a slash"))
            terminal.type("/model tiny", ENTER)
            terminal.wait_for("now tiny · tools native")
            terminal.say("/model")
            terminal.wait_for("which model?")
            terminal.type("/caps", ENTER)
            terminal.wait_for("parallel calls, system")
            terminal.type(f"{url}#mystery", ENTER)
            terminal.wait_for("now mystery · tools off")

    def test_a_message_at_a_question_is_sent(gated: tuple[Gated, str]) -> None:
        played, url = gated
        played.may_list.set()
        with Terminal(f"{url}#mystery") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type("How are you today?", ENTER)
            terminal.wait_for("› How are you today?", "Hello!")

    def test_a_question_waits_until_nothing_is_being_typed(gated: tuple[Gated, str]) -> None:
        played, url = gated
        with Terminal(f"{url}#mystery") as terminal:
            terminal.wait_for("mystery, as you said · tools off?")
            terminal.type("yes, but")
            terminal.wait_for("› yes, but")
            played.may_list.set()
            terminal.wait_until(lambda text: text.count("mystery, as you said") == 2)
            assert QUESTION not in terminal.text
            terminal.type(*[BACKSPACE] * 8)
            terminal.wait_for(QUESTION)

    def test_a_chat_that_begins_can_be_stopped(gated: tuple[Gated, str]) -> None:
        played, url = gated
        played.may_list.set()
        with Terminal(f"{url}#hanger") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type("a", ENTER)
            terminal.wait_for("asking it to call a test tool")
            terminal.type(CTRL_C)
            terminal.wait_for("it wasn't tried to the end")
            terminal.say("/model tiny")
            terminal.wait_for("now tiny")

    def test_so_can_one_in_plain_lines(gated: tuple[Gated, str]) -> None:
        played, url = gated
        played.may_list.set()
        with Terminal("--plain", f"{url}#hanger") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type(CTRL_C)
            terminal.say("/model tiny")
            terminal.wait_for("now tiny")
            terminal.say(f"/model {url}#mystery")
            terminal.wait_until(lambda text: text.count(QUESTION) == 2)
            terminal.type("/model tiny-plain", ENTER)
            terminal.wait_for("now tiny-plain")
        with Terminal("--plain", f"{url}#hanger") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type("a", ENTER)
            terminal.wait_until(lambda _: bool(played.asked))
            terminal.type(CTRL_C)
            terminal.wait_for("it wasn't tried to the end", "›")
            terminal.type(CTRL_C)
            assert terminal.ended() == 0

    @pytest.mark.parametrize("words", [(), ("--plain",)])
    @pytest.mark.parametrize("number", [15, 1])
    def test_who_ends_it_while_it_begins_ends_it(words: tuple[str, ...], number: int, gated: tuple[Gated, str]) -> None:
        played, url = gated
        played.may_list.set()
        with Terminal(*words, f"{url}#hanger") as terminal:
            terminal.wait_for(QUESTION)
            terminal.type("a", ENTER)
            terminal.wait_until(lambda _: bool(played.asked))
            terminal.end(number)
            terminal.ended()

    def test_who_wont_wait_for_the_first_line_has_interrupted_it(gated: tuple[Gated, str]) -> None:
        played, url = gated
        with Terminal("--plain", f"{url}#mystery", CALLGATE_DETECT_SERVER_TIMEOUT="60") as terminal:
            terminal.wait_until(lambda _: played.was_asked.is_set())
            terminal.type(CTRL_C)
            assert terminal.ended() == 130
