"""Whether calls are right by the leaderboard's published rules, which are not ours.

For each parameter it lists the values that it accepts; an empty text among them means that it may be left out. Types
have to be exact, but an integer will do for a float. Texts are compared without case, spaces and most punctuation.
Where the accepted values are of another type than the function says, they decide: they stand for a variable.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from callgate.validate.bfcl_data import Answer, Entry, Function, wants_any_call, wants_no_call
from callgate.validate.heard import Fault
from callgate.vocabulary import ToolCall

Accepted = Sequence[Any]
_LEFT_OUT = ""
_TYPES: Mapping[str, type] = {
    "string": str,
    "integer": int,
    "float": float,
    "boolean": bool,
    "array": list,
    "tuple": list,
    "dict": dict,
    "any": str,
}
_IGNORED = re.compile(r"[ ,./\-_*^]")


def judge_bfcl(category: str, entry: Entry, answer: Answer | None, calls: Sequence[ToolCall]) -> Fault | None:
    """What is wrong with the calls; `None`, if they are right."""
    if wants_no_call(category):
        return Fault("called-without-need", "no function fits, and it called one") if calls else None
    if wants_any_call(category):
        return None if calls else Fault("no-call", "a function fits, and it called none")
    assert answer is not None
    wanted = answer.ground_truth
    if len(calls) != len(wanted):
        kind = "no-call" if not calls else "missing-call" if len(calls) < len(wanted) else "extra-call"
        return Fault(kind, f"it made {len(calls)} of {len(wanted)} calls")
    functions = {function.name: function for function in entry.functions}
    left = list(calls)
    for one in wanted:
        (name,) = one
        faults: list[Fault] = []
        for call in left:
            fault = _judged(call, functions[name], one[name])
            if fault is None:
                left.remove(call)
                break
            faults.append(fault)
        else:
            return next((fault for fault in faults if fault.kind != "wrong-name"), faults[0])
    return None


def _judged(call: ToolCall, function: Function, accepted: Mapping[str, Accepted]) -> Fault | None:
    # Most servers take no dots in names, and the leaderboard lets a line stand for them.
    if call.name not in (function.name, function.name.replace(".", "_")):
        return Fault("wrong-name", f"it didn't call {function.name!r}")
    given = call.arguments
    if not isinstance(given, Mapping):
        return Fault("invalid-arguments", "its arguments are no object")
    properties, required = (function.parameters.get(word) for word in ("properties", "required"))
    known: Mapping[str, Any] = properties if isinstance(properties, Mapping) else {}
    for name in required if isinstance(required, list) else ():
        if name not in given:
            return Fault("invalid-arguments", f"it left {name!r} out")
    for name, value in given.items():
        if name not in known or name not in accepted:
            return Fault("invalid-arguments", f"it gave {name[:80]!r}, which isn't asked for")
        if fault := _judged_value(name, value, known[name], accepted[name]):
            return fault
    for name, values in accepted.items():
        if name not in given and _LEFT_OUT not in values:
            return Fault("wrong-arguments", f"it left {name!r} out, which isn't optional here")
    return None


def _judged_value(name: str, value: Any, schema: Any, accepted: Accepted) -> Fault | None:
    said = schema.get("type") if isinstance(schema, Mapping) else None
    wanted = _TYPES.get(said, str) if isinstance(said, str) else str
    items = _item_type(schema) if wanted is list else None
    if said == "float" and type(value) is int:
        value = float(value)
    if not _has_type(value, accepted, wanted, items):
        return Fault("invalid-arguments", f"{name!r} is of another type than it should be")
    is_variable = type(value) is not wanted or _answer_type(accepted) not in (None, wanted)
    if is_variable:
        right = value in accepted
    elif wanted is dict:
        right = any(_is_dict(value, each) for each in accepted if each != _LEFT_OUT)
    elif items is dict:
        right = any(_are_dicts(value, each) for each in accepted)
    elif wanted is str:
        right = normal(value) in [normal(each) for each in accepted if isinstance(each, str)]
    elif wanted is list:
        right = _normals(value) in [_normals(each) for each in accepted if isinstance(each, list | str)]
    else:
        right = value in accepted
    return None if right else Fault("wrong-arguments", f"{name!r} has a value that isn't accepted")


def _has_type(value: Any, accepted: Accepted, wanted: type, items: type | None) -> bool:
    if type(value) is not wanted:
        return type(value) is _answer_type(accepted)
    if items is None or not isinstance(value, list):
        return True
    # An answer that is no list sets no condition: that is how the leaderboard has it.
    return any(
        not isinstance(each, list) or {type(item) for item in value} <= {items, _answer_type(each)} for each in accepted
    )


def _answer_type(accepted: Accepted) -> type | None:
    return next((type(each) for each in accepted if each != _LEFT_OUT), None)


def _item_type(schema: Any) -> type | None:
    items = schema.get("items")
    said = items.get("type") if isinstance(items, Mapping) else None
    return _TYPES.get(said) if isinstance(said, str) else None


def normal(text: str) -> str:
    """A text as the leaderboard compares it."""
    return _IGNORED.sub("", text).lower().replace("'", '"')


def _normals(values: Sequence[Any]) -> list[Any]:
    return [normal(each) if isinstance(each, str) else each for each in values]


def _is_dict(value: Mapping[str, Any], accepted: Any) -> bool:
    if not isinstance(accepted, Mapping):
        return False
    for name, part in value.items():
        choices = accepted.get(name)
        if not isinstance(choices, list):
            return False
        if (normal(part) if isinstance(part, str) else part) not in _normals(choices):
            return False
    return all(
        name in value or (isinstance(choices, list) and _LEFT_OUT in choices) for name, choices in accepted.items()
    )


def _are_dicts(values: Sequence[Any], accepted: Any) -> bool:
    """One after the other. An empty text, which means that it may be left out, also accepts an empty list."""
    if not isinstance(accepted, list | str) or len(values) != len(accepted):
        return False
    return all(isinstance(one, Mapping) and _is_dict(one, each) for one, each in zip(values, accepted, strict=True))
