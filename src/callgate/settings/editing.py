"""One setting of a settings file, put in or taken out; the rest stays as its owner wrote it, comments and all.

The text is cut into statements, just far enough to know where each value begins and ends. Whatever comes of it is read
again: it must say what the old one said but for that one setting, or nothing is changed.
"""

from __future__ import annotations

import json
from typing import Any

from callgate.settings.kinds import without_password
from callgate.settings.record import TABLE
from callgate.settings.statements import Statement, statements
from callgate.vocabulary import UsageError

_SHORT_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}


def with_setting(text: str, key: str, value: object) -> str:
    """The file's text with `key` set to `value`. Raises: UsageError, if it can't be done without touching the rest."""
    section, _, name = key.partition(".")
    written = toml_value(value)
    expected = _tables(text)
    table = expected.setdefault(section, {})
    if not isinstance(table, dict):
        raise _too_hard(key, f"write {name} = {_shown(key, written)}")
    table[name] = _tables(f"value = {written}")["value"]
    found = list(statements(text))
    own = _find(found, (section, name))
    if own is not None:
        edited = text[: own.value_at] + written + text[own.value_end :]
    else:
        edited = _with_new(text, found, section, f"{name} = {written}")
    if not _says(edited, expected):
        raise _too_hard(key, f"write {name} = {_shown(key, written)}")
    return edited


def without_setting(text: str, key: str) -> str | None:
    """The file's text without `key`; `None` if it isn't there. Raises: as `with_setting` does."""
    path = tuple(key.split(".", 1))
    expected = _tables(text)
    table: object = expected.get(path[0]) if len(path) == 2 else expected
    if not isinstance(table, dict) or path[-1] not in table:
        return None
    del table[path[-1]]
    own = _find(list(statements(text)), path)
    edited = text[: own.line_at] + text[own.line_end :] if own else text
    if not table and _find(list(statements(edited)), path[:1]) is None:
        expected.pop(path[0], None)  # it was but the dotted name of what is gone
    if not _says(edited, expected):
        raise _too_hard(key, f"remove {path[-1]}")
    return edited


def toml_value(value: object) -> str:
    """As TOML writes it. Raises: UsageError, if it is a text that can't be written."""
    match value:
        case bool():
            return "true" if value else "false"
        case float() if value.is_integer():
            return str(int(value))
        case str():
            if any("\ud800" <= letter <= "\udfff" for letter in value):
                raise UsageError("a text with bytes in it that are no letters can't be kept", hint="use UTF-8")
            return f'"{"".join(map(_escaped, value))}"'
    return str(value)


def _escaped(letter: str) -> str:
    if letter in _SHORT_ESCAPES:
        return _SHORT_ESCAPES[letter]
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"


def _with_new(text: str, found: list[Statement], section: str, line: str) -> str:
    """Behind the last line of its section, in the way that the section is written; else in a new one at the end."""
    newline = "\r\n" if "\r\n" in text else "\n"
    in_table = [each for each in found if each.table == (section,)]
    dotted = [each for each in found if each.table == () and each.path[0] == section and len(each.path) == 2]
    if in_table:
        at = in_table[-1].line_end
    elif dotted:
        at, line = dotted[-1].line_end, f"{section}.{line}"
    else:
        gap = newline if text.strip() else ""
        at, line = len(text), f"{gap}[{section}]{newline}{line}"
    head = text[:at]
    if head and not head.endswith("\n"):
        head += newline
    return head + line + newline + text[at:]


def _find(found: list[Statement], path: tuple[str, ...]) -> Statement | None:
    return next((each for each in found if each.path == path), None)


def _tables(text: str) -> dict[str, Any]:
    import tomllib

    return tomllib.loads(text)


def _says(text: str, expected: dict[str, Any]) -> bool:
    import tomllib

    try:
        return _canonical(_tables(text)) == _canonical(expected)
    except (tomllib.TOMLDecodeError, RecursionError):
        return False


def _canonical(tables: dict[str, Any]) -> str:
    """The same for what says the same, in whatever order; also of numbers that don't equal themselves."""
    return json.dumps(tables, sort_keys=True, default=repr)


def _shown(key: str, written: str) -> str:
    return '"…"' if key in TABLE and TABLE[key].is_secret else without_password(written)


def _too_hard(key: str, todo: str) -> UsageError:
    return UsageError(
        f"the settings file is written in a way that {key!r} can't be changed without touching the rest",
        hint=f"edit it yourself, below [{key.partition('.')[0]}]: {todo}",
    )
