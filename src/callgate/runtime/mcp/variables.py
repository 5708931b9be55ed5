"""`${NAME}` and `${NAME:-default}` in the values of a settings file."""

from __future__ import annotations

import re
from collections.abc import Mapping

_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(:-([^}]*))?\}")
LONGEST = 100_000


class MissingVariable(LookupError):
    """A variable without a value and without a default."""


class TooLong(ValueError):
    """A value that got longer than any should be."""


def expand(text: str, environ: Mapping[str, str]) -> str:
    """The text with the values in place; what a value itself contains isn't expanded again.

    Raises: MissingVariable, with the name; TooLong.
    """
    pieces: list[str] = []
    length = end = 0
    for found in _VARIABLE.finditer(text):
        value = environ.get(found[1]) or (found[3] if found[2] else None)
        if value is None:
            raise MissingVariable(found[1])
        pieces += [text[end : found.start()], value]
        length += len(value)
        end = found.end()
        if length > LONGEST:
            raise TooLong
    return "".join([*pieces, text[end:]])
