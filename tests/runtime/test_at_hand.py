from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from callgate.runtime import described_tools, tools_at_hand
from callgate.settings import load_settings
from callgate.vocabulary import NotFound, UsageError
from tests.runtime.mcp.conftest import RAW


async def names(**wanted: object) -> tuple[list[str], list[str]]:
    """The paths of the tools, and what was told."""
    told: list[str] = []
    async with tools_at_hand(load_settings(), told=told.append, **wanted) as box:  # type: ignore[arg-type]
        await box.refresh()
        return [entry.path for entry in box.entries], told


async def test_without_a_wish_there_are_none() -> None:
    assert await names() == ([], [])


async def test_all_kinds_of_tools_lie_in_one_box(tmp_path: Path) -> None:
    functions = tmp_path / "sums.py"
    functions.write_text("def add(a: int, b: int) -> int:\n    return a + b\n")
    described = tmp_path / "tools.json"
    described.write_text(json.dumps([{"name": "far", "inputSchema": {"type": "object"}}]))
    found, told = await names(files=[str(functions), str(described)], own=True)
    assert {"elsewhere/far", "sums/add", "callgate/calculate"} <= set(found)
    assert told == []


async def test_a_folder_brings_tools_that_read_it(tmp_path: Path) -> None:
    assert "callgate/read_file" in (await names(folder=str(tmp_path)))[0]
    assert "callgate/read_file" not in (await names(own=True))[0]


async def test_servers_that_do_not_start_are_told_of_and_the_rest_works(tmp_path: Path) -> None:
    servers = tmp_path / "servers.json"
    entries = {"gone": {"command": str(tmp_path / "nowhere")}, "odd": {"command": 3}}
    servers.write_text(json.dumps({"mcpServers": entries}))
    found, told = await names(mcp_files=[str(servers)], own=True)
    assert "callgate/calculate" in found
    assert [next(name for name in entries if f"{name!r}" in line) for line in sorted(told)] == sorted(entries)


async def test_a_name_that_others_have_costs_one_server_and_the_rest_works(tmp_path: Path) -> None:
    functions = tmp_path / "time.py"
    functions.write_text("def now() -> str:\n    return 'now'\n")
    raw = {"command": sys.executable, "args": [RAW]}
    servers = tmp_path / "servers.json"
    servers.write_text(json.dumps({"mcpServers": dict.fromkeys(["callgate", "time", "elsewhere", "raw"], raw)}))
    found, told = await names(files=[str(functions)], mcp_files=[str(servers)], own=True)
    assert {"callgate/calculate", "time/now", "raw/echo"} <= set(found)
    assert told == [
        f"the MCP server {name!r} isn't started: there are other tools called {name!r}"
        for name in ("callgate", "time", "elsewhere")
    ]


async def test_two_files_of_one_name_are_refused_and_the_second_named(tmp_path: Path) -> None:
    paths = [tmp_path / folder / "tools.py" for folder in ("a", "b")]
    for path in paths:
        path.parent.mkdir()
        path.write_text("def now() -> str:\n    return 'now'\n")
    with pytest.raises(UsageError, match=r"/b/tools\.py' can't be used: there are others called 'tools'"):
        await names(files=[str(path) for path in paths])


async def test_files_that_are_no_good_are_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        await names(files=[str(tmp_path / "nowhere.py")])
    with pytest.raises(UsageError, match="nowhere"):
        await names(files=[str(tmp_path / "nowhere.json")])


@pytest.mark.parametrize("content", [b"{", b"\xff", b"[" * 100_000, b'"x"', b"[1]", b'[{"name": 3}]'])
def test_descriptions_that_are_none_are_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_bytes(content)
    with pytest.raises(UsageError):
        described_tools(str(path))
