"""Whether a tool's parameters are a JSON Schema that can be worked with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.tools.validators import schema_of
from callgate.vocabulary import UsageError

DEEPEST = 64
MOST_PARTS = 20_000
"""Objects, arrays and values of one schema, all told."""
MOST_COST_OF_PATTERNS = 2_000
"""Of all tools together. One takes a millisecond at worst, and is counted once."""


class SchemaCheck:
    """Checks the schemas of one set of tools."""

    def __init__(self) -> None:
        self._patterns: set[str] = set()
        self._left = MOST_COST_OF_PATTERNS

    def parameters(self, tool: str, schema: object) -> dict[str, Any]:
        """The schema, with the `type` and the `properties` that every target asks for.

        Raises: UsageError, which names the tool.
        """
        if schema is None:
            return {"type": "object", "properties": {}}
        if not isinstance(schema, Mapping):
            raise UsageError(f"the parameters of tool {tool!r} are no JSON Schema, which would be an object")
        kind = schema.get("type", "object")
        if kind != "object" and not (isinstance(kind, list) and "object" in kind):
            raise UsageError(f"the parameters of tool {tool!r} are no JSON Schema of type object")
        _measure(tool, schema)
        whole = {"type": "object", "properties": {}, **schema}
        whole["type"] = "object"
        if self._left < 0:
            raise UsageError(f"the tools before {tool!r} have more patterns than can be looked at")
        try:
            patterns = schema_of(whole).patterns
        except UsageError as error:
            raise UsageError(f"the parameters of tool {tool!r} can't be used: {error.message}") from None
        self._left -= 0 if self._patterns >= patterns.seen.keys() else patterns.cost
        self._patterns |= patterns.seen.keys()
        return whole


def _measure(tool: str, schema: Mapping[str, Any]) -> None:
    waiting: list[tuple[object, int]] = [(schema, 1)]
    parts = 0
    while waiting:
        part, depth = waiting.pop()
        parts += 1
        if depth > DEEPEST or parts + len(waiting) > MOST_PARTS:
            raise UsageError(
                f"the parameters of tool {tool!r} are more than a model could read",
                hint=f"at most {DEEPEST} levels and {MOST_PARTS:,} values",
            )
        if isinstance(part, Mapping):
            if not all(isinstance(key, str) for key in part):
                raise UsageError(f"the parameters of tool {tool!r} have a key that is no text")
            waiting += [(value, depth + 1) for value in part.values()]
        elif isinstance(part, list | tuple):
            waiting += [(value, depth + 1) for value in part]
        elif part is not None and not isinstance(part, str | int | float):
            raise UsageError(
                f"the parameters of tool {tool!r} hold a value that JSON has no words for, a {type(part).__name__!r}"
            )
