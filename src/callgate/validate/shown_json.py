"""What was expected and what came, as a person reads it."""

from __future__ import annotations

import json

import msgspec


def json_text(value: object, longest: int, *, indent: int = -1) -> str:
    """As JSON, cut to `longest` characters. Whatever a model said gets through: half a surrogate pair, too."""
    try:
        try:
            text = msgspec.json.format(msgspec.json.encode(value), indent=indent).decode()
        except UnicodeEncodeError:
            text = json.dumps(value, indent=indent if indent > 0 else None)
    except RecursionError:
        return "nested too deeply to be shown"
    return text if len(text) <= longest else f"{text[:longest]}…"
