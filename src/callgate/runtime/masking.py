"""A call as a person may see it: what is named like a secret is masked, and nothing is too long for a screen."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import msgspec

from callgate.vocabulary import ToolCall

LONGEST = 2_000
DEEPEST = 32
_SECRET = re.compile(
    r"passw(or)?d|passphrase|secret|credential|authori[sz]ation|cookie"
    r"|(?:api|access|private|auth|signing|encryption)[_-]?key|(?<![a-z])(?:pin|pwd|jwt|bearer)(?![a-z])"
    r"|token(?!s|i[sz])",
    re.IGNORECASE,
)


def shown_arguments(call: ToolCall, longest: int = LONGEST) -> str:
    """The arguments as JSON, on one line. What is left out is said, so that nothing hides behind it."""
    if isinstance(call.arguments, str):
        text = call.arguments
    else:
        try:
            text = msgspec.json.encode(masked(call.arguments), enc_hook=str).decode()
        except (TypeError, ValueError, RecursionError):
            text = "{…}"
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} characters more)"


def masked(value: Any, depth: int = DEEPEST) -> Any:
    """`value` without the contents of what is named like a secret."""
    if depth <= 0:
        return "…"
    if isinstance(value, Mapping):
        return {name: _hidden(name, content, depth) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [masked(content, depth - 1) for content in value]
    return value


def _hidden(name: object, content: Any, depth: int) -> Any:
    if not (isinstance(name, str) and _SECRET.search(name)) or content is None or isinstance(content, bool):
        return masked(content, depth - 1)
    return f"… ({len(content):,} characters)" if isinstance(content, str) else "…"
