"""A server made with the official package that has more than one page of tools, and changes them while it runs.

`official_server.py stdio`, or the name of a port of its own: `official_server.py 8000`.
"""

from __future__ import annotations

import base64
import struct
import sys
import zlib
from typing import Any

import anyio
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ToolsListChanged
from mcp_types import (
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListToolsResult,
    PaginatedRequestParams,
    TextContent,
    Tool,
)

PAGE = 3
changes = InMemorySubscriptionBus()
tools = ["grow", "shrink", "picture", "tool_3", "tool_4", "tool_5", "tool_6"]


def picture(width: int = 8, height: int = 8) -> bytes:
    """A red square, as PNG."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = (b"\0" + b"\xff\0\0" * width) * height
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


async def list_tools(_: Any, params: PaginatedRequestParams | None) -> ListToolsResult:
    start = int(params.cursor) if params and params.cursor else 0
    page = [Tool(name=name, input_schema={"type": "object"}) for name in tools[start : start + PAGE]]
    return ListToolsResult(tools=page, next_cursor=str(start + PAGE) if start + PAGE < len(tools) else None)


async def call_tool(context: Any, params: CallToolRequestParams) -> CallToolResult:
    if params.name in ("grow", "shrink"):
        tools.append("grown") if params.name == "grow" else tools.remove("tool_6")
        await changes.publish(ToolsListChanged())  # to those of the newest protocol
        if context.protocol_version < "2026":
            await context.session.send_tool_list_changed()
    if params.name == "picture":
        data = base64.b64encode(picture()).decode()
        shown = ImageContent(type="image", data=data, mime_type="image/png")
        return CallToolResult(content=[TextContent(type="text", text="a square"), shown])
    return CallToolResult(content=[TextContent(type="text", text=f"{params.name} is done")])


server: Server[Any] = Server(
    "official", on_list_tools=list_tools, on_call_tool=call_tool, on_subscriptions_listen=ListenHandler(changes)
)


async def over_stdio() -> None:
    options = server.create_initialization_options(NotificationOptions(tools_changed=True))
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, options)


def over_http(port: int) -> None:
    import uvicorn

    uvicorn.run(server.streamable_http_app(), port=port, log_level="critical")


if __name__ == "__main__":
    if sys.argv[1] == "stdio":
        anyio.run(over_stdio)
    else:
        over_http(int(sys.argv[1]))
