from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.chat.conversation import Conversation, OpenElsewhere
from callgate.chat.items import Line, Said, read_item, without_last, write_item
from callgate.chat.store import Conversations
from callgate.vocabulary import Image, Message, NotFound, StorageError, ToolCall, UsageError

USER = Message(role="user", content="What is 17 times 23?")
CALL = Message(role="assistant", calls=(ToolCall("1", "multiply", {"a": 17, "b": 23}),))
RESULT = Message(role="tool", content="391", call_id="1", name="multiply")
ANSWER = Message(role="assistant", content="It is 391.", thinking="Hm.")


@pytest.fixture
def store(tmp_path: Path) -> Conversations:
    return Conversations(str(tmp_path), print)


def filled(store: Conversations) -> Conversation:
    conversation = store.new()
    conversation.note(Line(text="tiny · tools native", kind="swap", model="tiny"))
    for message in (USER, CALL, RESULT, ANSWER):
        conversation.say(message, "tiny" if message.role == "assistant" else None)
    return conversation


def test_what_was_said_is_read_again_with_the_lines_between(store: Conversations) -> None:
    first = filled(store)
    first.set_system("Be brief.")
    first.close()
    again, is_copy = store.load()
    assert not is_copy
    assert again.messages == (Message(role="system", content="Be brief."), USER, CALL, RESULT, ANSWER)
    assert isinstance(again.shown[0], Line)
    assert again.model == "tiny"
    again.close()


def test_pictures_and_broken_calls_are_kept_as_they_are(store: Conversations) -> None:
    conversation = store.new()
    odd = Message(role="user", content="look", images=(Image(b"\x89PNG\0", "image/png"),))
    broken = Message(role="assistant", calls=(ToolCall("1", "f", "not json", raw="not json", problem="it is no JSON"),))
    conversation.say(odd)
    conversation.say(broken)
    conversation.close()
    assert store.load()[0].messages == (odd, broken)


def test_nobody_who_says_nothing_leaves_a_file(store: Conversations, tmp_path: Path) -> None:
    conversation = store.new()
    conversation.note(Line(text="tiny"))
    conversation.close()
    assert not list(tmp_path.rglob("*.jsonl"))


def test_only_its_owner_can_read_it(store: Conversations) -> None:
    conversation = filled(store)
    assert Path(conversation.path).stat().st_mode & 0o77 == 0
    assert Path(conversation.path).parent.stat().st_mode & 0o77 == 0
    conversation.close()


def test_what_is_taken_back_stays_taken_back(store: Conversations) -> None:
    conversation = filled(store)
    assert conversation.messages_since_question() == 4
    conversation.take_back(4)
    conversation.say(Message(role="user", content="Other."))
    conversation.close()
    again, _ = store.load()
    assert [message.content for message in again.messages] == ["Other."]
    assert isinstance(again.shown[0], Line)


def test_a_line_that_was_cut_off_costs_nothing_but_itself(store: Conversations) -> None:
    conversation = filled(store)
    conversation.close()
    path = Path(conversation.path)
    path.write_bytes(path.read_bytes()[:-10])
    again, _ = store.load()
    assert again.messages == (USER, CALL, RESULT)
    again.say(ANSWER)
    again.close()
    assert store.load()[0].messages == (USER, CALL, RESULT, ANSWER)


def test_lines_of_a_newer_callgate_are_passed_over(store: Conversations) -> None:
    conversation = filled(store)
    conversation.close()
    with Path(conversation.path).open("a") as file:
        file.write('{"is": "hologram", "x": 1}\n[]\n"text"\n')
    assert store.load()[0].count == 4


def test_two_chats_dont_write_into_one_conversation(store: Conversations) -> None:
    first = filled(store)
    with pytest.raises(OpenElsewhere):
        Conversation.opened(first.path, print)
    copy, is_copy = store.load()
    assert is_copy
    assert copy.path != first.path
    assert copy.messages == first.messages
    copy.say(USER)
    assert first.count == 4
    first.close()
    copy.close()


def test_a_name_is_taken_once_and_found_by_its_beginning(store: Conversations) -> None:
    conversation = filled(store)
    store.save(conversation, "my trip")
    conversation.say(USER)
    other = filled(store)
    with pytest.raises(StorageError, match="already"):
        store.save(other, "my trip")
    other.say(ANSWER)
    conversation.close()
    other.close()
    assert store.load("my")[0].count == 5
    assert other.count == 5
    with pytest.raises(NotFound):
        store.load("nobody")


@pytest.mark.parametrize("name", ["../x", "a/b", ".hidden", "", "x" * 100, "a\nb"])
def test_a_name_stays_in_the_folder(name: str, store: Conversations) -> None:
    with pytest.raises(UsageError):
        store.save(filled(store), name)


def test_the_list_has_the_last_first_and_says_how_each_begins(store: Conversations) -> None:
    old = filled(store)
    old.close()
    os.utime(old.path, (time.time() - 100, time.time() - 100))
    new = store.new()
    new.say(Message(role="user", content="\x1b[31mSecond\x1b[0m one"))
    new.close()
    assert [kept.title for kept in store.listed()] == ["Second one", "What is 17 times 23?"]


def test_a_folder_that_cant_be_written_is_told_of_once_and_the_talk_goes_on(tmp_path: Path) -> None:
    (tmp_path / "conversations").write_text("a file, not a folder")
    told: list[str] = []
    conversation = Conversations(str(tmp_path), told.append).new()
    conversation.say(USER)
    conversation.say(ANSWER)
    assert len(told) == 1
    assert "isn't saved" in told[0]
    assert conversation.messages == (USER, ANSWER)


def test_a_kill_in_the_middle_loses_nothing_that_was_said(tmp_path: Path) -> None:
    script = (
        "import os\nfrom callgate.chat.store import Conversations\nfrom callgate.vocabulary import Message\n"
        f"talk = Conversations({str(tmp_path)!r}, print).new()\n"
        "for n in range(50): talk.say(Message(role='user', content=str(n)))\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=False)
    assert Conversations(str(tmp_path), print).load()[0].count == 50


@given(st.binary(max_size=200))
def test_no_line_is_too_strange_to_be_read(line: bytes) -> None:
    read_item(line)


@given(st.lists(st.booleans()), st.integers(0, 10))
def test_lines_stay_when_messages_go(kinds: list[bool], count: int) -> None:
    shown = [Said(message=USER) if is_message else Line(text="x") for is_message in kinds]
    left = without_last(shown, count)
    assert sum(isinstance(item, Line) for item in left) == kinds.count(False)
    assert sum(isinstance(item, Said) for item in left) == max(0, kinds.count(True) - count)


@given(st.text(), st.sampled_from(["user", "assistant"]))
def test_an_item_is_read_as_it_was_written(text: str, role: str) -> None:
    text = text.encode("utf-8", "replace").decode()
    item = Said(message=Message(role=role, content=text), model="m", at="now")  # type: ignore[arg-type]
    line = write_item(item)
    assert line.count(b"\n") == 1
    assert read_item(line) == item
