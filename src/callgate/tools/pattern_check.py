"""Whether regular expressions in a schema are some, at a bounded cost."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

LONGEST = 1_000
_COMPILED_BYTES = 50_000
"""Enough for the patterns that people write; a repetition of repetitions takes any amount, and seconds."""
_CLASS_OF_UNICODE = re.compile(r"\\[pP]\{\^?\w+(?:=\w+)?\}")


def taken_apart(part: Any) -> tuple[Any, list[str]]:
    """The schema without its patterns, which would be compiled whatever they cost; and the patterns."""
    if isinstance(part, Mapping):
        bare: dict[str, Any] = {}
        found: list[str] = []
        for key, value in part.items():
            if key == "pattern" and isinstance(value, str):
                found.append(value)
                continue
            bare[key], inner = taken_apart(value)
            found += inner
            if key == "patternProperties" and isinstance(value, Mapping):
                found += value
                # Under a name that is no pattern, so that what is asked of the values is still looked at.
                bare[key] = {f"^{number}$": one for number, one in enumerate(bare[key].values())}
        return bare, found
    if isinstance(part, list | tuple):
        pairs = [taken_apart(one) for one in part]
        return [one for one, _ in pairs], [pattern for _, inner in pairs for pattern in inner]
    return part, []


@lru_cache(maxsize=1024)
def is_pattern(pattern: str) -> bool:
    """Whether the validator or Python takes it: each knows some that the other doesn't."""
    import jsonschema_rs

    if len(pattern) > LONGEST:
        return False
    bounds = jsonschema_rs.FancyRegexOptions(size_limit=_COMPILED_BYTES)
    try:
        jsonschema_rs.validator_for({"pattern": pattern}, offline=True, pattern_options=bounds)
    except ValueError:
        return _is_pattern_of_python(_CLASS_OF_UNICODE.sub(r"\\w", pattern))
    return True


def _is_pattern_of_python(pattern: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError):
        return False
    return True
