"""In a real terminal, against servers that play their parts on loopback; and with the real engine."""

from __future__ import annotations

import asyncio
import re
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.chat.played_openai import Body, PlayedModels, Reply, calls_then_answers, says_hello
from tests.runtime.played import in_thread

if sys.platform == "win32":
    pytest.skip("there are no such terminals", allow_module_level=True)

from tests.chat.screens import CTRL_C, CTRL_D, CTRL_T, DOWN, ENTER, ESCAPE, Terminal

SECRET = "sk-verysecret"


async def waits(reply: Reply, body: Body) -> None:
    await reply.send({"content": "Let me think about"})
    await asyncio.Event().wait()


async def speaks_markdown(reply: Reply, body: Body) -> None:
    await reply.text("# Title\n\nSome **bold** ", "words.\n\n- one\n- two\n\n```python\nprint(1)\n```\n", "\nThe end.")


async def attacks(reply: Reply, body: Body) -> None:
    await reply.text(
        "before\x1b]0;pwned\x07", "\x1b[2J\x1b[31mred\x1b", "[0m \x9b31m\x9d52;c;cHduZWQ=\x9c after\u202eevil"
    )


async def thinks(reply: Reply, body: Body) -> None:
    await reply.send({"reasoning_content": "The user greets me."})
    await reply.send({"reasoning_content": " I should greet back."})
    await reply.text("Hello there!")


async def calls_with_a_secret(reply: Reply, body: Body) -> None:
    if any(message["role"] == "tool" for message in body["messages"]):
        await reply.text("Done.")
    else:
        await reply.call("log_in", user="me", password=SECRET)


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    played = PlayedModels(
        hello=says_hello,
        caller=calls_then_answers,
        waiter=waits,
        writer=speaks_markdown,
        attacker=attacks,
        thinker=thinks,
        secretive=calls_with_a_secret,
    )
    with in_thread(*played.routes) as base:
        yield f"{base}/v1"


@pytest.fixture(autouse=True)
def known(url: str, home: Path) -> None:
    """What there is to know of these models, so that nobody asks."""
    entries = ", ".join(
        f'{{"id": "{url}#{name}", "tool_support": {"true" if name in ("caller", "secretive") else "false"}}}'
        for name in ("hello", "caller", "waiter", "writer", "attacker", "thinker", "secretive")
    )
    (home / "callgate").mkdir()
    (home / "callgate" / "user_models.json").write_text(f'{{"user_models": [{entries}]}}')


def test_the_prompt_comes_first_then_the_model_and_an_answer(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.wait_for("›")
        terminal.wait_for("hello, as you said · tools off: you said so")
        terminal.say("Hi!")
        terminal.wait_for("› Hi!", "Hello!", "hello · off")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0


def test_what_is_typed_before_all_is_loaded_is_answered(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.type("Hi!", ENTER)
        terminal.wait_for("Hello!")


def test_a_call_is_asked_about_and_shown_with_its_result(url: str, tool_file: str) -> None:
    with Terminal(f"{url}#caller", "--tools", tool_file, "--no-own-tools") as terminal:
        terminal.say("What is 17 times 23?")
        terminal.wait_for('run multiply of tools: {"a":17,"b":23}', "allow? (y/n/always)")
        terminal.type("y", ENTER)
        text = terminal.wait_for("It is 391.")
        assert "╭─ ✓ multiply" in text
        assert "a: 17  b: 23" in text
        assert "→ 391" in text
        assert re.search(r" \d\.\d s ─╯", text)


def test_a_call_that_is_declined_is_said_to_be(url: str, tool_file: str) -> None:
    with Terminal(f"{url}#caller", "--tools", tool_file, "--no-own-tools") as terminal:
        terminal.say("What is 17 times 23?")
        terminal.wait_for("allow? (y/n/always)")
        terminal.type(ESCAPE)
        terminal.wait_for("✗ multiply", "didn't allow this call")


def test_always_is_listed_and_can_be_taken_back(url: str, tool_file: str) -> None:
    with Terminal(f"{url}#caller", "--tools", tool_file, "--no-own-tools") as terminal:
        terminal.say("What is 17 times 23?")
        terminal.wait_for("allow? (y/n/always)")
        terminal.type("always", ENTER)
        terminal.wait_for("It is 391.")
        terminal.say("/tools")
        terminal.wait_for("always allowed: tools/multiply")
        terminal.say("/tools ask tools/multiply")
        terminal.wait_for("asked again from now on: tools/multiply")


def test_what_was_being_typed_comes_back_after_a_question(url: str, tool_file: str) -> None:
    with Terminal(f"{url}#caller", "--tools", tool_file, "--no-own-tools") as terminal:
        terminal.wait_for("as you said")
        terminal.type("What is 17 times 23?", ENTER, "half a tho")
        terminal.wait_for("allow? (y/n/always)")
        terminal.type("y", ENTER)
        terminal.wait_for("It is 391.", "› half a tho")


def test_ctrl_c_stops_a_turn_and_keeps_the_conversation(url: str) -> None:
    with Terminal(f"{url}#waiter") as terminal:
        terminal.say("Hi!")
        terminal.wait_for("Let me think about")
        terminal.type(CTRL_C)
        terminal.wait_for("stopped")
        terminal.say(f"/model {url}#hello")
        terminal.say("Still there?")
        terminal.wait_for("Hello!")
        terminal.say("/undo")
        terminal.wait_for("2 messages left")
        terminal.type(CTRL_C)
        terminal.wait_for("Ctrl-D or /exit leaves")


def test_model_in_the_middle_of_a_turn_is_accepted_at_once(url: str) -> None:
    with Terminal(f"{url}#waiter") as terminal:
        terminal.say("Hi!")
        terminal.wait_for("Let me think about")
        terminal.type(f"/model {url}#hello", ENTER)
        terminal.wait_for("after this turn")


def test_a_swap_that_waits_for_the_end_of_a_turn_comes_after_ctrl_c_too(url: str) -> None:
    with Terminal(f"{url}#waiter") as terminal:
        terminal.say("Hi!")
        terminal.wait_for("Let me think about")
        terminal.type(f"/model {url}#hello", ENTER)
        terminal.wait_for("after this turn")
        terminal.type("And then?", ENTER)
        terminal.wait_for("› And then?")
        terminal.type(CTRL_C)
        terminal.wait_for("stopped", "not sent: 'And then?'", "now hello · tools off")


def test_a_tool_that_is_stopped_is_said_to_be(url: str, tmp_path: Path) -> None:
    tools = tmp_path / "slow.py"
    tools.write_text(
        'import threading\ndef multiply(a: int, b: int) -> int:\n    """Multiply."""\n    threading.Event().wait()\n'
    )
    words = (f"{url}#caller", "--tools", str(tools), "--no-own-tools", "--allow", "*")
    with Terminal(*words) as terminal:
        terminal.say("What is 17 times 23?")
        terminal.wait_until(lambda text: 'multiply {"a":17,"b":23}' in text)
        terminal.type(CTRL_C)
        terminal.wait_for("→ multiply: it was stopped in the middle, and may have done part of its work", "stopped")
        terminal.type(CTRL_D)
        assert terminal.ended() == 0


def test_a_call_that_nobody_allowed_is_said_not_to_have_run(url: str, tool_file: str) -> None:
    with Terminal(f"{url}#caller", "--tools", tool_file, "--no-own-tools") as terminal:
        terminal.say("What is 17 times 23?")
        terminal.wait_for("allow? (y/n/always)")
        terminal.type(CTRL_C)
        terminal.wait_for("→ multiply: it wasn't run", "stopped")


def test_markdown_is_drawn(url: str) -> None:
    with Terminal(f"{url}#writer") as terminal:
        terminal.say("Write.")
        text = terminal.wait_for("The end.", "tokens")
        assert "**" not in text
        assert "```" not in text
        assert " • one" in text
        assert terminal.cell("bold words").bold


def test_nothing_that_a_terminal_obeys_reaches_it(url: str) -> None:
    with Terminal(f"{url}#attacker") as terminal:
        terminal.say("Attack!")
        terminal.wait_for("before", "after")
        for hostile in (b"\x1b]0;", b"pwned", b"\x1b[2J", b"\x1b]52", b"\x9b", b"\x9d", "\u202e".encode()):
            assert hostile not in terminal.written


def test_thinking_is_folded_and_shown_on_demand(url: str) -> None:
    with Terminal(f"{url}#thinker") as terminal:
        terminal.say("Hi!")
        text = terminal.wait_for("Hello there!", "▸ thought for")
        assert "I should greet back" not in text
        terminal.type(CTRL_T)
        terminal.wait_for("The user greets me. I should greet back.")


def test_secrets_in_arguments_are_masked(url: str, tmp_path: Path) -> None:
    tools = tmp_path / "secrets.py"
    tools.write_text('def log_in(user: str, password: str) -> str:\n    """Log in."""\n    return "ok"\n')
    with Terminal(f"{url}#secretive", "--tools", str(tools), "--no-own-tools") as terminal:
        terminal.say("Log in.")
        terminal.wait_for("allow?")
        terminal.type("y", ENTER)
        terminal.wait_for("Done.", "password: … (13 characters)")
        assert SECRET.encode() not in terminal.written


def test_several_lines_can_be_typed(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.wait_for("as you said")
        terminal.type("one", "\x1b\r", "two\\", ENTER, "three", ENTER)
        terminal.wait_for("› one\n  two\n  three", "Hello!")


def test_commands_and_models_are_completed(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.wait_for("as you said")
        terminal.type("/mod")
        terminal.wait_for("every model in reach")
        terminal.type("el", ENTER)
        terminal.wait_for("which model? (hello now)", "tools yes · 4k · in the box")
        terminal.type(DOWN, ENTER)
        terminal.wait_for("now tiny · tools native · context 4k")


def test_a_picker_that_is_left_changes_nothing(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.say("/model")
        terminal.wait_for("which model?")
        terminal.type(ESCAPE)
        terminal.wait_for("still hello")


def test_a_conversation_is_gone_on_with(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.say("Remember me.")
        terminal.wait_for("Hello!")
        terminal.say("/save trip")
        terminal.wait_for("saved as 'trip'")
        terminal.say("/exit")
        assert terminal.ended() == 0
    with Terminal("--resume", "trip") as terminal:
        terminal.wait_for("› Remember me.", "Hello!", "going on with trip: 2 messages", "hello, as before")


def test_arrow_up_brings_back_what_was_said_last_time(url: str) -> None:
    with Terminal(f"{url}#hello") as terminal:
        terminal.say("an unusual sentence")
        terminal.wait_for("Hello!")
        terminal.type(CTRL_D)
        terminal.ended()
    with Terminal(f"{url}#hello") as terminal:
        terminal.wait_for("hello · off")
        terminal.type("\x1b[A")
        terminal.wait_for("› an unusual sentence")


def test_it_is_readable_on_a_narrow_screen(url: str, tool_file: str) -> None:
    words = (f"{url}#caller", "--tools", tool_file, "--no-own-tools", "--allow", "*")
    with Terminal(*words, columns=32, rows=20) as terminal:
        terminal.say("What is 17 times 23?")
        text = terminal.wait_for("It is 391.")
        assert '→ multiply {"a":17,"b":23}' in text
        assert re.search(r"← 391 \(\d\.\d s\)", text)
        assert "╭" not in text


def test_without_colours_there_are_none(url: str, tool_file: str) -> None:
    words = (f"{url}#caller", "--tools", tool_file, "--no-own-tools", "--allow", "*")
    with Terminal(*words, NO_COLOR="1") as terminal:
        terminal.say("What is 17 times 23?")
        terminal.wait_for("It is 391.", "› ")
        for colour in (b"\x1b[3", b"\x1b[9", b";3", b";9"):
            sequences = [piece.split(b"m")[0] for piece in terminal.written.split(b"\x1b[")[1:] if b"m" in piece[:12]]
            assert not any(
                colour in b"\x1b[" + sequence for sequence in sequences if sequence.replace(b";", b"").isdigit()
            )


def test_a_simple_terminal_gets_plain_lines(url: str) -> None:
    with Terminal(f"{url}#hello", TERM="dumb") as terminal:
        terminal.say("Hi!")
        terminal.wait_for("Hello!")
        terminal.say("/exit")
        assert terminal.ended() == 0
        assert b"\x1b" not in terminal.written


def test_whoever_ends_it_ends_it_in_order(url: str, home: Path) -> None:
    with Terminal(f"{url}#waiter") as terminal:
        terminal.say("Hi!")
        terminal.wait_for("Let me think about")
        terminal.end(signal.SIGTERM)
        terminal.ended()
    kept = next((home / "callgate" / "conversations").glob("*.jsonl"))
    assert "Let me think about" in kept.read_text()
    assert kept.stat().st_mode & 0o77 == 0
    assert kept.parent.stat().st_mode & 0o77 == 0


def test_a_model_that_is_not_there_is_an_error_with_a_status(url: str) -> None:
    with Terminal("/nowhere/model.gguf") as terminal:
        terminal.wait_for("error: ")
        assert terminal.ended() == 1


def test_a_dead_server_is_no_end_of_the_chat() -> None:
    with Terminal("http://127.0.0.1:1/v1#gone") as terminal:
        terminal.wait_for("Does this model support tools? (y/n/auto-detect)")
        terminal.type(ENTER)
        terminal.say("Hi!")
        terminal.wait_for("error: ", "/retry")
        terminal.say("/model tiny")
        terminal.wait_for("now tiny")


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_the_real_engine_calls_a_tool_goes_on_without_tools_and_calls_again(tool_file: str) -> None:
    with Terminal("tiny", "--tools", tool_file, "--no-own-tools", "--allow", "multiply") as terminal:
        terminal.wait_for("tiny, as you said · tools native · context 4k")
        terminal.say("What is 17 times 23?")
        text = terminal.wait_for("The result is 391.", "of 4,096 tokens")
        assert "✓ multiply" in text
        terminal.say("/model tiny-plain")
        terminal.wait_for("now tiny-plain · tools off: its chat template has no tools · /tools emulate to try anyway")
        terminal.say("What is 6 times 7?")
        terminal.wait_until(
            lambda text: "tiny-plain · off · " in text and "tokens/s" in text.rpartition("tiny-plain · off")[2]
        )
        terminal.say("/model tiny")
        terminal.wait_for("now tiny · tools native · context 4k")
        terminal.say("What is 12 times 12?")
        text = terminal.wait_for("→ 144")
        assert text.count("✓ multiply") == 2
        assert "error" not in text


@pytest.mark.parametrize("missing", ["prompt_toolkit", "rich"])
def test_what_isnt_installed_is_said_with_the_next_step(missing: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(f"import sys\nsys.modules[{missing!r}] = None\n")
    with Terminal("tiny", PYTHONPATH=str(tmp_path)) as terminal:
        assert terminal.ended() == 2
        assert f"needs {missing}, which isn't installed" in terminal.text
        assert re.search(r"pip install .*\[chat\]'", terminal.text)
