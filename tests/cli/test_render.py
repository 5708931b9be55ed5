from __future__ import annotations

import io
import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends import RenderedPrompt, WireRequest
from callgate.cli.render_view import show_turn
from callgate.cli.screen import Screen
from callgate.runtime import Shown
from callgate.vocabulary import ModelRef, Notice
from tests.backends.gguf_edit import with_templates
from tests.cli.command import Done, callgate
from tests.cli.test_ask import TOOLS

TALK = [
    {"role": "user", "content": "What is the weather in Paris?"},
    {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c", "function": {"name": "get_weather", "arguments": '{"city": "Paris"}'}}],
    },
    {"role": "tool", "tool_call_id": "c", "content": "sunny"},
]


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps(TOOLS))
    return str(path)


def render(*words: str, given: bytes = b"", **more: str) -> Done:
    return callgate("render", *words, given=given, **more)


def test_a_question_is_enough(tools: str) -> None:
    done = render("tiny", "Hello?", "--tools", tools)
    assert (done.status, done.err) == (0, "")
    start, _, rest = done.out.partition("\n\nrequest  POST http://llama.cpp/v1/chat/completions\n")
    body, _, prompt = rest.partition("\n\nprompt  about ")
    assert start == "tiny: native\n  its chat template shows the model its tools, and the calls that it made"
    assert json.loads(body)["tools"] == TOOLS
    assert prompt.endswith("\n<|im_start|>user\nHello?<|im_end|>\n<|im_start|>assistant\n\n")


def test_a_conversation_comes_from_a_file_or_from_standard_input(tools: str, tmp_path: Path) -> None:
    file = tmp_path / "talk.json"
    file.write_text(json.dumps({"messages": TALK}))
    from_file = render("--json", "tiny", "--messages", str(file), "--tools", tools)
    from_input = render("--json", "tiny", "--messages", "-", "--tools", tools, given=json.dumps(TALK).encode())
    (shown,) = from_file.objects
    assert from_input.objects == [shown]
    assert list(shown) == ["model", "mode", "reason", "notices", "request", "prompt", "rendered_by"]
    assert (shown["model"], shown["mode"], shown["rendered_by"]) == ("tiny", "native", "callgate")
    assert shown["prompt"].endswith("<tool_response>\nsunny\n</tool_response><|im_end|>\n<|im_start|>assistant\n")


def test_question_and_system_message_stand_around_the_conversation() -> None:
    done = render("tiny", "--system", "Be kind.", "--messages", "-", "--json", "And?", given=json.dumps(TALK).encode())
    roles = [message["role"] for message in done.objects[0]["request"]["body"]["messages"]]
    assert (roles[0], roles[-1]) == ("system", "user")


def test_the_strategy_of_the_command_is_stronger_than_that_of_the_settings(tools: str) -> None:
    modes = [
        render("--json", *words, "tiny", "hi", "--tools", tools, CALLGATE_TOOLS_PER_MODEL="tiny=off").objects[0]["mode"]
        for words in ([], ["--strategy", "emulate"], ["--strategy", "auto"])
    ]
    assert modes == ["off", "emulated", "native"]


def test_a_tool_that_must_be_called_is_in_the_request(tools: str) -> None:
    done = render("--json", "tiny", "hi", "--tools", tools, "--tool-choice", "get_weather")
    assert done.objects[0]["request"]["body"]["tool_choice"] == "required"


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["tiny"], 2, "no conversation"),
        (["tiny", "--messages", "nowhere.json"], 2, "can't be read"),
        (["tiny", "--messages", "-", "--tools", "-"], 2, "both"),
        (["tiny", "--messages", "-"], 2, "standard input is no JSON"),
        (["tiny", "hi", "--tool-choice", "f"], 2, "'f'"),
        (["hf:owner/name", "hi"], 2, "fetched"),
        (["file:nowhere.gguf", "hi"], 1, "nowhere.gguf"),
        (["scripted:nowhere.jsonl", "hi"], 1, "nowhere.jsonl"),
    ],
)
def test_what_goes_wrong_is_said_with_the_right_status(words: list[str], status: int, says: str) -> None:
    done = render(*words)
    assert (done.status, says in done.err) == (status, True), done
    assert "Traceback" not in done.err


def test_an_error_is_json_too() -> None:
    (error,) = render("--json", "tiny").objects
    assert error["error"]["type"] == "UsageError"


def test_a_server_that_isnt_there_leaves_a_guess_and_status_4() -> None:
    done = render("m", "hi")
    assert done.status == 4
    assert "! this is a guess" in done.out
    assert '"model": "m"' in done.out


def test_a_template_that_refuses_is_quoted_and_nothing_of_it_is_obeyed(tiny_gguf: Path, tmp_path: Path) -> None:
    said, rest = "messages[0].content", r"{{ '\x1b[2J\x07\x9b\tb' }}"
    source = f"{{{{ {said} }}}}{{{{ raise_exception('no\\x1b[2J') if {said} == 'no' }}}}{rest}"
    file = str(with_templates(tiny_gguf, tmp_path / "m.gguf", source))
    refused, shown, as_json = render(file, "no"), render(file, "hi"), render("--json", file, "hi")
    assert (refused.status, shown.status) == (1, 0)
    assert "refuses this conversation: no [2J" in refused.out
    assert shown.out.endswith("\nhi␛[2J␇�␉b\n")
    assert as_json.objects[0]["prompt"] == "hi\x1b[2J\x07\x9b\tb"
    assert all(line.isprintable() for done in (refused, shown, as_json) for line in done.out.split("\n"))


@pytest.mark.engine
def test_the_engine_says_the_same(require_engine: None, tools: str) -> None:
    ours, engines = [
        render("--json", *words, "tiny", "hi", "--tools", tools).objects[0] for words in ([], ["--engine"])
    ]
    assert (engines["rendered_by"], engines["prompt"]) == ("llama.cpp", ours["prompt"])


# The view


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def seen(shown: Shown, stream: io.StringIO) -> str:
    show_turn(Screen(stream), shown)
    return stream.getvalue()


def turn(body: object = None, prompt: str = "", reason: str = "because", **more: object) -> Shown:
    return Shown(
        **{  # type: ignore[arg-type]
            "ref": ModelRef.parse("tiny"),
            "mode": "native",
            "reason": reason,
            "wire": WireRequest("http://x", msgspec.json.encode({"messages": []} if body is None else body)),
            "prompt": RenderedPrompt(prompt, "callgate"),
            **more,
        }
    )


def test_a_terminal_gets_colours_for_the_mode_the_keys_and_the_special_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = seen(turn(prompt="<|im_start|>user\nis 1 < 2?"), Terminal())
    assert "\x1b[32mnative\x1b[0m" in shown
    assert '\x1b[1m"messages"\x1b[0m: []' in shown
    assert "\x1b[33m<|im_start|>\x1b[0muser\nis 1 < 2?" in shown


def test_a_picture_is_cut_and_text_is_not() -> None:
    text, picture = "word " * 100, "data:image/png;base64," + "A" * 1000
    part = {"type": "image_url", "image_url": {"url": picture}}
    openai = {"messages": [{"role": "user", "content": [{"type": "text", "text": text}, part]}]}
    ollama = {"messages": [{"role": "user", "content": text, "images": ["A" * 1000]}]}
    for body in (openai, ollama):
        shown = seen(turn(body), io.StringIO())
        assert text in shown
        assert "A" * 100 not in shown
        assert "characters)" in shown


def test_a_notice_that_says_what_the_reason_says_is_left_out() -> None:
    notices = (Notice("tools_off", "tools are off: because"), Notice("other", "mind the gap"))
    shown = seen(turn(notices=notices), io.StringIO())
    assert ("tools are off" in shown, "! mind the gap" in shown) == (False, True)


@given(st.text(), st.text(), st.text(), st.text())
def test_whatever_a_stranger_wrote_no_terminal_obeys_it(prompt: str, said: str, reason: str, name: str) -> None:
    shown = turn(
        {"messages": [{"role": "user", "content": said}], said: 1},
        prompt,
        reason,
        ref=ModelRef("ollama", name),
        notices=(Notice("x", said),),
    )
    assert all(line.isprintable() for line in seen(shown, io.StringIO()).split("\n"))
