"""MCP servers as sources of tools: read from the usual file, started or reached, kept alive, and never trusted."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.runtime.mcp.opening import OpenServers, limits_for, open_servers, servers_for
    from callgate.runtime.mcp.server import McpLimits, McpServer
    from callgate.runtime.mcp.server_spec import HttpSpec, ServerSpec, StdioSpec
    from callgate.runtime.mcp.servers_file import ServerFailure, Servers, read_servers

__all__ = [
    "HttpSpec",
    "McpLimits",
    "McpServer",
    "OpenServers",
    "ServerFailure",
    "ServerSpec",
    "Servers",
    "StdioSpec",
    "limits_for",
    "open_servers",
    "read_servers",
    "servers_for",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "HttpSpec": "server_spec",
        "McpLimits": "server",
        "McpServer": "server",
        "OpenServers": "opening",
        "ServerFailure": "servers_file",
        "ServerSpec": "server_spec",
        "Servers": "servers_file",
        "StdioSpec": "server_spec",
        "limits_for": "opening",
        "open_servers": "opening",
        "read_servers": "servers_file",
        "servers_for": "opening",
    },
)
