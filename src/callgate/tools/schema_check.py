"""Whether a tool's parameters are a JSON Schema that can be worked with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.tools.pattern_check import is_pattern, taken_apart
from callgate.vocabulary import UsageError

DEEPEST = 64
MOST_PARTS = 20_000
"""Objects, arrays and values of one schema, all told."""
MOST_PATTERNS = 200
"""That are looked at. Each takes a few milliseconds at worst."""
_LONGEST_COMPLAINT = 200


class SchemaCheck:
    """Checks the schemas of one set of tools."""

    def __init__(self) -> None:
        self._patterns_left = MOST_PATTERNS

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
        bare, patterns = taken_apart(whole)
        _compile(tool, bare)
        for pattern in patterns[: max(self._patterns_left, 0)]:
            if not is_pattern(pattern):
                raise UsageError(
                    f"the parameters of tool {tool!r} have a pattern that is no regular expression: {pattern[:80]!r}"
                )
        self._patterns_left -= len(patterns)
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


def _compile(tool: str, schema: dict[str, Any]) -> None:
    import jsonschema_rs

    # One that names a dialect of its own is read in the newest that there is.
    known = {key: value for key, value in schema.items() if key != "$schema" or "json-schema.org/draft" in str(value)}
    try:
        jsonschema_rs.validator_for(known, offline=True)
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        said = str(getattr(error, "message", error)).split("\n", 1)[0][:_LONGEST_COMPLAINT]
        where = "".join(f"/{step}" for step in getattr(error, "instance_path", ()))[:_LONGEST_COMPLAINT]
        raise UsageError(
            f"the parameters of tool {tool!r} are no JSON Schema{f' at {where}' if where else ''}: {said}"
        ) from None
