"""Tools that can be run: what a model is told of them, and what happens when it calls one."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any, TypeGuard

import msgspec

from callgate.runtime.function_tools import FunctionTools
from callgate.runtime.tool_runs import failed, run_tool
from callgate.runtime.tool_source import ToolSource
from callgate.tools import Offered, offer, read_tools, tool_of
from callgate.vocabulary import CallgateError, Tool, ToolCall, ToolResult, UsageError

LONGEST_RESULT = 100_000
"""Characters of a result that a model gets to see."""
PATIENCE_SECONDS = 120.0
ELSEWHERE = "elsewhere"
"""Where tools come from that somebody else runs."""

Given = Tool | Mapping[str, Any] | Callable[..., Any] | ToolSource


class ToolEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One tool in the box."""

    name: str
    """As the model calls it."""
    source: str
    own_name: str
    """At its source."""
    tool: Tool
    """As the model gets it."""
    is_on: bool
    is_harmless: bool
    runs_here: bool

    @property
    def path(self) -> str:
        """`SOURCE/TOOL`: no other has it, whatever else there is."""
        return f"{self.source}/{self.own_name}"

    def matches(self, pattern: str) -> bool:
        """Whether a glob means it: by `SOURCE/TOOL` if there is a slash in it, or else by the name as it is shown."""
        return fnmatchcase(self.path if "/" in pattern else self.name, pattern) or pattern == self.name


class SourceFailure(msgspec.Struct, frozen=True):
    """A source whose tools can't be had now."""

    source: str
    error: CallgateError


class Toolbox:
    """Functions that run here, sources of tools, and tools that somebody else runs. Belongs to one event loop."""

    def __init__(self, given: Iterable[Given] | Given | None = ()) -> None:
        """`given` may be a single tool, or a list as other programs write it down.

        Raises: UsageError, which names the tool that is no good.
        """
        self._sources: dict[str, ToolSource] = {}
        functions: list[Callable[..., Any]] = []
        foreign: list[Tool] = []
        for one in _each(given):
            if isinstance(one, Tool):
                foreign.append(one)
            elif is_source(one):
                self.add(one)
            elif callable(one):
                functions.append(one)
            else:
                foreign += read_tools([one])
        names = [tool.name for tool in (*foreign, *map(tool_of, functions))]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise UsageError(f"there are two tools called {twice!r}", hint="offer each under a name of its own")
        if functions:
            self.add(FunctionTools(functions))
        self._foreign = tuple(foreign)
        self._off: set[str] = set()
        self._entries: dict[str, ToolEntry] = {}
        self._tools: tuple[Tool, ...] = ()

    def add(self, source: ToolSource) -> None:
        """Raises: UsageError, if there is one of that name."""
        if source.name in self.names:
            raise UsageError(f"there are two sources of tools called {source.name!r}", hint="give one another name")
        self._sources[source.name] = source

    @property
    def names(self) -> frozenset[str]:
        """Those that no other source can have."""
        return frozenset((*self._sources, ELSEWHERE))

    @property
    def sources(self) -> Sequence[ToolSource]:
        return tuple(self._sources.values())

    def source(self, name: str) -> ToolSource | None:
        return self._sources.get(name)

    async def refresh(self) -> tuple[SourceFailure, ...]:
        """Asks each source what it has now. Those that don't answer are given back; the others' tools are there."""
        listed = await asyncio.gather(*(_listed(source) for source in self._sources.values()))
        found: dict[str, Iterable[Tool]] = {ELSEWHERE: self._foreign}
        offered = offer(found)
        failures: list[SourceFailure] = []
        for name, tools in zip(tuple(self._sources), listed, strict=True):
            try:
                if isinstance(tools, CallgateError):
                    raise tools
                offered = offer({**found, name: tools})
                found[name] = tools
            except CallgateError as error:
                failures.append(SourceFailure(name, error))
        self._entries = {one.name: self._entry(one) for one in offered}
        self._gather()
        return tuple(failures)

    @property
    def entries(self) -> tuple[ToolEntry, ...]:
        """All there are, those that are switched off among them."""
        return tuple(self._entries.values())

    @property
    def tools(self) -> tuple[Tool, ...]:
        """What a model is told of, as of the last `refresh`."""
        return self._tools

    def switch(self, pattern: str, *, on: bool) -> tuple[str, ...]:
        """Switches tools on or off by a glob, and gives the names of those that it means."""
        meant = [entry for entry in self._entries.values() if entry.matches(pattern)]
        for entry in meant:
            (self._off.discard if on else self._off.add)(entry.path)
            self._entries[entry.name] = msgspec.structs.replace(entry, is_on=on)
        self._gather()
        return tuple(entry.name for entry in meant)

    def entry(self, call: ToolCall) -> ToolEntry | None:
        """The tool that is called, if it is here and switched on."""
        entry = self._entries.get(call.name)
        return entry if entry and entry.is_on else None

    def is_answered_here(self, call: ToolCall) -> bool:
        """Whether there is an answer to this call here: what comes of it, or the reason why nothing can."""
        entry = self._entries.get(call.name)
        return call.problem is not None or (entry is not None and (entry.runs_here or not entry.is_on))

    async def run(
        self, call: ToolCall, *, seconds: float = PATIENCE_SECONDS, longest: int = LONGEST_RESULT
    ) -> ToolResult:
        """What came of the call, in words for the model: a tool that fails is no error here."""
        entry = self.entry(call)
        source = self._sources.get(entry.source) if entry else None
        if call.problem is not None or entry is None or source is None:
            return failed(call, call.problem or f"there is no tool {call.name[:80]!r}")
        if isinstance(call.arguments, str):
            return failed(call, "the arguments are no JSON object")
        return await run_tool(source, entry.own_name, call, call.arguments, seconds=seconds, longest=longest)

    async def close(self) -> None:
        await asyncio.gather(*(source.close() for source in self._sources.values()), return_exceptions=True)

    def _entry(self, offered: Offered) -> ToolEntry:
        source = self._sources.get(offered.source)
        own = offered.tool.name
        return ToolEntry(
            name=offered.name,
            source=offered.source,
            own_name=own,
            tool=offered.renamed,
            is_on=f"{offered.source}/{own}" not in self._off,
            is_harmless=source is not None and source.is_harmless(own),
            runs_here=source is not None,
        )

    def _gather(self) -> None:
        tools = tuple(entry.tool for entry in self._entries.values() if entry.is_on)
        if tools != self._tools:  # else the same records as before, so that what was made of them is found again
            self._tools = tools


def is_source(given: object) -> TypeGuard[ToolSource]:
    return all(hasattr(given, name) for name in ("tools", "call", "is_harmless", "close"))


async def _listed(source: ToolSource) -> Sequence[Tool] | CallgateError:
    try:
        return await source.tools()
    except CallgateError as error:
        return error


def _each(given: Iterable[Given] | Given | None) -> Iterable[Given]:
    if given is None:
        return ()
    if callable(given) or isinstance(given, Tool) or is_source(given):
        return (given,)
    if isinstance(given, list | tuple | set | frozenset | Iterator):
        return given
    return read_tools(given)
