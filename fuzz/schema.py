"""Schemas from strangers: refused, or good for any arguments, within bounds."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable
from typing import Any

import jsonschema_rs
import msgspec

from callgate.tools import read_loosely, repair
from callgate.vocabulary import UsageError

EXPECTED: tuple[type[BaseException], ...] = (UsageError,)
SLOW_S = 5.0

_ARGUMENTS: list[Any] = [
    {},
    {"a": "5", "b": ["1", 2], "c": {"a": None, "b": "true"}},
    {"arguments": {"a": 5}},
    '{"a": {"a": {"a": {"a": "x"}}}, "b": [[["5"]]], "c": "[1]"}',
    {"a": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!", "A": 1, "z": {}},
]
_PIECES = [
    '"$ref":"#"', '"$ref":"#/$defs/d"', '"$ref":"#/properties/a"', '"$ref":"http://127.0.0.1:9/x"', '"$ref":"#d"',
    '"$anchor":"d"', '"$dynamicRef":"#d"', '"$dynamicAnchor":"d"', '"$id":"http://example.com/x"',
    '"$schema":"http://json-schema.org/draft-07/schema#"', '"type":"object"', '"type":"integer"',
    '"type":["string","null","array"]', '"type":"strin"', '"enum":["a",5,null,{}]', '"const":"A"',
    '"properties":{"a":{"type":"integer"}}', '"properties":{"a":{}}', '"additionalProperties":false',
    '"additionalProperties":{"$ref":"#"}', '"unevaluatedProperties":false',
    '"patternProperties":{"^a":{"type":"boolean"}}', '"required":["a","b"]', '"items":{"$ref":"#"}',
    '"prefixItems":[{"type":"integer"},{}]', '"contains":{"type":"null"}', '"uniqueItems":true', '"minItems":2',
    '"minimum":3', '"pattern":"(a+)+$"', '"pattern":"(?=a)(a+)+\\\\1$"', '"pattern":"(("',
    '"anyOf":[{"type":"integer"},{"type":"array"}]', '"anyOf":[{"$ref":"#"},{"$ref":"#/$defs/d"}]',
    '"oneOf":[{"$ref":"#/$defs/d"},{"$ref":"#/$defs/d"}]', '"allOf":[{"$ref":"#/$defs/d"}]',
    '"not":{"$ref":"#/$defs/d"}', '"if":{"required":["a"]},"then":{"required":["b"]}', '"$defs":{"d":{"$ref":"#"}}',
    '"dependentSchemas":{"a":{"$ref":"#"}}', '"propertyNames":{"maxLength":3}', '"a":{', "{", "}", "[", "]", ",", ":",
    '"', "5", "1e999", "null", "true", '"x"', '{"a":', "9" * 40,
]  # fmt: skip
_DIALECT = re.compile(r"https?://json-schema\.org/(?:draft-0[467]|draft/2019-09|draft/2020-12)/schema#?")


def seeds() -> Iterable[bytes]:
    integer, string = {"type": "integer"}, {"type": "string"}
    schemas: list[dict[str, Any]] = [
        {"type": "object", "properties": {"a": integer, "b": {"type": "array", "items": integer}}, "required": ["a"]},
        {
            "type": "object",
            "properties": {"a": {"$ref": "#/$defs/d"}},
            "$defs": {"d": {"anyOf": [integer, {"$ref": "#"}]}},
        },
        {
            "allOf": [{"properties": {"a": string}}, {"$ref": "#/$defs/d"}],
            "$defs": {"d": {"additionalProperties": False}},
        },
        {"oneOf": [{"required": ["a"]}, {"required": ["b"]}], "patternProperties": {"^[a-c]": {"enum": ["X", 5]}}},
    ]
    return [msgspec.json.encode(schema) for schema in schemas]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Puts a keyword into some object of the schema, or anything anywhere."""
    text = data.decode(errors="replace")
    for _ in range(rng.randint(1, 4)):
        piece = rng.choice(_PIECES)
        places = [at + 1 for at, letter in enumerate(text) if letter == "{"]
        if places and piece.startswith('"') and rng.random() < 0.8:
            at = rng.choice(places)
            text = text[:at] + piece + ("" if text[at : at + 1] == "}" else ",") + text[at:]
        else:
            at = rng.randint(0, len(text))
            text = text[:at] + piece + text[min(len(text), at + rng.choice((0, 1, 5))) :]
    return text.encode(errors="replace")


def one_input(data: bytes) -> str:
    loose = read_loosely(data.decode(errors="replace"))
    if loose is None or not isinstance(loose.value, dict | bool):
        return "no schema"
    outcomes = set()
    for arguments in _ARGUMENTS:
        found = repair(arguments, loose.value)
        again = repair(found.arguments, loose.value)
        assert again.arguments == found.arguments
        if not isinstance(found.arguments, str):
            assert not again.repairs
            assert again.errors == found.errors
        if not found.repairs and not found.errors and isinstance(arguments, dict):
            assert found.arguments is arguments
            assert _is_valid(arguments, loose.value)
        outcomes.add("errors" if found.errors else "mended" if found.repairs else "fits")
    return " or ".join(sorted(outcomes))


def _is_valid(arguments: object, schema: Any) -> bool:
    if isinstance(schema, dict) and not _DIALECT.fullmatch(str(schema.get("$schema"))):
        schema = {key: value for key, value in schema.items() if key != "$schema"}
    try:
        return jsonschema_rs.validator_for(schema, offline=True).is_valid(arguments)
    except jsonschema_rs.ValidationError as error:  # a pattern that Python takes is left alone
        return error.instance_path[-1:] == ["pattern"] or "patternProperties" in error.instance_path
