"""The settings file: TOML, with a table for each section.

`CALLGATE_CONFIG` names it, or else it is `config.toml` in `CALLGATE_HOME`, or in callgate's folder among the user's
settings.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping

from callgate.settings.record import TABLE, no_such
from callgate.vocabulary import UsageError

LARGEST_FILE = 1_000_000


def settings_file(environ: Mapping[str, str] | None = None) -> str | None:
    """The settings file, where there is one. One that `CALLGATE_CONFIG` names has to be there."""
    environ = os.environ if environ is None else environ
    if named := _named(environ):
        return named
    path = _usual(environ)
    return path if path and os.path.isfile(path) else None


def place_of_settings_file(environ: Mapping[str, str] | None = None) -> str:
    """Where it is, or would be. Raises: UsageError, if that can't be told."""
    environ = os.environ if environ is None else environ
    if path := _named(environ) or _usual(environ):
        return os.path.abspath(path)
    raise UsageError("there is no folder for your settings", hint="CALLGATE_CONFIG names the file")


def _named(environ: Mapping[str, str]) -> str:
    return environ.get("CALLGATE_CONFIG", "").strip()


def _usual(environ: Mapping[str, str]) -> str:
    folder = environ.get("CALLGATE_HOME", "").strip() or _users_folder(environ)
    return folder and os.path.join(folder, "config.toml")


def _users_folder(environ: Mapping[str, str]) -> str:
    """Where this platform keeps a user's settings; empty where it can't be told."""
    home = environ.get("HOME", "")
    if sys.platform == "win32":
        base = environ.get("APPDATA", "")
    elif sys.platform == "darwin":
        base = home and os.path.join(home, "Library", "Application Support")
    else:
        base = environ.get("XDG_CONFIG_HOME", "") or (home and os.path.join(home, ".config"))
    return base and os.path.join(base, "callgate")


def read_settings_file(path: str, mistaken: Callable[[UsageError], None]) -> Iterator[tuple[str, object]]:
    """Each key with its value, as it stands there; what is no setting is told to `mistaken`. Raises: UsageError."""
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(
            f"the settings file {path!r} can't be read: {error.strerror}", hint="see CALLGATE_CONFIG"
        ) from None
    for section, table in _tables(content, path).items():
        if not isinstance(table, dict):
            mistaken(no_such(section, f" in the file {path!r}"))
            continue
        for name, value in table.items():
            key = f"{section}.{name}"
            if key in TABLE:
                yield key, value
            else:
                mistaken(no_such(key, f" in the file {path!r}"))


def editable_text(content: bytes, path: str) -> str:
    """The text of the file `path`, which may have settings in it that there aren't. Raises: UsageError."""
    _tables(content, path)
    return content.decode()


def _tables(content: bytes, path: str) -> dict[str, object]:
    import tomllib

    if len(content) > LARGEST_FILE:
        raise UsageError(f"the settings file {path!r} is too large", hint="nothing but settings belongs there")
    try:
        return tomllib.loads(content.decode())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"the settings file {path!r} isn't TOML: {error}",
            hint="mend that place; a setting looks like `cache_ttl = 600`, on a line below its section, `[detect]`",
        ) from None
