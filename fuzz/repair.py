"""Arguments as models send them: read, made to fit schemas of every kind, and then found to fit or not."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import jsonschema_rs
import msgspec

from callgate.tools import read_loosely, repair

EXPECTED: tuple[type[BaseException], ...] = ()
SLOW_S = 5.0  # the largest inputs take a second or two

_INTEGER, _STRING = {"type": "integer"}, {"type": "string"}
SCHEMAS: list[dict[str, Any]] = [
    {
        "type": "object",
        "properties": {
            "city": _STRING,
            "days": _INTEGER,
            "lat": {"type": "number"},
            "loud": {"type": "boolean"},
            "unit": {"enum": ["celsius", "fahrenheit", 5, None]},
            "tags": {"type": "array", "items": _STRING},
            "limit": {"anyOf": [_INTEGER, {"type": "null"}]},
            "where": {
                "type": "object",
                "properties": {"days": _INTEGER},
                "required": ["days"],
                "additionalProperties": False,
            },
        },
        "required": ["city"],
        "additionalProperties": False,
    },
    {"type": "object", "properties": {"city": {"type": ["integer", "boolean", "array"]}, "tree": {"$ref": "#"}}},
    {
        "type": "object",
        "properties": {"days": {"oneOf": [_INTEGER, {"type": "array", "items": {"$ref": "#/properties/days"}}]}},
        "patternProperties": {
            "^l": {"anyOf": [{"type": "number"}, {"type": "object", "additionalProperties": _INTEGER}]}
        },
        "minProperties": 1,
    },
    {
        "anyOf": [
            {
                "type": "object",
                "properties": {"city": {"const": "Paris"}, "days": _INTEGER},
                "required": ["city", "days"],
            },
            {
                "type": "object",
                "properties": {"city": {"const": "Rome"}, "tags": {"type": "array"}},
                "required": ["city"],
            },
        ]
    },
    {"type": "object", "properties": {}, "additionalProperties": {"allOf": [_INTEGER, {"minimum": 3}]}},
]
_PIECES = [
    "{", "}", "[", "]", ",", ":", '"', "'", "\\", '\\"', "//", "/*", "*/", "#", "\n", " ", "```json\n", "```", '"""',
    "`", "“", "”", "null", "None", "true", "True", "NaN", "5", "-", ".", "e9", "1,234", "0x1F", "00", "\\u00e9",
    "\\ud83d", "\0", "é", '"city"', '"days"', '"5"', '"arguments"', "'unit'", "'Celsius'", "city:", '{"city":',
    '["a"', '"{\\"days\\": \\"5\\"}"', "[[[[[[[[", "{{{{{{{{", "]]]]", "}}}}", "9" * 30, "A" * 70,
]  # fmt: skip


def seeds() -> Iterable[bytes]:
    return [
        text.encode()
        for text in (
            '{"city": "Paris", "days": "5", "unit": " Celsius", "tags": "a", "loud": "True", "limit": "7"}',
            "{'city': 'it's', 'where': {'days': '3',}, // why\n}",
            '"{\\"city\\": \\"Rome\\", \\"tags\\": \\"[1, 2]\\"}"',
            '{"name": "weather", "arguments": {"City": "Rome", "days": null, "stray": 1}}',
            '[{"city": "say "hi" to me", "lat": "1,234.5"',
            '```json\n{"days": [["5"], "6"], "l": {"a": "7"}}\n```',
        )
    ]


def mutate(data: bytes, rng: random.Random) -> bytes:
    text = data.decode(errors="replace")
    for _ in range(rng.randint(1, 4)):
        start = rng.randint(0, len(text))
        end = min(len(text), start + rng.choice((0, 0, 1, 4, 20)))
        text = text[:start] + rng.choice(_PIECES) * rng.choice((1, 1, 1, 2, 50)) + text[end:]
    return text.encode(errors="replace")


def one_input(data: bytes) -> str:
    text = data.decode(errors="replace")
    loose = read_loosely(text)
    if loose is None:
        assert repair(text, SCHEMAS[0]).arguments in (text, {})
        return "no reading"
    again = read_loosely(msgspec.json.encode(loose.value).decode())
    assert again is not None
    assert again.value == loose.value
    assert not again.rules
    outcomes = {_one_schema(text, schema) for schema in SCHEMAS}
    return " or ".join(sorted(outcomes))


def _one_schema(text: str, schema: dict[str, Any]) -> str:
    found = repair(text, schema)
    if isinstance(found.arguments, str):
        assert found.errors
        return "text"
    assert jsonschema_rs.validator_for(schema).is_valid(found.arguments) is (not found.errors)
    again = repair(found.arguments, schema)
    assert again.arguments == found.arguments
    assert not again.repairs
    assert again.errors == found.errors
    msgspec.json.encode([found.arguments, found.repairs])
    return "errors" if found.errors else "mended" if found.repairs else "fits"
