"""What is wrong with arguments, in sentences that a model can act upon. They name places and types, never values."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from callgate.tools.validators import Schema

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError

MOST_ERRORS = 20
_ARTICLES = {"integer": "an", "object": "an", "array": "an"}


def complaints(schema: Schema, value: object) -> tuple[str, ...]:
    """One sentence for each thing that is wrong with `value`; none, if it fits."""
    if schema.is_valid(value):
        return ()
    try:
        found = [_sentence(error) for error in islice(schema.whole.iter_errors(value), MOST_ERRORS)]
    except ValueError:
        found = []
    return tuple(dict.fromkeys(found)) or ("the arguments hold something that JSON can't carry",)


def _sentence(error: ValidationError) -> str:
    where = "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in error.instance_path)
    place = f"`{where}`" if where else "the arguments object"
    kind = error.kind.name
    value = error.kind.value
    match kind:
        case "required":
            return f"`{where}/{value}` is missing"
        case "type":
            return f"{place} must be {_types(value)}"
        case "enum":
            return f"{place} must be one of {_listed(value)}"
        case "additionalProperties" | "unevaluatedProperties":
            return f"{place} may not have {_listed(value)}"
    return f"{place} breaks the rule `{kind}` of the schema"


def _types(value: object) -> str:
    names = value if isinstance(value, list) else [value]
    return " or ".join(f"{_ARTICLES.get(str(name), 'a')} {name}" for name in names)


def _listed(values: object) -> str:
    import msgspec

    items = values if isinstance(values, list) else [values]
    shown = [msgspec.json.encode(item).decode() for item in items[:MOST_ERRORS]]
    return ", ".join(shown) + (" …" if len(items) > MOST_ERRORS else "")
