"""What a model said in one call, before anybody knows whether there is such a tool."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.tools import Loose, read_loosely

NAME_KEYS = ("name", "tool_name", "function_name", "tool", "function")
ARGUMENT_KEYS = ("arguments", "parameters", "args", "input", "kwargs", "tool_input", "action_input")
OTHER_KEYS = frozenset({"id", "type", "tool_call_id", "call_id", "index", "thoughts", "thought", "result"})
CALL_KEYS = frozenset((*NAME_KEYS, *ARGUMENT_KEYS, *OTHER_KEYS, "tool_calls"))
DEFINITION_KEYS = frozenset({"properties", "$schema", "$defs"})
"""With these, `parameters` are those of a tool's definition."""

CUT = "missing-bracket"
"""The rule by which the end of a JSON text was mended."""


class Said(msgspec.Struct, frozen=True):
    """A call as the model put it."""

    name: str
    arguments: Mapping[str, Any]
    texts: Mapping[str, str] = {}
    """Those of the arguments that came as texts, as in XML, each with what the model said of its type, if anything."""
    flaws: tuple[str, ...] = ()
    """What had to be overlooked in its JSON."""
    unclosed: bool = False
    """Whether the text ended before the tag that was to end the call."""


def said_in(value: object, *, bare: bool = False, keyed: bool = False, cut: bool = False) -> list[Said]:
    """The calls that a JSON value writes down; none, if any part of it is something else.

    `bare`: nothing but its shape says that it is a call, so that it must look like nothing else.
    `keyed`: `{"get_weather": {"city": …}}` is one too. `cut`: its end is missing, and arguments may be.
    """
    if isinstance(value, list):
        each = [said_in(entry, bare=bare, keyed=keyed, cut=cut) for entry in value]
        return [said for calls in each for said in calls] if all(each) else []
    if not isinstance(value, dict):
        return []
    if isinstance(wrapped := value.get("tool_calls"), list) and (not bare or len(value) == 1):
        return said_in(wrapped, bare=bare, keyed=keyed, cut=cut)
    if isinstance(function := value.get("function"), dict):
        return said_in(function, bare=bare, cut=cut) if not bare or value.keys() <= {"function", *OTHER_KEYS} else []
    name = next((value[key] for key in NAME_KEYS if isinstance(value.get(key), str)), None)
    if name is None:
        return _keyed(value) if keyed else []
    if not name.strip() or (bare and not value.keys() <= CALL_KEYS):
        return []
    key = next((key for key in ARGUMENT_KEYS if key in value), None)
    if key is None:
        return [] if bare or cut else [Said(name.strip(), {})]
    read = object_of(value[key])
    if read is None or (key == "parameters" and bare and not DEFINITION_KEYS.isdisjoint(read.value)):
        return []
    return [Said(name.strip(), read.value, flaws=read.rules)]


def said_in_text(text: str, *, bare: bool = False, keyed: bool = False) -> list[Said]:
    """The same for a text of JSON, or nearly."""
    read = read_loosely(text) if text else None
    return said_in_read(read, bare=bare, keyed=keyed) if read else []


def said_in_read(read: Loose, *, bare: bool = False, keyed: bool = False) -> list[Said]:
    calls = said_in(read.value, bare=bare, keyed=keyed, cut=CUT in read.rules)
    return [with_flaws(call, read.rules) for call in calls] if read.rules else calls


def with_flaws(call: Said, flaws: tuple[str, ...]) -> Said:
    return msgspec.structs.replace(call, flaws=(*flaws, *call.flaws))


def object_of(value: object) -> Loose | None:
    """Arguments that came as an object, as its text, or as nothing."""
    if value is None or value == "":
        return Loose({})
    read = read_loosely(value, cut=False) if isinstance(value, str) else Loose(value)
    return read if read and isinstance(read.value, dict) else None


def _keyed(value: Mapping[str, object]) -> list[Said]:
    calls: list[Said] = []
    for name, arguments in value.items():
        found = object_of(arguments)
        if found is None:
            return []
        calls.append(Said(name, found.value, flaws=found.rules))
    return calls
