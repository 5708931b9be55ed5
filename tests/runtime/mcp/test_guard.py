"""Children end with their parent, also where it is killed and could do nothing for them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

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
