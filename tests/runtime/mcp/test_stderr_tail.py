from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.mcp.stderr_tail import MOST_KEPT, StderrTail


def test_only_the_last_part_is_kept_and_from_a_whole_line_on() -> None:
    tail = StderrTail()
    for number in range(20_000):
        tail.add(f"line {number}\n".encode())
    lines = tail.text().splitlines()
    assert len(tail.text()) <= MOST_KEPT
    assert lines[-1] == "line 19999"
    assert all(line.startswith("line ") for line in lines)


def test_secrets_and_control_characters_are_taken_out() -> None:
    tail = StderrTail(["hunter22", "hunter22-long", "a"])
    tail.add("\x1b[31mkey hunter22-long, hunter22\r\na ü\n".encode())
    assert tail.text() == " [31mkey …, …\na ü\n"


def test_the_last_line_says_how_it_ended() -> None:
    tail = StderrTail()
    assert tail.last_line() == ""
    tail.add(b"Traceback\nValueError: no\n\n[ended with status 1]\n")
    assert tail.last_line() == "ValueError: no [ended with status 1]"


@given(st.lists(st.binary(max_size=50)))
def test_any_bytes_become_plain_text(pieces: list[bytes]) -> None:
    tail = StderrTail(["secret"])
    for piece in pieces:
        tail.add(piece)
    assert all(c.isprintable() or c in "\n\t" for c in tail.text())
    assert tail.last_line().isprintable() or "\t" in tail.last_line()
