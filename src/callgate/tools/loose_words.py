"""Words of malformed JSON that stand without quotes: numbers, literals, keys, single words."""

from __future__ import annotations

import math
import re

from callgate.tools.loose_strings import NoReading

LONGEST_NUMBER = 1000
"""Digits. More is no number that anybody meant, and takes Python more than linear time."""
SHORTEST_CUT = 2
"""Letters of a literal that tell it from NaN, or from a word."""

_WORD = re.compile(r"""[^\s,:{}\[\]"'`“”‘’/#()]+""")
_KEY = re.compile(r"[A-Za-z_$][\w$.-]*|[0-9]+")
_NAME = re.compile(r"[^\W\d][\w.-]*|0[0-9]+")
_FOLLOWED = re.compile(r"""\s*(?:[,}\]]|\Z|//|#|/\*)|\s+["'`“‘]""")
_JSON_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_LOOSE_INTEGER = re.compile(r"[+-]?(?:0|[1-9][0-9]*(?:_[0-9]+)*)")
_LOOSE_FLOAT = re.compile(
    r"[+-]?(?:(?:0|[1-9][0-9]*)\.[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|[+-]?[1-9][0-9]*[eE][+-]?[0-9]+"
)
_HEXADECIMAL = re.compile(r"0[xX][0-9a-fA-F]+")
_JSON_WORDS: dict[str, bool | None] = {"true": True, "false": False, "null": None}
_OTHER_WORDS: dict[str, bool | None] = {
    "True": True, "False": False, "None": None, "TRUE": True, "FALSE": False, "NULL": None, "Null": None,
}  # fmt: skip
_NO_VALUES = frozenset({"nan", "infinity", "inf", "undefined", "nil"})


def key_of(text: str, at: int) -> tuple[str, int]:
    """The key without quotes that starts `at`, and where it ends."""
    found = _KEY.match(text, at)
    if not found:
        raise NoReading
    return found[0], found.end()


def value_of(text: str, at: int, rules: set[str], *, cut: bool, inside: bool) -> tuple[object, int]:
    """The number, literal or single word that starts `at`, and where it ends. Words count only inside something.

    A number inside something that ends where the text ends may have gone on: 12 may have been 1250.
    """
    found = _WORD.match(text, at)
    if not found or not _FOLLOWED.match(text, found.end()):
        raise NoReading
    word, end = found[0], found.end()
    if word in _JSON_WORDS:
        return _JSON_WORDS[word], end
    if word in _OTHER_WORDS:
        rules.add("literal")
        return _OTHER_WORDS[word], end
    if word[0] in "+-.0123456789" and (number := _number(word, rules)) is not None:
        if inside and end == len(text):
            raise NoReading
        return number, end
    if end == len(text):
        return _cut_literal(word, rules, cut=cut), end
    if inside and _NAME.fullmatch(word) and word.lower() not in _NO_VALUES:
        rules.add("unquoted-text")
        return word, end
    raise NoReading


def _number(word: str, rules: set[str]) -> int | float | None:
    if len(word) > LONGEST_NUMBER:
        raise NoReading
    if found := _JSON_NUMBER.fullmatch(word):
        return _finite(float(word)) if found[1] or found[2] else int(word)
    if _LOOSE_INTEGER.fullmatch(word):
        rules.add("number")
        return int(word)
    if _HEXADECIMAL.fullmatch(word):
        rules.add("number")
        return int(word, 16)
    if _LOOSE_FLOAT.fullmatch(word):
        rules.add("number")
        return _finite(float(word))
    return None


def _finite(number: float) -> float:
    if not math.isfinite(number):
        raise NoReading
    return number


def _cut_literal(word: str, rules: set[str], *, cut: bool) -> bool | None:
    """`tru` at the very end can only become `true`."""
    words = [whole for whole in ("true", "false", "null", "True", "False", "None") if whole.startswith(word)]
    if not cut or len(words) != 1 or len(word) < SHORTEST_CUT:
        raise NoReading
    rules.add("cut-off")
    return {**_JSON_WORDS, **_OTHER_WORDS}[words[0]]
