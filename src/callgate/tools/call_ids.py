"""The ids of calls that came without one."""

from __future__ import annotations

from secrets import choice
from string import ascii_letters, digits

_LETTERS = ascii_letters + digits
_LENGTH = 9
"""Mistral's templates take ids of nine letters and digits alone; everybody else takes those too."""


def new_call_id() -> str:
    return "".join(choice(_LETTERS) for _ in range(_LENGTH))
