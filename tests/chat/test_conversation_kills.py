"""A chat may be killed at any moment: what was said before is there, and the conversation can be gone on with."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgate.chat.conversation import Conversation
from callgate.vocabulary import Image, Message, ToolCall

KILLS = 12
LARGE = 3_000_000

WRITER = """
import sys
from callgate.chat.conversation import Conversation
from callgate.vocabulary import Message

path, large = sys.argv[1], int(sys.argv[2])
conversation = Conversation.opened(path, print) if len(sys.argv) > 3 else Conversation(path, print)
number = conversation.count
while True:
    number += 1
    conversation.say(Message(role="user", content=f"{number} " + "ü" * large))
    print(number, flush=True)
"""


def complain(text: str) -> None:
    raise AssertionError(text)


def opened(path: Path) -> Conversation:
    return Conversation.opened(str(path), complain)


@pytest.mark.skipif(sys.platform == "win32", reason="nothing is killed like that there")
@pytest.mark.parametrize("large", [10, LARGE])
def test_whatever_was_acknowledged_before_a_kill_is_there(large: int, tmp_path: Path) -> None:
    """Each kill loses the message that was being written, at most, and the next chat goes on behind it."""
    path, chance = tmp_path / "talk.jsonl", random.Random(large)
    kept = 0
    for kill in range(KILLS if large < LARGE else 4):
        words = [sys.executable, "-c", WRITER, str(path), str(large), *(["again"] if kill else [])]
        writer = subprocess.Popen(words, stdout=subprocess.PIPE)
        assert writer.stdout
        acknowledged = kept
        for _ in range(chance.randint(1, 3)):
            acknowledged = int(writer.stdout.readline())
        writer.send_signal(signal.SIGKILL)
        rest = writer.stdout.read().split(b"\n")[:-1]
        writer.wait()
        writer.stdout.close()
        acknowledged = int(rest[-1]) if rest else acknowledged
        conversation = opened(path)
        numbers = [int(message.content.split()[0]) for message in conversation.messages]
        conversation.close()
        assert numbers == list(range(1, len(numbers) + 1))
        assert acknowledged <= len(numbers) <= acknowledged + 1
        kept = len(numbers)


SAID = [
    Message(role="user", content="Was ist 17 × 23? 🤔"),
    Message(role="assistant", content="", calls=(ToolCall("c1", "multiply", {"a": 17, "b": "ü"}),)),
    Message(role="tool", content="391\n\x1b[31m", call_id="c1", name="multiply", images=(Image(b"\x89PNG\r\n"),)),
    Message(role="assistant", content="391"),
]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[int]]:
    """A conversation, and where the file ended after each message."""
    path = tmp_path_factory.mktemp("whole") / "talk.jsonl"
    conversation = Conversation(str(path), complain)
    ends = [0]
    for message in SAID:
        conversation.say(message, "tiny")
        ends.append(path.stat().st_size)
    conversation.close()
    return path.read_bytes(), ends


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_wherever_the_file_is_cut_off_what_came_before_is_there_and_it_goes_on(
    whole: tuple[bytes, list[int]], tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content, ends = whole
    cut = data.draw(
        st.integers(0, len(content)) | st.sampled_from(ends) | st.sampled_from([end - 1 for end in ends[1:]])
    )
    path = tmp_path_factory.mktemp("cut") / "talk.jsonl"
    path.write_bytes(content[:cut])
    conversation = opened(path)
    before = conversation.messages
    # One that lacks nothing but the end of its line is whole.
    assert len(before) == sum(cut >= end - 1 for _, end in pairwise(ends))
    assert list(before) == SAID[: len(before)]
    conversation.say(Message(role="user", content="and then?"), None)
    conversation.close()
    again = opened(path)
    assert again.messages == (*before, Message(role="user", content="and then?"))
    again.close()


def test_a_disk_that_is_full_in_the_middle_is_told_of_and_costs_no_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    path = tmp_path / "talk.jsonl"
    conversation = Conversation(str(path), told.append)
    conversation.say(SAID[0])
    write = os.write
    with monkeypatch.context() as patch:

        def full(handle: int, content: bytes) -> int:
            if len(content) < 20:
                raise OSError(28, "No space left on device")
            return write(handle, content[:20])

        patch.setattr(os, "write", full)
        conversation.say(SAID[3])
    assert told == ["this conversation isn't saved: No space left on device"]
    assert conversation.messages == (SAID[0], SAID[3])
    conversation.close()
    again = opened(path)
    assert again.messages[0] == SAID[0]
    again.close()
