"""What a client sent and isn't read at once: JSON with halves of characters in it, as JavaScript writes it of texts
that were cut, and what is no JSON, where it is said what is wrong and where.
"""

from __future__ import annotations

import json
import re

import msgspec

from callgate.vocabulary import UsageError

LONGEST = 4 << 20
"""In bytes. To find out where something is wrong takes longer than to read, so it isn't done for what is longer."""
MOST_ESCAPES = 1 << 20
"""Each is looked at; what is between them, such as pictures, takes no time."""
_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(?P<half>u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
_NO_CHARACTER = rb"\ufffd"


def read_oddly(content: bytes, problem: Exception) -> object:
    """What `content` means, although reading it ended in `problem`. Raises: UsageError, if it means nothing."""
    if content.count(b"\\") <= MOST_ESCAPES:
        try:
            return msgspec.json.decode(_ESCAPE.sub(_whole, content))
        except (msgspec.DecodeError, ValueError, RecursionError):
            pass
    problem_at = _where(content) if len(content) <= LONGEST else str(problem)
    raise UsageError(f"the request is no JSON: {problem_at}", hint="it has to be a JSON object, in UTF-8")


def _whole(escape: re.Match[bytes]) -> bytes:
    return escape[0] if escape["half"] is None else _NO_CHARACTER


def _where(content: bytes) -> str:
    if not content.strip():
        return "it is empty"
    try:
        json.loads(content.decode(), parse_constant=_refuse)
    except UnicodeDecodeError as error:
        return f"byte {error.start + 1} is no UTF-8"
    except json.JSONDecodeError as error:
        return f"{error.msg[:1].lower()}{error.msg[1:]}, at line {error.lineno}, column {error.colno}"
    except RecursionError:
        return "it is nested too deeply"
    except ValueError as error:
        return str(error)
    return "a number in it is out of range"


def _refuse(name: str) -> object:
    raise ValueError(f"{name} is no number there")
