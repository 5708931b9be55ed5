"""One call, mended: its name, its arguments, its id."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callgate.tools import Names, Repaired, new_call_id, repair
from callgate.vocabulary import Tool, ToolCall, UsageError

MOST_NAMED = 20
"""Tools that a model is told of when it calls one that isn't there."""


class CallMender:
    """Mends the calls of one turn."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._ids: set[str] = set()

    def mended(self, call: ToolCall) -> ToolCall:
        """The call as it can be run, with what was changed; or with the problem that keeps it from being run."""
        id_ = call.id if call.id and call.id not in self._ids else new_call_id()
        self._ids.add(id_)
        raw = call.raw if call.raw is not None else _as_text(call.arguments)
        found = self._names.resolve(call.name, call.arguments)
        if found is None:
            problem = f"there is no tool {call.name[:80]!r}; there are: {self._listed()}"
            return msgspec.structs.replace(call, id=id_, raw=raw, problem=problem)
        outcome = _repaired(found.arguments, self._names.by_name[found.name])
        arguments = outcome.arguments
        return ToolCall(
            id_,
            found.name,
            arguments if isinstance(arguments, Mapping) else _as_text(arguments),
            raw,
            (*call.repairs, *found.repairs, *outcome.repairs),
            f"the arguments of {found.name!r} don't fit: {'; '.join(outcome.errors)}" if outcome.errors else None,
        )

    def _listed(self) -> str:
        names = list(self._names.by_name)
        more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
        return ", ".join(names[:MOST_NAMED] + more)


def _repaired(arguments: object, tool: Tool) -> Repaired:
    """By a schema that can't be validated by, nothing but the JSON itself is mended: the tool may know better."""
    try:
        return repair(arguments, tool.parameters)
    except UsageError:
        return repair(arguments, {"type": "object"})


def _as_text(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
