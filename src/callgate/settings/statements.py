"""A TOML text that was read without an error, cut into its statements: where each key, value and line is."""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

_BLANK = " \t"


class Statement(msgspec.Struct, frozen=True):
    """A table's header, or a key with its value."""

    table: tuple[str, ...]
    """The table that it is in; of a header, its own."""
    path: tuple[str, ...]
    """The whole name: of the table, and of the key in it."""
    line_at: int
    line_end: int
    """With a comment behind it and the end of its line."""
    value_at: int = 0
    value_end: int = 0


def statements(text: str) -> Iterator[Statement]:
    """In order. The text has to be valid TOML: of any other the result means nothing, but it ends."""
    at = 0
    table: tuple[str, ...] = ()
    while at < len(text):
        line_at = at
        at = _past(text, at, _BLANK)
        if at >= len(text) or text[at] in "#\r\n":
            at = _next_line(text, at)
        elif text[at] == "[":
            inner = at + (2 if text.startswith("[[", at) else 1)
            table, end = _key(text, inner, "]")
            at = _next_line(text, end)
            yield Statement(table, table, line_at, at)
        else:
            key, end = _key(text, at, "=")
            value_at = _past(text, end + 1, _BLANK)
            value_end = _end_of_value(text, value_at)
            at = _next_line(text, value_end)
            yield Statement(table, (*table, *key), line_at, at, value_at, value_end)


def _past(text: str, at: int, letters: str) -> int:
    while at < len(text) and text[at] in letters:
        at += 1
    return at


def _next_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _key(text: str, at: int, closing: str) -> tuple[tuple[str, ...], int]:
    """The parts of a dotted key, and where `closing` stands behind it."""
    parts: list[str] = []
    part = ""
    while at < len(text) and text[at] not in closing + "\n":
        if text[at] in "\"'":
            end = _end_of_string(text, at)
            part += _unquoted(text[at:end])
            at = end
            continue
        if text[at] == ".":
            parts.append(part)
            part = ""
        elif text[at] not in _BLANK:
            part += text[at]
        at += 1
    return (*parts, part), at


def _unquoted(quoted: str) -> str:
    if quoted[0] == "'" or "\\" not in quoted:
        return quoted[1:-1]
    import tomllib

    try:
        return str(tomllib.loads(f"key = {quoted}")["key"])
    except tomllib.TOMLDecodeError:
        return quoted


def _end_of_value(text: str, at: int) -> int:
    """Behind its last letter: it ends at a comment or with its line, unless a bracket or a string is open."""
    depth, end = 0, at
    while at < len(text):
        letter = text[at]
        if letter in "\"'":
            at = end = _end_of_string(text, at)
            continue
        if letter == "#":
            if depth == 0:
                break
            at = _next_line(text, at)
            continue
        if letter == "\n" and depth == 0:
            break
        depth += (letter in "[{") - (letter in "]}")
        at += 1
        if not letter.isspace():
            end = at
    return end


def _end_of_string(text: str, at: int) -> int:
    mark = text[at]
    quotes = mark * 3 if text.startswith(mark * 3, at) else mark
    at += len(quotes)
    while at < len(text):
        if text[at] == "\\" and mark == '"':
            at += 2
        elif text.startswith(quotes, at):
            at += len(quotes)
            # Up to two more quotes may stand before those that end it.
            while len(quotes) == 3 and text.startswith(mark, at):
                at += 1
            return at
        elif text[at] == "\n" and len(quotes) == 1:
            return at
        else:
            at += 1
    return len(text)
