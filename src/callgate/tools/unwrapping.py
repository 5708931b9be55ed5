"""Arguments inside something else: under `arguments` or `input`, in the whole call, in a list of one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from callgate.tools.encoded import decoded
from callgate.vocabulary import Repair

WRAPPERS = frozenset(
    {"arguments", "parameters", "params", "args", "input", "inputs", "kwargs", "function", "properties", "tool_input"}
)
ENVELOPE = frozenset({"name", "type", "id", "tool", "tool_name", "call_id", "index"})
"""What else a whole call has."""
MOST_WRAPPERS = 4


def unwrapped(value: Any, names: Collection[str]) -> tuple[Any, tuple[Repair, ...]]:
    """The object inside `value` that has some of the parameters `names`; `value`, if there is none."""
    inner = value
    for _ in range(MOST_WRAPPERS):
        if isinstance(inner, dict) and (not inner or not inner.keys().isdisjoint(names)):
            break
        inner = _inside(inner)
    if inner is value or not isinstance(inner, dict) or inner.keys().isdisjoint(names):
        return value, ()
    return inner, (Repair("", value, inner, "wrapped"),)


def _inside(value: Any) -> Any:
    if isinstance(value, list):
        return value[0] if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    wrappers = [key for key in value if key not in ENVELOPE]
    if len(wrappers) != 1 or (len(value) > 1 and wrappers[0] not in WRAPPERS):
        return None
    inner = value[wrappers[0]]
    return decoded(inner).value if isinstance(inner, str) else inner
