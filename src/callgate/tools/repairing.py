"""Arguments that a model sent, made to fit their schema where they can only mean one thing. Each change is listed.

What fits already is never touched, nothing is invented, and repairing twice changes nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.tools.loose_json import DEEPEST, depth_of
from callgate.tools.mending_walk import TooMuch, Walk, decoded, malformed
from callgate.tools.schema_errors import complaints
from callgate.tools.unwrapping import unwrapped
from callgate.tools.validators import Schema, schema_of
from callgate.vocabulary import Repair

MOST_WALKS = 8
"""One change may make room for another; nearly always the second walk finds nothing to do."""


class Repaired(msgspec.Struct, frozen=True):
    """Arguments, what was changed in them, and what is still wrong, in sentences that a model can act upon."""

    arguments: Any
    repairs: tuple[Repair, ...] = ()
    errors: tuple[str, ...] = ()


def repair(arguments: object, schema: Mapping[str, Any] | bool) -> Repaired:
    """`arguments`, an object or the text of one, made to fit a JSON Schema.

    Raises: UsageError, if the schema is no good.
    """
    known = schema_of(schema)
    if isinstance(arguments, str):
        return _repaired_text(arguments, known)
    if depth_of(arguments) > DEEPEST:
        return Repaired(arguments, errors=(f"the arguments are nested more than {DEEPEST} levels deep",))
    return _repaired(arguments, known, ())


def _repaired_text(text: str, schema: Schema) -> Repaired:
    if not text.strip():
        return _repaired({}, schema, (Repair("", text, {}, "empty"),))
    value, rules = decoded(text)
    if isinstance(value, str) and value is text:
        return Repaired(text, errors=("the arguments are no JSON that can be read in one way: send one JSON object",))
    repairs = (Repair("", text, value, malformed(rules)),) if rules else ()
    return _repaired(value, schema, repairs)


def _repaired(arguments: Any, schema: Schema, repairs: tuple[Repair, ...]) -> Repaired:
    if schema.is_valid(arguments):
        return Repaired(arguments, repairs)
    value, changes = _settled(arguments, schema)
    return Repaired(value, (*repairs, *changes), complaints(schema, value))


def _settled(arguments: Any, schema: Schema) -> tuple[Any, tuple[Repair, ...]]:
    """The arguments after as many walks as it takes; untouched, if that has no end."""
    walk = Walk(schema)
    value = {} if arguments is None else arguments
    repairs = () if value is arguments else (Repair("", None, value, "empty"),)
    try:
        for _ in range(MOST_WALKS):
            if schema.is_valid(value):
                return value, repairs
            inner, unpacked = unwrapped(value, walk.node(("#",)).properties)
            value, changes = walk.mend(inner)
            if not unpacked and not changes:
                return value, repairs
            repairs = (*repairs, *unpacked, *changes)
    except TooMuch:
        pass
    return arguments, ()
