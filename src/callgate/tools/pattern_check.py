"""The regular expressions of a schema: whether they are some, and which of them are checked, at a bounded cost."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from callgate.tools.plain_values import escaped
from callgate.vocabulary import UsageError

if TYPE_CHECKING:
    from jsonschema_rs import FancyRegexOptions

LONGEST = 1_000
MOST_PATTERNS = 200
"""Of one schema that are looked at. Each takes a millisecond at worst."""
MOST_DEAR = 20
"""Of these that are large when compiled; then it is up to ten milliseconds."""
DEAR = 10
BACKTRACKING = 30_000
"""Steps that a pattern with look-around or back-references may take on one text."""
_COMPILED_BYTES = 50_000
_DEAR_BYTES = 1_000_000
"""Enough for the patterns that people write; a repetition of repetitions takes any amount, and seconds."""
_CLASS_OF_UNICODE = re.compile(r"\\[pP]\{\^?\w+(?:=\w+)?\}")
_DATA = ("const", "enum", "default", "examples")
_NAMED = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_EVERY_KEY = ""
"""A pattern that is found in each."""

Verdict = Literal["cheap", "dear", "unchecked", "none"]


class Patterns:
    """Takes out of one schema what won't be checked: what only Python knows, costs too much, or is one too many."""

    def __init__(self) -> None:
        self.seen: dict[str, Verdict] = {}

    @property
    def cost(self) -> int:
        """Of all of them, where 1 is a millisecond at worst."""
        return sum(map(self._cost, self.seen))

    def cost_of(self, schema: dict[str, Any]) -> int:
        """Of those of one part alone."""
        named = schema.get("patternProperties")
        return self._cost(schema.get("pattern")) + sum(map(self._cost, named if isinstance(named, dict) else ()))

    def _cost(self, pattern: object) -> int:
        verdict = self.seen.get(pattern) if isinstance(pattern, str) else None
        return DEAR if verdict == "dear" else 1 if verdict else 0

    def checked(self, schema: Any, path: str = "") -> Any:
        """The schema with the patterns that will be checked; the very same, if there are no others.

        Raises: UsageError, if one is no regular expression.
        """
        if isinstance(schema, list):
            parts = [self.checked(part, f"{path}/{number}") for number, part in enumerate(schema)]
            return parts if any(new is not old for new, old in zip(parts, schema, strict=True)) else schema
        if not isinstance(schema, dict):
            return schema
        found: dict[str, Any] = {}
        for keyword, value in schema.items():
            here = f"{path}/{escaped(keyword)}"
            if keyword == "pattern" and isinstance(value, str):
                if self._is_checked(value, here):
                    found[keyword] = value
            elif keyword in _NAMED and isinstance(value, dict):
                found[keyword] = self._named(keyword, value, here)
            else:
                found[keyword] = value if keyword in _DATA else self.checked(value, here)
        return schema if len(found) == len(schema) and all(found[key] is schema[key] for key in found) else found

    def _named(self, keyword: str, schemas: dict[str, Any], path: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for name, value in schemas.items():
            here = f"{path}/{escaped(name)}"
            if keyword != "patternProperties" or self._is_checked(name, here):
                found[name] = self.checked(value, here)
            else:  # any key may be one of these: none is a stray
                found[_EVERY_KEY] = True
        return schemas if found.keys() == schemas.keys() and all(found[key] is schemas[key] for key in found) else found

    def _is_checked(self, pattern: str, path: str) -> bool:
        verdict = self.seen.get(pattern)
        if verdict is None:
            if len(self.seen) >= MOST_PATTERNS:
                return False
            verdict = verdict_on(pattern)
            if verdict == "dear" and sum(other == "dear" for other in self.seen.values()) >= MOST_DEAR:
                verdict = "unchecked"
            self.seen[pattern] = verdict
        if verdict == "none":
            raise UsageError(f"that is no JSON Schema at {path[:LONGEST]}: {pattern[:80]!r} is no regular expression")
        return verdict != "unchecked"


def has_patterns(text: bytes) -> bool:
    """Whether a schema may have some, by its text."""
    return b'"pattern' in text


@lru_cache(maxsize=1024)
def verdict_on(pattern: str) -> Verdict:
    """Whether the validator takes it, at what cost; else whether Python does: each knows what the other doesn't."""
    import jsonschema_rs

    if len(pattern) > LONGEST:
        return "none"
    limits: Mapping[Verdict, int] = {"cheap": _COMPILED_BYTES, "dear": _DEAR_BYTES}
    for verdict, size in limits.items():
        bounds = jsonschema_rs.FancyRegexOptions(size_limit=size)
        try:
            jsonschema_rs.validator_for({"pattern": pattern}, offline=True, pattern_options=bounds)
        except ValueError:
            continue
        return verdict
    return "unchecked" if _is_pattern_of_python(_CLASS_OF_UNICODE.sub(r"\\w", pattern)) else "none"


def bounds() -> FancyRegexOptions:
    """What the patterns of a schema may take, in space and in time."""
    import jsonschema_rs

    return jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING, size_limit=_DEAR_BYTES)


def _is_pattern_of_python(pattern: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
