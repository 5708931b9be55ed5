"""All the tools that a user names, in one box: ours, those of Python files, descriptions, MCP servers."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

import msgspec

from callgate.runtime.function_tools import FunctionTools
from callgate.runtime.toolbox import ELSEWHERE, Given, Toolbox, is_source
from callgate.settings import Settings
from callgate.tools import read_tools
from callgate.vocabulary import Tool, UsageError

LARGEST_FILE = 16 << 20


@asynccontextmanager
async def tools_at_hand(
    settings: Settings,
    *,
    files: Sequence[str] = (),
    mcp_files: Sequence[str] = (),
    own: bool = False,
    folder: str | None = None,
    with_settings: bool = False,
    told: Callable[[str], None],
) -> AsyncIterator[Toolbox]:
    """`files` are Python's, whose functions are run, or JSON lists of tools that somebody else runs. `own`: the tools
    that come with callgate, and with `folder` those that read the files below it. `with_settings`: the MCP servers of
    the settings too. Servers that don't start are `told` of, and the rest works; all are closed at the end.

    Raises: UsageError, if a file is no good.
    """
    given: list[Given] = [_own_tools(folder)] if own or folder is not None else []
    taken = {ELSEWHERE, *(source.name for source in given if is_source(source))}
    for path in files:
        if path.endswith(".py"):
            functions = await asyncio.to_thread(_functions_of, path)
            if functions.name in taken:
                raise UsageError(
                    f"the tools of {path!r} can't be used: there are others called {functions.name!r}",
                    hint="give the file another name",
                )
            taken.add(functions.name)
            given.append(functions)
        else:
            given += described_tools(path)
    if not mcp_files and not (with_settings and settings.mcp.servers):
        yield Toolbox(given)
        return
    from callgate.runtime.mcp import limits_for, open_servers, read_servers, servers_for

    named = servers_for(settings, mcp_files) if with_settings else read_servers(mcp_files)
    servers = await open_servers(named, limits_for(settings), told, taken=taken)
    try:
        for failure in servers.failures:
            told(failure.error.message)
        yield Toolbox([*given, *servers.servers])
    finally:
        await servers.close()


def _own_tools(folder: str | None) -> Given:
    from callgate.runtime.own_tools import built_in_tools

    return built_in_tools(folder)


def _functions_of(path: str) -> FunctionTools:
    from callgate.runtime.tool_files import read_tool_file

    return read_tool_file(path)


def described_tools(path: str) -> tuple[Tool, ...]:
    """Of a JSON list in OpenAI's, MCP's or Ollama's form. Raises: UsageError."""
    try:
        with open(os.path.expanduser(path), "rb") as file:
            content = file.read(LARGEST_FILE + 1)
        if len(content) > LARGEST_FILE:
            raise UsageError(f"{path!r} has more than {LARGEST_FILE >> 20} MB")
        return read_tools(msgspec.json.decode(content))
    except OSError as error:
        raise UsageError(f"{path!r} can't be read: {error.strerror}") from None
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"{path!r} is no JSON: {error}") from None
