"""What is repaired: calls as small models write them, and their schemas. Standard library only."""

from typing import Any

FLAT: dict[str, Any] = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer", "minimum": 1},
        "unit": {"enum": ["celsius", "fahrenheit"]},
    },
    "required": ["city"],
    "additionalProperties": False,
}
FLAT_ARGUMENTS: dict[str, Any] = {"city": "Paris", "days": 3, "unit": "celsius"}

NESTED: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string", "minLength": 1},
        "attendees": {"type": "array", "items": {"$ref": "#/$defs/person"}},
        "when": {
            "type": "object",
            "properties": {"start": {"type": "string"}, "minutes": {"anyOf": [{"type": "integer"}, {"type": "null"}]}},
            "required": ["start"],
        },
        "tags": {"type": "array", "items": {"enum": ["work", "home", "travel"]}},
    },
    "required": ["title", "attendees"],
    "$defs": {
        "person": {
            "type": "object",
            "properties": {"name": {"type": "string"}, "email": {"type": "string"}, "optional": {"type": "boolean"}},
            "required": ["name"],
        }
    },
}
NESTED_ARGUMENTS: dict[str, Any] = {
    "title": "Planning",
    "attendees": [
        {"name": f"Person {number}", "email": f"p{number}@example.com", "optional": not number % 2}
        for number in range(6)
    ],
    "when": {"start": "2025-01-01T10:00", "minutes": 45},
    "tags": ["work", "travel"],
}

MALFORMED = [
    "{'city': 'Paris', 'days': 3}",
    '{"city": "Paris", "days": 3,}',
    '{city: "Paris", days: 3}',
    '{"city": "Paris", "days": 3, "loud": True, "unit": None}',
    '{"city": "Paris", "days": 3',
    '{"city": "Paris", "where": {"lat": 48.9, "lon": 2.4}, "tags": ["a", "b"',
    '{"city": "Paris" /* the capital */, "days": 3} // done',
    '```json\n{"city": "Paris", "days": 3}\n```',
    '{"city": "the "big" one", "days": 3}',
    '{"city": "Paris\nFrance", "days": 3}',
]

DAMAGED = [  # each becomes arguments that fit FLAT
    '{"city": "Paris", "days": "3", "unit": "Celsius"}',
    "{'city': 'Paris', 'days': '3', 'unit': 'celsius'}",
    '{"arguments": {"city": "Paris", "days": 3, "unit": "celsius"}}',
    '{"city": "Paris", "days": 3, "unit": "celsius", "why": "because"}',
    '"{\\"city\\": \\"Paris\\", \\"days\\": 3, \\"unit\\": \\"celsius\\"}"',
]
ROUNDS, CALLS = 7, 300
