"""Servers from the package index, as people have them."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from pathlib import Path

import pytest

from callgate.runtime.mcp import open_servers, read_servers


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    own = ["-c", "user.name=A", "-c", "user.email=a@b.c"]
    subprocess.run(["git", "init", "-q", str(folder)], check=True, capture_output=True)
    subprocess.run(["git", "-C", str(folder), *own, "commit", "-qm", "First", "--allow-empty"], check=True)
    return folder


async def test_time_and_git_serve_side_by_side_and_one_that_fails_is_named(repository: Path, tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    servers = {
        "time": {"command": "${PYTHON}", "args": ["-m", "mcp_server_time", "--local-timezone", "${ZONE:-Etc/UTC}"]},
        "git": {"command": "${PYTHON}", "args": ["-m", "mcp_server_git", "--repository", str(repository)]},
        "gone": {"command": "${PYTHON}", "args": ["-m", "no_such_module_at_all"]},
        "unset": {"command": "${NO_SUCH_VARIABLE}"},
        "off": {"command": "false", "disabled": True},
    }
    file.write_text(json.dumps({"mcpServers": servers}))
    opened = await open_servers(read_servers([str(file)], {"PYTHON": sys.executable}))
    try:
        time, git = opened.servers
        assert (time.name, git.name) == ("time", "git")
        assert [failure.name for failure in opened.failures] == ["unset", "gone"]
        assert "NO_SUCH_VARIABLE" in opened.failures[0].error.message
        assert "No module named no_such_module_at_all" in opened.failures[1].error.message
        assert "get_current_time" in [tool.name for tool in await time.tools()]
        now = json.loads((await time.call("get_current_time", {"timezone": "Asia/Tokyo"})).content)
        assert now["timezone"] == "Asia/Tokyo"
        assert (await time.call("get_current_time", {"timezone": "Mars/Base"})).is_error
        log = await git.call("git_log", {"repo_path": str(repository)})
        assert "First" in log.content
        assert (await git.call("git_log", {"repo_path": "/"})).is_error
    finally:
        await opened.close()
    assert [server.state for server in opened.servers] == ["closed", "closed"]


async def test_servers_that_are_not_waited_for_are_ended(tmp_path: Path) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(
        json.dumps({"mcpServers": {"time": {"command": sys.executable, "args": ["-m", "mcp_server_time"]}}})
    )
    opening = asyncio.create_task(open_servers(read_servers([str(file)])))
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
