"""An MCP server as a source of tools: its tools are listed, called, and it is started again after a crash."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import msgspec

from callgate.runtime.mcp.connection import Connection
from callgate.runtime.mcp.restarts import Restarts
from callgate.runtime.mcp.results import outcome_of
from callgate.runtime.mcp.server_spec import ServerSpec
from callgate.runtime.mcp.stderr_tail import StderrTail
from callgate.runtime.mcp.troubles import Trouble, without
from callgate.runtime.tool_source import Outcome
from callgate.vocabulary import CallgateError, Tool, ToolServerFailed

log = logging.getLogger(__name__)

TOO_LONG = "[sent a message of more than "
"""How the guard begins to say why it ended a server."""
State = Literal["closed", "running", "ended", "given up"]


class McpLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What a server may take, in seconds, and how often it may end."""

    start: float = 60.0
    call: float = 120.0
    listing: float = 30.0
    restarts: int = 5


class McpServer:
    """A `ToolSource`. It may be opened, used and closed from any task of one event loop."""

    def __init__(
        self, spec: ServerSpec, limits: McpLimits | None = None, told: Callable[[str], None] | None = None
    ) -> None:
        """`told` hears, in a line each, what a user should know: tools left out, a server that had to be restarted."""
        self._spec = spec
        self._limits = limits or McpLimits()
        self._told = told
        self._tail = StderrTail(spec.secrets)
        self._restarts = Restarts(self._limits.restarts)
        self._lock = asyncio.Lock()
        self._connection: Connection | None = None
        self._is_closed = False
        self._tools: dict[str, Tool] = {}
        self._is_stale = True
        self._notices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self._spec.name

    @property
    def where(self) -> str:
        """The program, or the address: nothing secret."""
        return self._spec.where

    @property
    def identity(self) -> str:
        """What is allowed for good is allowed to this one, and to no other that goes by its name."""
        return self._spec.identity

    @property
    def state(self) -> State:
        if self._connection is None or self._is_closed:
            return "closed"
        if self._connection.is_alive:
            return "running"
        return "given up" if self._restarts.is_hopeless else "ended"

    @property
    def notices(self) -> tuple[str, ...]:
        """Which of its tools were left out, and why."""
        return self._notices

    def log_text(self) -> str:
        """The last part of what it said on standard error."""
        return self._tail.text()

    def is_harmless(self, name: str) -> bool:  # noqa: ARG002 - what a stranger says of its tools proves nothing
        return False

    async def open(self) -> None:
        """Starts it and lists its tools. Raises: CallgateError, if it doesn't start."""
        self._is_closed = False
        self._restarts.forget()
        await self.tools()

    async def tools(self) -> Sequence[Tool]:
        """As they are now: listed again once the server has said that they changed, and after a restart."""
        async with self._lock:
            await self._up_to_date()
            return tuple(self._tools.values())

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        """What came of it, or in a line what went wrong. Cancelled, or out of time, it tells the server to stop."""
        try:
            async with asyncio.timeout(self._limits.call):
                return await self._call(name, arguments)
        except TimeoutError:
            log.warning("the tool %r of %r took too long", name, self.name)
            return _failed(f"the tool {name!r} took longer than {self._limits.call:g} s, and was stopped")

    async def close(self) -> None:
        self._is_closed = True
        if self._connection is not None:
            await self._connection.close()  # whoever opens it holds the lock, and isn't waited for
        async with self._lock:
            if self._connection is not None:
                await self._connection.close()
                self._connection = None
            self._is_stale = True

    async def _call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        for is_last in (False, True):
            try:
                async with self._lock:
                    connection = await self._up_to_date()
            except CallgateError as error:
                return _failed(error.message)
            if name not in self._tools:
                return _failed(f"the server {self.name!r} has no tool {name!r}")
            try:
                return outcome_of(await connection.call(name, arguments))
            except Exception as error:  # noqa: BLE001 - it is the server's, and the model may know better next time
                trouble = connection.trouble(error)
            log.warning("the tool %r of %r failed (%s)", name, self.name, trouble.kind)
            if trouble.kind == "over":
                await connection.close()  # by then, all that it said is read
            if trouble.kind == "session_lost":
                await connection.close()
                if not is_last:  # nothing was run
                    continue
            return _failed(self._words(name, trouble))
        raise AssertionError

    def _words(self, name: str, trouble: Trouble) -> str:
        words = without(self._spec.secrets, trouble.words)
        if trouble.kind == "over" and self._tail.last_line().startswith(TOO_LONG):
            return f"the tool {name!r} failed: what it said was too long, and its server was ended; ask it for less"
        if trouble.kind == "over":
            return (
                f"the server {self.name!r} failed while it ran the tool {name!r} ({words}); it may work if tried again"
            )
        return f"the tool {name!r} failed: {words}"

    async def _up_to_date(self) -> Connection:
        """A session that is open, and the tools known. The lock is held."""
        connection = await self._alive()
        if not self._is_stale:
            return connection
        self._is_stale = False  # before it is listed: what changes meanwhile counts
        try:
            async with asyncio.timeout(self._limits.listing):
                listing = await connection.list_tools()
        except BaseException as error:
            self._is_stale = True
            if isinstance(error, TimeoutError):
                raise ToolServerFailed(
                    f"the MCP server {self.name!r} didn't list its tools within {self._limits.listing:g} s"
                ) from None
            if not isinstance(error, Exception):
                raise
            words = without(self._spec.secrets, connection.trouble(error).words)
            raise ToolServerFailed(f"the MCP server {self.name!r} can't list its tools: {words}") from None
        self._tools = {tool.name: tool for tool in listing.tools}
        fresh = [notice for notice in listing.notices if notice not in self._notices]
        self._notices = listing.notices
        for notice in fresh:
            self._tell(notice)
        return connection

    async def _alive(self) -> Connection:
        if self._is_closed:
            raise ToolServerFailed(f"the MCP server {self.name!r} is closed")
        if self._connection is not None:
            if self._connection.is_alive:
                return self._connection
            await self._after_an_end(self._connection)
        connection = self._connection = Connection(self._spec, self._tail, self._note_change)
        self._is_stale = True
        await connection.open(self._limits.start)
        return connection

    async def _after_an_end(self, connection: Connection) -> None:
        await connection.close()
        self._restarts.note()
        if self._restarts.is_hopeless:
            raise ToolServerFailed(
                f"the MCP server {self.name!r} keeps ending, and isn't started again",
                hint="what it last said is kept: see its log",
            )
        said = self._tail.last_line()
        self._tell(f"the MCP server {self.name!r} ended, and is started again{f': {said}' if said else ''}")
        await asyncio.sleep(self._restarts.pause())

    def _note_change(self) -> None:
        self._is_stale = True

    def _tell(self, line: str) -> None:
        log.info("%s", line)
        if self._told is not None:
            self._told(line)


def _failed(words: str) -> Outcome:
    return Outcome(f"error: {words}", is_error=True)
