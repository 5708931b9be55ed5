"""Arguments that a model sent, made to fit their schema where they can only mean one thing. Each change is listed.

What fits already is never touched, nothing is invented, and repairing twice changes nothing more. The rules:

    number, boolean, null-text   a text that is one: "5", "true", "null"; separators only where they are unambiguous
    text                         a whole number where a text is asked for
    enum                         case, white space or quotes around one of the values that are listed
    array                        one value where an array is asked for
    encoded-json                 a text that encodes the object or the array
    malformed-json: …            the same, and what had to be overlooked to read it
    null                         null for something optional that can't be null: left out
    key                          a key in another spelling
    stray-key                    a key that the schema forbids: left out
    wrapped                      the arguments were inside something else
    empty                        nothing at all was sent
    half-character               half of a character, which no JSON can carry
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.tools.encoded import unfolded
from callgate.tools.loose_json import read_loosely
from callgate.tools.mending_walk import TooMuch, Walk
from callgate.tools.plain_values import NoPlainValue, Plain, plain
from callgate.tools.schema_errors import complaints
from callgate.tools.unwrapping import unwrapped
from callgate.tools.validators import Schema, schema_of
from callgate.vocabulary import Repair

MOST_WALKS = 8
"""One change may make room for another; nearly always the second walk finds nothing to do."""
MOST_WORK = 100_000_000
"""Checks of all values together; some seconds."""


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
    value = arguments
    repairs: tuple[Repair, ...] = ()
    if isinstance(arguments, str):
        read = _read(arguments)
        if read is None:
            return Repaired(arguments, errors=("the arguments are no JSON that can be read in one way",))
        value, repairs = read
    try:
        found = plain(value)
    except NoPlainValue as problem:
        return Repaired(arguments, errors=(str(problem),))
    if known.checks * found.size > MOST_WORK:
        return Repaired(arguments, errors=("the arguments are too large to be checked",))
    return _repaired(found, known, repairs)


def _read(text: str) -> tuple[object, tuple[Repair, ...]] | None:
    """What a text says, and what that is worth telling: arguments come as a text of JSON, so not that."""
    if not text.strip():
        return {}, (Repair("", text, {}, "empty"),)
    loose = read_loosely(text)
    if loose is None:
        return None
    if not loose.rules and not isinstance(loose.value, str):
        return loose.value, ()
    found = unfolded(loose)
    return found.value, (Repair("", text, found.value, found.rule),)


def _repaired(found: Plain, schema: Schema, repairs: tuple[Repair, ...]) -> Repaired:
    repairs = (*repairs, *found.repairs) if found.repairs else repairs
    if schema.is_valid(found.value):
        return Repaired(found.value, repairs)
    value, changes = _settled(found, schema)
    return Repaired(value, (*repairs, *changes), () if schema.is_valid(value) else complaints(schema, value))


def _settled(found: Plain, schema: Schema) -> tuple[Any, tuple[Repair, ...]]:
    """The arguments after as many walks as it takes; untouched, if there is no end to it."""
    walk = Walk(schema, found.size)
    names = walk.nodes.names()
    arguments = found.value
    value = {} if arguments is None else arguments
    repairs: tuple[Repair, ...] = (Repair("", None, value, "empty"),) if arguments is None else ()
    try:
        for _ in range(MOST_WALKS):
            inner, unpacked = unwrapped(value, names)
            value, changes = walk.mend(inner)
            if not unpacked and not changes:
                return value, repairs
            repairs = (*repairs, *unpacked, *changes)
            if schema.is_valid(value):
                return value, repairs
    except TooMuch:
        pass
    return arguments, ()
