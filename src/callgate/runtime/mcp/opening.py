"""Several MCP servers at once: those that fail are named, and the rest works."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Sequence
from contextlib import AsyncExitStack

import msgspec

from callgate.runtime.mcp.server import McpLimits, McpServer
from callgate.runtime.mcp.servers_file import ServerFailure, Servers, read_servers
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, UsageError


class OpenServers(msgspec.Struct, frozen=True):
    """Those that run, in the order in which they were named, and those that don't."""

    servers: tuple[McpServer, ...] = ()
    failures: tuple[ServerFailure, ...] = ()

    async def close(self) -> None:
        async with AsyncExitStack() as stack:  # so that each is closed, whatever becomes of the others
            for server in self.servers:
                stack.push_async_callback(server.close)


def servers_for(settings: Settings, files: Sequence[str] = ()) -> Servers:
    """Those that the settings and the given files name; of two with one name, the one of the last file.

    Raises: UsageError, if a file isn't there or isn't what it should be.
    """
    own = [settings.mcp.servers] if settings.mcp.servers else []
    return read_servers([*own, *files])


def limits_for(settings: Settings) -> McpLimits:
    return McpLimits(start=settings.mcp.start_timeout, call=settings.tools.call_timeout, restarts=settings.mcp.restarts)


async def open_servers(
    named: Servers,
    limits: McpLimits | None = None,
    told: Callable[[str], None] | None = None,
    *,
    taken: Collection[str] = (),
) -> OpenServers:
    """Starts them all at once. `told` hears what a user should know, then and later: see `McpServer`. A server with a
    name that is `taken` by other tools isn't started: what is allowed to those, and denied, goes by their name.
    """
    servers = [McpServer(spec, limits, told) for spec in named.specs if spec.name not in taken]
    refused = [ServerFailure(spec.name, _taken(spec.name)) for spec in named.specs if spec.name in taken]
    tasks = [asyncio.create_task(_open(server)) for server in servers]
    try:
        failures = await asyncio.gather(*tasks)
    except BaseException:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        await OpenServers(tuple(servers)).close()
        raise
    return OpenServers(
        tuple(server for server, failure in zip(servers, failures, strict=True) if failure is None),
        (*named.failures, *refused, *(failure for failure in failures if failure is not None)),
    )


def _taken(name: str) -> UsageError:
    return UsageError(
        f"the MCP server {name!r} isn't started: there are other tools called {name!r}",
        hint="give it another name in the file with `mcpServers`",
    )


async def _open(server: McpServer) -> ServerFailure | None:
    try:
        await server.open()
    except CallgateError as error:
        await server.close()
        return ServerFailure(server.name, error)
    return None
