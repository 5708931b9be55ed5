"""Values and calls as Python writes them, and relatives of that: `[get_weather(city='Paris', days=3)]`.

What models write isn't quite Python: `true` and `null`, quotes inside of quotes, line breaks inside of strings. The
text is there as a whole; time is linear, depth is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from callgate.gate.recovery.said import Said
from callgate.gate.recovery.values import DEEPEST

_BLANK = re.compile(r"\s*")
_NAME = re.compile(r"[^\W\d][\w.\-/]*")
_PARAMETER = re.compile(r"([^\W\d][\w\-]*)\s*=(?!=)\s*")
_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*+\.?+\d*+|\.\d++)(?:[eE][+-]?\d++)?(?=\s*[,)\]}]|\s*\Z)")
_KEY = re.compile(r"[^{}\[\](),:=]+")
_WORD = re.compile(r"[^,()\[\]{}'\"=<>]*[^,()\[\]{}'\"=<>\s]")
_PLAIN = {quote: re.compile(rf"[^{quote}\\]*") for quote in "\"'"}
_ENDS_STRING = re.compile(r"\s*+(?:[,:)\]}]|\Z)")
_ENDS_ARGUMENT = re.compile(r"\s*+(?:,\s*+[^\W\d][\w\-]*+\s*+=|\)\s*+(?:\]?+\s*+\Z|,\s*+[^\W\d][\w.]*+\())")
_PREFIX = re.compile(r"(?:[rRuUbBfF]|[bB][rR]|[rR][bB])(?=['\"])")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|.)", re.DOTALL)
_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "0": "\0",
    "\n": "",
    "'": "'",
    '"': '"',
    "\\": "\\",
    "/": "/",
}
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, object] = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}


class NoLiteral(Exception):
    """The text is something else."""


def python_calls(text: str, *, words: bool = True, greedy: bool = False) -> list[Said]:
    """The calls that make up `text`, in brackets or one after another; none, if it is anything else.

    `words`: whether a value may be a word without quotes, which then is a text. `greedy`: a text goes on until nothing
    else can follow it than the next argument or the end of the call.
    """
    reader = Literals(text, words=words, greedy=greedy)
    try:
        return reader.calls()
    except NoLiteral:
        return []


class Literals:
    """One pass over a text. `quotes` are marks that stand around texts instead of quotes."""

    def __init__(self, text: str, *, quotes: Sequence[str] = (), words: bool = True, greedy: bool = False) -> None:
        self.text = text
        self.at = 0
        self._quotes = quotes
        self._words = words
        self._ends_string = _ENDS_ARGUMENT if greedy else _ENDS_STRING
        self._depth = 0

    def calls(self) -> list[Said]:
        bracketed = self._passes("[")
        found = [self._call()]
        while True:
            if self._passes(",") or self._passes(";"):
                if bracketed and self._passes("]"):
                    break
            elif bracketed and (self._passes("]") or self._at_end()):
                break
            if self._at_end():
                break
            found.append(self._call())
        if not self._at_end():
            raise NoLiteral
        return found

    def _call(self) -> Said:
        self._skip()
        name = self._match(_NAME)
        if name is None or not self._passes("("):
            raise NoLiteral
        arguments: dict[str, object] = {}
        while not self._passes(")"):
            self._skip()
            parameter = _PARAMETER.match(self.text, self.at)
            if parameter:
                if parameter[1] in arguments:
                    raise NoLiteral
                self.at = parameter.end()
                arguments[parameter[1]] = self.value()
            else:  # one object as the only argument
                whole = self.value()
                if arguments or not isinstance(whole, dict):
                    raise NoLiteral
                arguments = whole
            if not self._passes(",") and not self.text.startswith(")", self.at):
                raise NoLiteral
        return Said(name.removesuffix(".call"), arguments)

    def value(self) -> object:
        self._skip()
        for mark in self._quotes:
            if self.text.startswith(mark, self.at):
                return self._marked(mark)
        if prefix := _PREFIX.match(self.text, self.at):
            self.at = prefix.end()
        char = self.text[self.at : self.at + 1]
        if char and char in "'\"":
            return self._string(char, escapes=not (prefix and "r" in prefix.group().lower()))
        if char and char in "[({":
            self._depth += 1
            if self._depth > DEEPEST:
                raise NoLiteral
            value = self._object() if char == "{" else self._list("]" if char == "[" else ")")
            self._depth -= 1
            return value
        return self._scalar()

    def _object(self) -> dict[str, object] | list[object]:
        start = self.at
        self.at += 1
        found: dict[str, object] = {}
        while not self._passes("}"):
            key = self._key()
            if not self._passes(":") and not self._passes("="):
                if found or self._quotes:
                    raise NoLiteral
                self.at = start
                return self._list("}")  # a set
            found[key] = self.value()
            if not self._passes(",") and not self.text.startswith("}", self.at):
                raise NoLiteral
        return found

    def _key(self) -> str:
        self._skip()
        for mark in self._quotes:
            if self.text.startswith(mark, self.at):
                return self._marked(mark)
        char = self.text[self.at : self.at + 1]
        if char and char in "'\"":
            return self._string(char)
        key = _KEY.match(self.text, self.at)
        if key is None:
            raise NoLiteral
        self.at = key.end()
        return key.group().strip()

    def _list(self, closer: str) -> list[object]:
        self.at += 1
        found: list[object] = []
        while not self._passes(closer):
            found.append(self.value())
            if not self._passes(",") and not self.text.startswith(closer, self.at):
                raise NoLiteral
        return found

    def _scalar(self) -> object:
        number = self._match(_NUMBER)
        if number is not None:
            plain = number.replace("_", "")
            try:
                return int(plain) if plain.lstrip("+-").isdecimal() else float(plain)
            except ValueError as error:
                raise NoLiteral from error
        word = self._match(_WORD)
        if word is None:
            raise NoLiteral
        if word in _WORDS:
            return _WORDS[word]
        if not self._words:
            raise NoLiteral
        return word

    def _marked(self, mark: str) -> str:
        start = self.at + len(mark)
        end = self.text.find(mark, start)
        if end < 0:
            raise NoLiteral
        self.at = end + len(mark)
        return self.text[start:end]

    def _string(self, quote: str, *, escapes: bool = True) -> str:
        if self.text.startswith(quote * 3, self.at):
            return _unescaped(self._marked(quote * 3)) if escapes else self._marked(quote * 3)
        start = at = self.at + 1
        while True:
            plain = _PLAIN[quote].match(self.text, at)
            at = plain.end() if plain else at
            if at >= len(self.text):
                raise NoLiteral
            if self.text[at] == "\\":
                at += 2
            elif self._ends_string.match(self.text, at + 1):
                self.at = at + 1
                inside = self.text[start:at]
                return _unescaped(inside) if escapes else inside
            else:  # a quote that should have been escaped
                at += 1

    def _passes(self, literal: str) -> bool:
        self._skip()
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def _match(self, pattern: re.Pattern[str]) -> str | None:
        match = pattern.match(self.text, self.at)
        if match is None:
            return None
        self.at = match.end()
        return match.group()

    def _skip(self) -> None:
        blank = _BLANK.match(self.text, self.at)
        self.at = blank.end() if blank else self.at

    def _at_end(self) -> bool:
        self._skip()
        return self.at >= len(self.text)


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    meant = _ESCAPE.sub(_meaning, text)
    if _SURROGATE.search(meant):  # halves of a character, each written out
        meant = meant.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return meant


def _meaning(match: re.Match[str]) -> str:
    escape = match.group()[1:]
    if len(escape) > 1:
        code = int(escape[1:], 16)
        return chr(code) if code <= 0x10FFFF else match.group()
    return _ESCAPES.get(escape, match.group())
