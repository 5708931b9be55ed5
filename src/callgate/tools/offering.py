"""Tools from several sources, side by side."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec

from callgate.vocabulary import Tool, UsageError


class Offered(msgspec.Struct, frozen=True):
    """A tool, where it comes from, and what it is called among the others."""

    name: str
    source: str
    tool: Tool
    """As its source has it."""

    @property
    def renamed(self) -> Tool:
        """The tool under the name that it is offered by."""
        return self.tool if self.name == self.tool.name else msgspec.structs.replace(self.tool, name=self.name)


def offer(sources: Mapping[str, Iterable[Tool]]) -> tuple[Offered, ...]:
    """All the tools of all sources. A name that two sources have is offered with the source's in front, for both.

    Raises: UsageError, if one source has two tools of one name, or if even with the sources in front two are alike.
    """
    found = [(source, tool) for source, tools in sources.items() for tool in _without_twins(source, tools)]
    times = Counter(tool.name for _, tool in found)
    offered = tuple(
        Offered(tool.name if times[tool.name] == 1 else f"{source}_{tool.name}", source, tool) for source, tool in found
    )
    names: dict[str, Offered] = {}
    for one in offered:
        other = names.setdefault(one.name, one)
        if other is not one:
            raise UsageError(
                f"the tool {one.tool.name!r} of {one.source!r} and the tool {other.tool.name!r} of {other.source!r} "
                f"would both be called {one.name!r}",
                hint="give one of the sources another name",
            )
    return offered


def name_of_two(tools: Iterable[Tool]) -> str | None:
    """A name that more than one of these tools have, if there is such a name."""
    return next((name for name, times in Counter(tool.name for tool in tools).items() if times > 1), None)


def _without_twins(source: str, tools: Iterable[Tool]) -> list[Tool]:
    given = list(tools)
    if (twice := name_of_two(given)) is not None:
        raise UsageError(f"{source!r} has two tools called {twice!r}", hint="it can offer only one of them")
    return given
