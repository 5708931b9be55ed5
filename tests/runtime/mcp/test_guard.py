"""Children end with their parent, also where it is killed and could do nothing for them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.mcp.guard import MOST_PASSED_OVER, Endless, Lines
from tests.runtime.mcp.conftest import RAW

PARENT = """
import asyncio, sys
from callgate.runtime.mcp import McpServer, StdioSpec

async def main():
    server = McpServer(StdioSpec(name="raw", command=sys.executable, args=(sys.argv[1],)))
    print((await server.call("spawn", {})).content, flush=True)
    how = sys.argv[2]
    if how == "close":
        await server.close()
    if how == "stay":
        await server.call("hang", {})

asyncio.run(main())
"""


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")
@pytest.mark.parametrize("how", ["stay", "close", "leave"])
def test_a_server_and_its_children_end_with_us(how: str) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, RAW, how], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert parent.stdout
    assert parent.stderr
    server, child = eval(parent.stdout.readline())
    if how == "stay":
        assert is_running(server)
        assert is_running(child)
        os.kill(parent.pid, signal.SIGKILL)
    status = parent.wait()
    assert status == (-signal.SIGKILL if how == "stay" else 0)
    deadline = time.monotonic() + 20
    while is_running(server) or is_running(child):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    assert parent.stderr.read() == b""
    parent.stdout.close()
    parent.stderr.close()


LONGEST = 400


def passed(text: bytes, cuts: list[int]) -> list[bytes]:
    """The lines that come through, wherever the text is cut."""
    lines = Lines(LONGEST)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    said = b"".join(lines.feed(text[at:until]) for at, until in pairwise(places))
    return said.splitlines()


IDS = st.integers(-9, 10**12) | st.text(max_size=20)
MEMBERS = {
    "jsonrpc": st.just("2.0"),
    "result": st.dictionaries(st.sampled_from(["id", "result", "a"]), st.integers() | st.text(max_size=9), max_size=3),
}


@given(st.data(), IDS, st.sampled_from([0, 3000]), st.permutations(["jsonrpc", "id", "result"]))
def test_an_answer_comes_through_or_an_error_of_the_same_id(
    data: st.DataObject, number: int | str, length: int, order: list[str]
) -> None:
    made: dict[str, object] = {name: data.draw(values) for name, values in MEMBERS.items()}
    made = {name: {**made, "id": number}[name] for name in order}
    result = {"text": "x" * length, **made["result"]} if isinstance(made["result"], dict) else {}
    whole = json.dumps({**made, "result": result}).encode()
    other = b'{"jsonrpc":"2.0","method":"m"}'
    cuts = data.draw(st.lists(st.integers(0, 5000), max_size=12)) + list(range(0, len(whole), LONGEST // 2))
    said = passed(b"\n".join([other, whole, other]) + b"\n", cuts)
    assert (said[0], said[2]) == (other, other)
    if length:
        answer = json.loads(said[1])
        assert answer["id"] == number
        assert "more than 400 bytes" in answer["error"]["message"]
    else:
        assert said[1] == whole


@given(st.lists(st.binary(max_size=300)), st.lists(st.integers(0, 5000), max_size=9))
def test_whatever_is_short_passes_as_it_is(pieces: list[bytes], cuts: list[int]) -> None:
    text = b"".join(piece + b"\n" for piece in pieces if len(piece.replace(b"\n", b"")) <= LONGEST)
    lines = Lines(LONGEST)
    places = [0, *sorted(cut % (len(text) + 1) for cut in cuts), len(text)]
    assert b"".join(lines.feed(text[at:until]) for at, until in pairwise(places)) == text


@given(st.binary(min_size=LONGEST + 1, max_size=3 * LONGEST).map(lambda line: line.replace(b"\n", b" ")))
def test_whatever_is_long_is_passed_over_answered_or_given_up(line: bytes) -> None:
    lines = Lines(LONGEST)
    lines.feed(line)
    assert lines.feed(b"\nnext\n").endswith(b"next\n")


@pytest.mark.parametrize(
    "start",
    [b'{"jsonrpc":"2.0","id":1,"method":"m","params":"', b'{"method":"m","params":"', b"Loading ", b'{"id":1,"x":"'],
)
def test_what_is_no_answer_is_answered_by_nobody(start: bytes) -> None:
    assert passed(start + b"x" * 1000 + b'"}\nnext\n', list(range(0, 1000, 100))) == [b"next"]


def test_a_line_without_an_end_costs_no_memory_and_is_given_up() -> None:
    lines = Lines(LONGEST)
    for _ in range(MOST_PASSED_OVER):
        assert lines.feed(b"x" * LONGEST) == b""
        assert len(lines._waiting) <= 2 * LONGEST
    with pytest.raises(Endless):
        lines.feed(b"x" * LONGEST)


def test_an_answer_that_is_nobodys_is_given_up() -> None:
    lines = Lines(LONGEST)
    lines.feed(b'{"result":"' + b"x" * 1000)
    with pytest.raises(Endless):
        lines.feed(b'","id":1,"more":2}\n')
