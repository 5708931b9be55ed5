"""Which branch of a union a value is meant for: by its kind, and by the property that tells the branches apart."""

from __future__ import annotations

import math
from typing import Any

import msgspec

from callgate.tools.plain_values import same
from callgate.tools.schema_nodes import Node, Nodes

MOST_KEYS = 200
"""That are looked at."""
MOST_MEMBERS = 1000
"""Of an enumeration that tells branches apart."""


class Aim(msgspec.Struct, frozen=True):
    """What can be told before the branches are tried."""

    branches: tuple[str, ...]
    """Those that the value may be meant for; none, if it is of another kind."""
    key: str = ""
    """The property that would tell which one, if it is missing or has no value of theirs."""
    members: tuple[Any, ...] = ()
    """The values that it has in all of them."""


def aim_of(value: object, branches: tuple[str, ...], nodes: Nodes) -> Aim:
    known = {branch: nodes.at((branch,)) for branch in branches}
    fitting = {branch: node for branch, node in known.items() if allows_kind(node, value)}
    if not isinstance(value, dict) or len(fitting) < 2:
        return Aim(tuple(fitting))
    for key, members in _discriminators(fitting, nodes):
        if key in value:
            told = [branch for branch, own in members.items() if any(same(value[key], member) for member in own)]
        elif all(key in node.required for node in fitting.values()):
            told = []
        else:
            continue
        if not told:
            every = [member for own in members.values() for member in own]
            return Aim(tuple(fitting), key, tuple(every))
        fitting = {branch: fitting[branch] for branch in told}
        if len(fitting) == 1:
            break
    return Aim(tuple(fitting))


def _discriminators(branches: dict[str, Node], nodes: Nodes) -> list[tuple[str, dict[str, tuple[Any, ...]]]]:
    """The properties that have a list of values in each branch, and not the same one in all."""
    first, *others = branches.values()
    shared = [key for key in first.properties if all(key in node.properties for node in others)]
    found = []
    for key in shared[:MOST_KEYS]:
        listed = {branch: nodes.at(node.properties[key]).members for branch, node in branches.items()}
        members = {branch: own for branch, own in listed.items() if own is not None and len(own) <= MOST_MEMBERS}
        if len(members) == len(branches) and len({repr(own) for own in members.values()}) > 1:
            found.append((key, members))
    return found


def allows_kind(node: Node, value: object) -> bool:
    """Whether a value of this type may stand here, whatever else is asked of it."""
    if node.members is not None:
        return any(_kind(member) == _kind(value) for member in node.members)
    kinds = {*node.types, "integer"} if "number" in node.types else node.types
    return not kinds or _kind(value) in kinds


def _kind(value: object) -> str:
    match value:
        case bool():
            return "boolean"
        case None:
            return "null"
        case str():
            return "string"
        case dict():
            return "object"
        case list():
            return "array"
        case float() if not value.is_integer():
            return "number" if math.isfinite(value) else "no number"
    return "integer"
