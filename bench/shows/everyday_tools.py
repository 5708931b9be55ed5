"""Tools with schemas of many kinds, and prompts: some that one of them helps with, some that none does."""

from __future__ import annotations

from typing import Any

from callgate.vocabulary import Tool


def _tool(name: str, description: str, required: list[str], defs: Any = None, **properties: Any) -> Tool:
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if defs:
        schema["$defs"] = defs
    return Tool(name, description, schema)


TEXT = {"type": "string"}
TOOLS = (
    _tool(
        "get_weather",
        "Get the current weather in a city.",
        ["city"],
        city={"type": "string", "description": "The city's name"},
        unit={"type": "string", "enum": ["celsius", "fahrenheit"]},
    ),
    _tool("multiply", "Multiply two numbers.", ["a", "b"], a={"type": "number"}, b={"type": "number"}),
    _tool(
        "send_email",
        "Send an e-mail.",
        ["to", "subject", "body"],
        to={"type": "array", "items": {"type": "string", "format": "email"}, "minItems": 1},
        subject={"type": "string", "maxLength": 80},
        body=TEXT,
        priority={"enum": ["low", "normal", "high"]},
    ),
    _tool(
        "create_event",
        "Put an event into the calendar.",
        ["title", "start"],
        title=TEXT,
        start={"type": "string", "format": "date-time"},
        minutes={"type": "integer", "minimum": 5, "maximum": 480, "multipleOf": 5},
        attendees={"type": "array", "items": {"$ref": "#/$defs/person"}, "maxItems": 5},
        defs={
            "person": {
                "type": "object",
                "properties": {"name": TEXT, "role": {"type": ["string", "null"]}},
                "required": ["name"],
                "additionalProperties": False,
            }
        },
    ),
    _tool("list_files", "List the files in a folder.", [], path=TEXT, hidden={"type": "boolean"}),
    _tool(
        "search",
        "Search the web.",
        ["query"],
        query={"type": "string", "minLength": 2},
        limit={"type": "integer", "minimum": 1, "maximum": 20},
        filters={"type": "object", "description": "Any further filters"},
    ),
    _tool(
        "set_location",
        "Set the position on the map.",
        ["latitude", "longitude"],
        latitude={"type": "number", "minimum": -90, "maximum": 90},
        longitude={"type": "number", "minimum": -180, "maximum": 180},
    ),
    _tool(
        "paint",
        "Paint a shape.",
        ["shape"],
        shape={
            "oneOf": [
                {
                    "type": "object",
                    "properties": {"kind": {"const": "circle"}, "radius": {"type": "number", "exclusiveMinimum": 0}},
                    "required": ["kind", "radius"],
                },
                {
                    "type": "object",
                    "properties": {
                        "kind": {"const": "box"},
                        "size": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
                    },
                    "required": ["kind", "size"],
                },
            ]
        },
        colour={"type": "string", "pattern": "^#[0-9a-f]{6}$"},
    ),
    _tool(
        "save_tree",
        "Save a tree of notes.",
        ["root"],
        root={"$ref": "#/$defs/node"},
        defs={
            "node": {
                "type": "object",
                "properties": {"text": TEXT, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
                "required": ["text"],
            }
        },
    ),
    _tool("now", "Tell the time.", []),
    _tool(
        "book_flight",
        "Book a flight.",
        ["from", "to", "date"],
        **{
            "from": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "to": {"type": "string", "pattern": "^[A-Z]{3}$"},
            "date": {"type": "string", "format": "date"},
            "seats": {"type": "integer", "minimum": 1, "maximum": 9},
            "class": {"enum": ["economy", "business", None]},
        },
    ),
    _tool(
        "set_labels",
        "Set the labels of a thing.",
        ["labels"],
        labels={"type": "object", "additionalProperties": {"type": "string", "maxLength": 20}},
        tags={"type": "array", "items": {"enum": ["new", "old", "hot"]}, "uniqueItems": True},
        ratio={"type": "number", "minimum": 0, "maximum": 1},
    ),
)

TOOL_PROMPTS = (
    "What is the weather in Paris?",
    "What is 17 times 23?",
    "Write an e-mail to Anna that I will be late.",
    "Put a meeting with Bob into my calendar for tomorrow at ten.",
    "Which files are in my Documents folder?",
    "Search the web for the tallest mountain of Europe.",
    "Show Berlin on the map.",
    "Paint a red circle.",
    "What time is it?",
    "Book me a flight from Munich to Oslo on the third of May.",
    "Label this as urgent, and mine.",
)
PLAIN_PROMPTS = (
    "Hello!",
    "Tell me a joke.",
    "Who wrote Hamlet?",
    "Why is the sky blue?",
    "Translate 'good morning' into French.",
    "Write a poem of four lines about the sea.",
    "What is the capital of Japan?",
    "Thank you, that was helpful.",
    "What is a noun?",
)
