from __future__ import annotations

import json
import logging
import stat
import sys
import threading
from pathlib import Path

import pytest

from callgate.cli import log_handlers
from callgate.cli.log_handlers import LogFile, StandardError
from callgate.cli.logs import logs
from tests.cli.command import callgate

TOOLS = [{"name": "multiply", "description": "", "inputSchema": {"type": "object", "properties": {}}}]


def record(message: str, *words: object, **more: object) -> logging.LogRecord:
    made = logging.LogRecord("callgate.x", logging.INFO, __file__, 1, message, words, None)
    made.__dict__.update(more)
    return made


def test_verbose_says_why_tools_are_on_or_off(tmp_path: Path) -> None:
    done = callgate("check", "--verbose", "--json", "tiny", "tiny-plain")
    shows = "its chat template shows the model its tools, and the calls that it made"
    assert done.err.splitlines() == [
        f"info: 'tiny': tools yes, because template says so: {shows}",
        "info: 'tiny-plain': tools no, because template says so: its chat template has no tools (supports_tools=false)",
    ]
    assert len(done.objects) == 2
    assert callgate("check", "tiny").err == ""
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS))
    rendered = callgate("render", "--verbose", "tiny", "--tools", str(tmp_path / "tools.json"), "Hello")
    assert "info: tools for 'tiny': native, because " in rendered.err


def test_the_file_says_it_too_and_is_its_owners_alone(tmp_path: Path) -> None:
    file = tmp_path / "logs" / "callgate.log"
    done = callgate("check", "tiny", CALLGATE_LOGGING_FILE=str(file))
    assert (done.status, done.err) == (0, "")
    assert "callgate.cli.logs: 'tiny': tools yes, because " in file.read_text()
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_the_level_says_how_much(tmp_path: Path) -> None:
    assert callgate("check", "--verbose", "tiny", CALLGATE_LOGGING_LEVEL="warning").err == ""


def test_a_log_that_cant_be_written_is_told_once_and_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = callgate("check", "tiny", "tiny-plain", CALLGATE_LOGGING_FILE=str(tmp_path / "file" / "log"))
    assert done.status == 0
    assert done.err.count("there is no log") == 1


def test_wrong_settings_are_told_by_the_command(tmp_path: Path) -> None:
    done = callgate("check", "--json", "tiny", CALLGATE_LOGGING_LEVEL="loud")
    assert done.status == 2
    assert done.objects[0]["error"]["type"] == "UsageError"


def test_a_line_has_no_password_no_control_characters_and_nothing_of_an_exception(
    capsys: pytest.CaptureFixture[str],
) -> None:
    info = (ValueError, ValueError("the argument was 4711"), None)
    StandardError().handle(record("no %s at http://me:pa55@there\x1b[2J\n", "one", exc_info=info))
    said = capsys.readouterr().err
    assert said == "info: no one at http://…@there�[2J� (ValueError)\n"
    StandardError().handle(record("x" * 10_000))
    assert len(capsys.readouterr().err) < 2 * log_handlers.LONGEST_LINE


def test_what_is_logged_ends_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    logger = logging.getLogger("callgate.x")
    before = logging.getLogger("callgate").handlers[:]
    with logs(verbose=True):
        logger.info("heard")
    logger.info("unheard")
    assert capsys.readouterr().err == "info: heard\n"
    assert logging.getLogger("callgate").handlers == before


def test_a_full_file_is_moved_aside_and_no_line_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_handlers, "LARGEST_LOG", 2000)
    monkeypatch.setattr(log_handlers, "OLD_LOGS", 100)
    files = [LogFile(str(tmp_path / "log")) for _ in range(4)]

    def write(number: int) -> None:
        for line in range(25):
            files[number].handle(record("%d-%d.", number, line))

    writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    for file in files:
        file.close()
    kept = [path.read_text() for path in tmp_path.iterdir() if not path.name.endswith(".lock")]
    assert len(kept) > 2
    lines = [line for text in kept for line in text.splitlines()]
    assert len(lines) == len(set(lines)) == 100


def test_only_so_many_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(log_handlers, "LARGEST_LOG", 1)
    file = LogFile(str(tmp_path / "log"))
    for number in range(10):
        file.handle(record("line %d", number))
    file.close()
    found = {path.name: path.read_text().split()[-1] for path in tmp_path.iterdir() if path.name != "log.lock"}
    assert found == {"log": "9", "log.1": "8", "log.2": "7", "log.3": "6"}


def test_a_file_that_somebody_removes_is_made_again(tmp_path: Path) -> None:
    file = LogFile(str(tmp_path / "log"))
    file.handle(record("one"))
    if sys.platform != "win32":
        (tmp_path / "log").unlink()
    file.handle(record("two"))
    file.close()
    assert "two" in (tmp_path / "log").read_text()
