"""One life of a session with an MCP server, from its opening to its end.

The official package ties a session to the task that opens it. So each session has a task of its own, which opens it,
waits, and closes it; calls come from wherever they come, and one that is cancelled takes nothing else with it.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from callgate.runtime.mcp.inspection import inspected
from callgate.runtime.mcp.listing import Listing
from callgate.runtime.mcp.package import load_package
from callgate.runtime.mcp.server_spec import ServerSpec
from callgate.runtime.mcp.stderr_tail import StderrTail
from callgate.runtime.mcp.transports import opened_transport
from callgate.runtime.mcp.troubles import Trouble, start_failure
from callgate.vocabulary import ToolServerFailed

if TYPE_CHECKING:
    from anyio import CancelScope
    from mcp.client.client import Client
    from mcp.client.session import IncomingMessage
    from mcp_types import CallToolResult

MOST_PAGES = 100
LISTEN_AGAIN_AFTER = (1.0, 5.0, 30.0, 120.0)
"""Seconds, each time that a server has stopped telling of changes."""
COURTESY_SECONDS = 0.5
"""To tell a server that a call is cancelled: one that no longer reads holds nobody up."""


class Connection:
    """A session that is open until one of both sides ends it."""

    def __init__(self, spec: ServerSpec, tail: StderrTail, when_changed: Callable[[], None]) -> None:
        self._spec = spec
        self._tail = tail
        self._when_changed = when_changed
        self._client: Client | None = None
        self._listing: Listing | None = None
        self._is_over = asyncio.Event()
        self._opening: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._scope: CancelScope | None = None
        self._task: asyncio.Task[None] | None = None
        self._leaving: set[asyncio.Task[CallToolResult]] = set()
        self._refusal: int | None = None

    @property
    def is_alive(self) -> bool:
        return self._client is not None and not self._is_over.is_set()

    async def open(self, limit: float) -> None:
        """Raises: UsageError, if the `mcp` package is missing; ToolServerFailed, if there is no session."""
        await load_package()
        if self._is_over.is_set():
            raise ToolServerFailed(f"the MCP server {self._spec.name!r} was closed before it was open")
        self._task = asyncio.create_task(self._live(limit), name=f"mcp {self._spec.name}")
        try:
            await asyncio.shield(self._opening)
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Ends the session, and the server if it is ours. May be called from anywhere, and twice."""
        self._is_over.set()
        if self._scope is not None:
            self._scope.cancel()
        if self._task is not None:
            await asyncio.wait([self._task])

    async def list_tools(self) -> Listing:
        """All pages. Raises: whatever the package raises; see `Trouble`."""
        client = self._open_client()
        listing = self._listing = Listing(self._spec.name)
        cursor: str | None = None
        seen: set[str] = set()
        try:
            while True:
                page = await client.list_tools(cursor=cursor, cache_mode="bypass")
                cursor = page.next_cursor
                if not cursor:
                    return listing
                if cursor in seen or len(seen) >= MOST_PAGES or listing.is_full:
                    listing.leave_out(f"the list of tools of {self._spec.name!r} doesn't end: the rest is left out")
                    return listing
                seen.add(cursor)
        finally:
            self._listing = None

    async def call(self, name: str, arguments: Mapping[str, Any]) -> CallToolResult:
        """Cancelled, it tells the server. Raises: whatever the package raises; see `Trouble`."""
        call = asyncio.create_task(self._open_client().call_tool(name, dict(arguments)))
        try:
            return await asyncio.shield(call)
        except asyncio.CancelledError:
            call.cancel()
            self._leaving.add(call)
            call.add_done_callback(self._has_left)
            await asyncio.wait([call], timeout=COURTESY_SECONDS)
            raise

    def _has_left(self, call: asyncio.Task[CallToolResult]) -> None:
        self._leaving.discard(call)
        if not call.cancelled():
            call.exception()  # nobody waits for it

    def trouble(self, error: Exception) -> Trouble:
        """What an error of the package's means."""
        return Trouble.of(error, is_over=self._is_over.is_set(), status=self._refusal)

    def _open_client(self) -> Client:
        if self._client is None or self._is_over.is_set():
            raise ConnectionError
        return self._client

    async def _live(self, limit: float) -> None:
        import anyio
        from mcp.client.client import Client
        from mcp_types import Implementation

        from callgate import __version__

        failure: BaseException | None = None
        try:
            with anyio.CancelScope(deadline=anyio.current_time() + limit) as self._scope:
                if self._is_over.is_set():  # closed before this task ran at all
                    self._scope.cancel()
                transport = opened_transport(self._spec, self._tail, self._note_refusal)
                async with Client(
                    inspected(transport, self._look, self._is_over.set),
                    client_info=Implementation(name="callgate", version=__version__),
                    message_handler=self._hear,
                ) as client:
                    self._client = client
                    self._scope.deadline = math.inf
                    if not self._opening.done():
                        self._opening.set_result(None)
                    await self._listen(client)
        except Exception as error:  # noqa: BLE001 - whatever goes wrong in there is the server's trouble
            failure = error
        finally:
            self._is_over.set()
            if not self._opening.done():
                self._opening.set_exception(start_failure(self._spec, self._tail, failure, self._refusal, limit))
                self._opening.exception()  # seen, also where nobody waits any more

    async def _listen(self, client: Client) -> None:
        """Until the end of either side. A server of the newest protocol tells of changes only to those who listen."""
        import anyio
        from mcp_types.version import MODERN_PROTOCOL_VERSIONS

        if client.protocol_version not in MODERN_PROTOCOL_VERSIONS or client.server_capabilities.tools is None:
            await self._is_over.wait()
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(self._subscribe, client)
            await self._is_over.wait()
            tasks.cancel_scope.cancel()

    async def _subscribe(self, client: Client) -> None:
        from mcp.client.subscriptions import SubscriptionLost

        for pause in LISTEN_AGAIN_AFTER:
            try:
                async with client.listen(tools_list_changed=True) as changes:
                    self._when_changed()  # maybe, while nobody listened
                    async for _ in changes:
                        self._when_changed()
            except SubscriptionLost:
                await asyncio.sleep(pause)
            except Exception:  # noqa: BLE001 - then changes go unnoticed, and nothing else suffers
                return

    async def _hear(self, message: IncomingMessage) -> None:
        from mcp_types import ToolListChangedNotification

        if isinstance(message, ToolListChangedNotification):
            self._when_changed()

    def _look(self, result: dict[str, Any]) -> dict[str, Any]:
        """Takes out the tools that the package would stumble over, and all that we have no use for."""
        if "tools" not in result:
            return result
        listing = self._listing or Listing(self._spec.name)
        before = len(listing.tools)
        listing.add(result["tools"])
        tools = [{"name": tool.name, "inputSchema": tool.parameters} for tool in listing.tools[before:]]
        return {**result, "tools": tools}

    def _note_refusal(self, status: int) -> None:
        self._refusal = status
