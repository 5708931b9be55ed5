from __future__ import annotations

import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from callgate.runtime.mcp.server import McpLimits, McpServer
from callgate.runtime.mcp.server_spec import StdioSpec
from callgate.settings import Secret

RAW = str(Path(__file__).with_name("raw_server.py"))
Raw = Callable[..., McpServer]


@pytest.fixture
async def raw() -> AsyncIterator[Raw]:
    """Makes servers that misbehave as they are told, and ends them."""
    made: list[McpServer] = []

    def make(how: str = "", *, limits: McpLimits | None = None, told: Callable[[str], None] | None = None) -> McpServer:
        spec = StdioSpec(name="raw", command=sys.executable, args=(RAW, how), env={"KEY": Secret("sesame-street")})
        made.append(McpServer(spec, limits, told))
        return made[-1]

    yield make
    for server in made:
        await server.close()
