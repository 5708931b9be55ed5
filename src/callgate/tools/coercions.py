"""Single values that a model wrote in another type than the schema's, where they can mean only one thing."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation

from callgate.tools.spelling import without_separators

NOTHING = object()
"""There is no such value, or more than one."""

LONGEST_NUMBER = 400
"""Characters; a longer text is no number that anybody meant."""
LARGEST_EXACT = 2**53
"""Beyond it, a float stands for several whole numbers, and a number with an exponent was rounded."""

_PLAIN = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_GROUPED = [
    re.compile(rf"([+-]?)((?:[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)|0|[1-9][0-9]*)(?:{decimal}([0-9]+))?")
    for group, decimal in ((",", r"\."), (r"\.", ","), ("[  \u202f]", r"\."), ("[  \u202f]", ","), ("['’_]", r"\."))
]
_NO_DIGIT = re.compile(r"[^0-9]")
_BOOLEANS = {"true": True, "false": False}
_NULLS = frozenset({"null", "none"})


def number_in(text: str, *, whole: bool) -> int | float | object:
    """The number that `text` is.

    With separators it counts only if there is one way to read them: `1,234,567`, `1,234.5`, `1.234,5`, `3,14`.
    `1,234` is a thousand and some, or one and a bit: only where a whole number is asked for is it the former.
    `1,000` and `1.000` are a thousand or one, whole numbers both: where one is asked for, they are neither.
    Else a dot alone is the decimal point, as it is in JSON: `1.234` is no whole number, and `1.000` is 1.0.
    """
    text = text.strip().replace("\u2212", "-")
    if not text or len(text) > LONGEST_NUMBER:
        return NOTHING
    is_plain = _PLAIN.fullmatch(text) is not None
    if is_plain and (not whole or text.isdecimal()):
        return _as_asked(text, whole=whole)
    readings = {
        _as_asked(f"{found[1]}{_NO_DIGIT.sub('', found[2])}" + (f".{found[3]}" if found[3] else ""), whole=whole)
        for form in _GROUPED
        if (found := form.fullmatch(text))
    }
    if is_plain:
        readings.add(_as_asked(text, whole=whole))
    elif whole:
        readings.discard(NOTHING)
    return readings.pop() if len(readings) == 1 else NOTHING


def _as_asked(digits: str, *, whole: bool) -> int | float | object:
    try:
        return int(digits)
    except ValueError:
        number = float(digits)
    try:
        exact = Decimal(digits)
    except InvalidOperation:  # an exponent beyond all bounds
        return NOTHING
    if not math.isfinite(number) or (exact and not number):
        return NOTHING
    is_large = abs(exact) > LARGEST_EXACT
    is_whole = exact == exact.to_integral_value() and not (is_large and "e" in digits.lower())
    if whole:
        return int(exact) if is_whole else NOTHING
    return int(exact) if is_whole and is_large else number


def boolean_in(text: str) -> bool | object:
    return _BOOLEANS.get(text.strip().lower(), NOTHING)


def null_in(text: str) -> object | None:
    return None if text.strip().lower() in _NULLS else NOTHING


def text_of(value: object) -> str | object:
    """A whole number as text. Others have lost what they looked like: 1.10 is 1.1 by now."""
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else NOTHING


def folded_text(value: object) -> str:
    """What is left of a member of an enumeration without case, white space, quotes and type; for some, nothing."""
    match value:
        case str():
            return " ".join(_unquoted(value.strip()).casefold().split())
        case None:
            return "null"
        case float() if value.is_integer():
            return str(int(value))
        case bool() | int() | float():
            return str(value).casefold()
    return ""


def member_in(value: object, members: Mapping[str, Sequence[object]]) -> object:
    """The one member of an enumeration that `value` differs from in case, white space, quotes or type alone.

    `members` are by their folded texts. Only a text, a whole number, true and false are spelled in some way: null says
    that there is no value, and a fraction has lost what it looked like.
    """
    spelling = folded_text(value) if isinstance(value, str | int) else ""
    found = members.get(spelling, ()) if spelling else ()
    return found[0] if len(found) == 1 else NOTHING


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def folded_key(key: str) -> str:
    """What is left of a key without case and separators; of one without letters, nothing: `-` isn't `_`."""
    return without_separators(key.strip().casefold()) if any(map(str.isalpha, key)) else ""
