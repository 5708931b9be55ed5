from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from callgate.chat.holding import Held
from callgate.chat.store import Conversations
from callgate.vocabulary import Message, StorageError

COUNTING = """
import sys
from callgate.chat.holding import Held
from callgate.vocabulary import StorageError
path, rounds = sys.argv[1], int(sys.argv[2])
done = 0
while done < rounds:
    try:
        held = Held(path)
    except StorageError:
        continue
    with open(path) as file:
        number = int(file.read())
    with open(path, "w") as file:
        file.write(str(number + 1))
    held.release()
    done += 1
"""


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_what_is_held_cant_be_held_again_and_its_lock_goes_with_it(tmp_path: Path) -> None:
    path = str(tmp_path / "talk")
    held = Held(path)
    with pytest.raises(StorageError, match="another process"):
        Held(path)
    held.release()
    held.release()
    assert names(tmp_path) == []
    Held(path).release()


def test_a_lock_that_was_removed_under_somebody_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = str(tmp_path / "talk")
    opened = Held._opened
    first: list[Held] = []

    def raced(self: Held) -> int:
        """Between the opening and the locking, its holder lets go."""
        handle = opened(self)
        if first:
            first.pop().release()
        return handle

    first.append(Held(path))
    monkeypatch.setattr(Held, "_opened", raced)
    second = Held(path)
    assert names(tmp_path) == ["talk.lock"]
    with pytest.raises(StorageError):
        Held(path)
    second.release()


@pytest.mark.skipif(sys.platform == "win32", reason="there the lock's file stays")
def test_many_processes_never_hold_it_at_once(tmp_path: Path) -> None:
    path = tmp_path / "number"
    path.write_text("0")
    counting = [subprocess.Popen([sys.executable, "-c", COUNTING, str(path), "100"]) for _ in range(3)]
    assert [process.wait(timeout=120) for process in counting] == [0, 0, 0]
    assert path.read_text() == "300"
    assert names(tmp_path) == ["number"]


def test_no_conversation_leaves_a_lock_behind(tmp_path: Path) -> None:
    store = Conversations(str(tmp_path), print)
    conversation = store.new()
    conversation.say(Message(role="user", content="hi"))
    store.save(conversation, "talk")
    conversation.say(Message(role="user", content="again"))
    assert names(tmp_path / "conversations") == ["talk.jsonl", "talk.jsonl.lock"]
    conversation.close()
    store.load("talk")[0].close()
    assert names(tmp_path / "conversations") == ["talk.jsonl"]
