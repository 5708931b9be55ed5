"""Arguments inside something else: under `arguments` or `input`, in the whole call, in a list of one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from callgate.tools.mending_walk import decoded
from callgate.vocabulary import Repair

WRAPPERS = frozenset(
    {"arguments", "parameters", "params", "args", "input", "inputs", "kwargs", "function", "properties"}
)
ENVELOPE = frozenset({"name", "type", "id", "tool", "tool_name", "call_id", "index"})
"""What else a whole call has."""
MOST_WRAPPERS = 4


def unwrapped(value: Any, names: Collection[str]) -> tuple[Any, tuple[Repair, ...]]:
    """The object inside `value` that has some of the parameters `names`; `value`, if there is none."""
    inner = value
    for _ in range(MOST_WRAPPERS):
        if isinstance(inner, dict) and (not inner.keys().isdisjoint(names) or not inner):
            break
        inner = _inside(inner)
    if inner is value or not isinstance(inner, dict) or inner.keys().isdisjoint(names):
        return value, ()
    return inner, (Repair("", value, inner, "wrapped"),)


def _inside(value: Any) -> Any:
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        return value[0]
    if not isinstance(value, dict):
        return None
    wrappers = [key for key in value if key not in ENVELOPE]
    if len(wrappers) != 1 or (len(value) > 1 and wrappers[0] not in WRAPPERS):
        return None
    inner = value[wrappers[0]]
    return decoded(inner)[0] if isinstance(inner, str) else inner
