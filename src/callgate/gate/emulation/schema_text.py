"""A shape as the JSON Schema that an engine is held to.

Only words that all engines understand alike. What JSON Schema leaves endless is put in another way, and read back by
`understood`: a number of a certain spelling is a text, and an object with keys of the model's own is a list of pairs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.gate.emulation.expressions import Characters, Either, Expression, Repeated, Sequel, escaped, ranges_text
from callgate.gate.emulation.numerals import ANY_NUMBER
from callgate.gate.emulation.shapes import (
    Choice,
    Entries,
    Fixed,
    Literals,
    Numeral,
    Record,
    Rows,
    Shape,
    Spelt,
    Whole,
    Words,
)

LONGEST_TEXT = 1999
"""llama.cpp takes a greater `maxLength` for none at all."""
_PLAIN = frozenset(" -_@:/,;=%#&!~'<>")


class SchemaWriter:
    """Writes schemas that share their texts: engines write each `maxLength` out, character by character."""

    def __init__(self) -> None:
        self._shared: dict[str, Mapping[str, Any]] = {}

    def definitions(self) -> Mapping[str, Mapping[str, Any]]:
        """What the schemas refer to, for the root's `$defs`."""
        return self._shared

    def schema(self, shape: Shape) -> dict[str, Any]:
        match shape:
            case Literals(values):
                return {"const": values[0]} if len(values) == 1 else {"enum": list(values)}
            case Words(shortest, longest):
                return self._words(shortest, min(longest, LONGEST_TEXT))
            case Spelt(expression) | Numeral(expression):
                return {"type": "string", "pattern": f"^{pattern_of(expression)}$"}
            case Whole(lowest, highest):
                return {"type": "integer", "minimum": lowest, "maximum": highest}
            case Record(fields):
                return self._object(
                    {field.name: self.schema(field.shape) for field in fields},
                    [field.name for field in fields if field.required],
                )
            case Entries(key, value, fewest, most):
                pair = self._object({"key": self.schema(key), "value": self.schema(value)}, ["key", "value"])
                return {"type": "array", "items": pair, "minItems": fewest, "maxItems": most}
            case Rows(_, _, 0):
                return {"const": []}
            case Rows(item, fewest, most):
                return {"type": "array", "items": self.schema(item), "minItems": fewest, "maxItems": most}
            case Fixed(items):
                count = len(items)
                places = [self.schema(item) for item in items]
                return {"type": "array", "prefixItems": places, "minItems": count, "maxItems": count}
            case Choice(options):
                has_text = any(isinstance(option, Words | Spelt) for option in options)
                return {"anyOf": [self._option(option, has_text=has_text) for option in options]}

    def _option(self, shape: Shape, *, has_text: bool) -> dict[str, Any]:
        # Beside texts, a number in quotes would be taken for one of them.
        return {"type": "number"} if has_text and shape == ANY_NUMBER else self.schema(shape)

    def _words(self, shortest: int, longest: int) -> dict[str, Any]:
        name = f"text-{shortest}-{longest}"
        self._shared[name] = {"type": "string", "minLength": shortest, "maxLength": longest}
        return {"$ref": f"#/$defs/{name}"}

    @staticmethod
    def _object(properties: Mapping[str, Any], required: list[str]) -> dict[str, Any]:
        closed: dict[str, Any] = {"type": "object", "properties": properties}
        if required:
            closed["required"] = required
        closed["additionalProperties"] = False
        return closed


def pattern_of(expression: Expression) -> str:
    """As a regular expression, of the simplest kind."""
    match expression:
        case Characters(((low, high),)) if low == high:
            return _character(low)
        case Characters(ranges):
            return ranges_text(ranges)
        case Sequel(parts):
            return "".join(pattern_of(part) for part in parts)
        case Either(options):
            return f"({'|'.join(pattern_of(option) for option in options)})"
        case Repeated(_, _, 0):
            return ""
        case Repeated(part, fewest, most):
            inner = pattern_of(part)
            if not isinstance(part, Characters | Either):
                inner = f"({inner})"
            return f"{inner}{'?' if (fewest, most) == (0, 1) else f'{{{fewest},{most}}}'}"


def _character(code: int) -> str:
    char = chr(code)
    return char if (char.isascii() and char.isalnum()) or char in _PLAIN else f"[{escaped(code)}]"
