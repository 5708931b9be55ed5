"""In a real terminal, which the pipes of other tests are not."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.command import CALLGATE, environ

if sys.platform == "win32":
    pytest.skip("there are no such terminals", allow_module_level=True)

import pty


def seen(*words: str) -> str:
    """What a command writes to a terminal, on both of its outputs."""
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [*CALLGATE, *words], stdin=follower, stdout=follower, stderr=follower, env=environ() | {"TERM": "xterm"}
    )
    os.close(follower)
    written = b""
    try:
        while piece := os.read(leader, 65536):
            written += piece
    except OSError:  # how a terminal says on Linux that nobody writes to it any more
        pass
    os.close(leader)
    assert process.wait(timeout=60) == 0
    return written.decode().replace("\r\n", "\n")


def recording(folder: Path, *texts: str, wait: float = 0) -> str:
    lines: list[dict[str, object]] = [
        {"callgate_recording": 1, "model": "m", "backend": "ollama"},
        {"request": {"model": "m", "messages": []}},
    ]
    lines += [{"at": wait, "event": {"type": "assistant_delta", "data": {"text": text}}} for text in texts]
    lines.append({"at": wait, "event": {"type": "done", "data": {"reason": "stop"}}})
    path = folder / "talk.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return f"scripted:{path}?timing=1"


def test_an_answer_that_comes_at_once_is_shown_whole(tmp_path: Path) -> None:
    assert seen("ask", recording(tmp_path, "Hel", "lo", " there"), "hi") == "Hello there\n"


def test_whoever_waits_is_told_and_the_line_is_wiped_before_the_answer(tmp_path: Path) -> None:
    shown = seen("ask", recording(tmp_path, "Hel", "lo", wait=1.5), "hi")
    assert "waiting for" in shown
    assert shown.endswith("\r\x1b[KHello\n")


def test_a_table_has_colours_there_and_none_where_they_are_not_wanted(tmp_path: Path) -> None:
    assert "\x1b[32myes\x1b[0m" in seen("check", "tiny")
