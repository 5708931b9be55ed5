"""All settings, where each comes from, and how to change it.

A setting has the value that the environment gives it, else the settings file, else its default. The file is TOML; what
`set` and `unset` don't touch stays as you wrote it.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from contextlib import suppress

from callgate.cli import DONE
from callgate.cli.screen import Screen, print_json, printable
from callgate.registry import locked, make_folder, read_whole, write_whole
from callgate.settings import (
    LARGEST_FILE,
    TABLE,
    Secret,
    Setting,
    Settings,
    editable_text,
    load_settings,
    overruling_variable,
    place_of_settings_file,
    read_value,
    setting_named,
    with_setting,
    without_password,
    without_setting,
)
from callgate.vocabulary import ModelRef, NotFound, UsageError

EXAMPLES = """\
examples:
  callgate config                                   all of them
  callgate config --json | jq -r 'select(.origin != "default").key'
  callgate config get detect.cache_ttl
  callgate config set tools.strategy emulate
  callgate config set tools.allow 'time/*,git/git_log'
  callgate config set hub.token                     asks for it, so that nobody sees it
  callgate config unset tools.strategy              back to its default
  "${EDITOR:-vi}" "$(callgate config path)"

exit status: 0 done · 1 the file couldn't be written, or what is to be unset isn't there · 2 wrong usage
"""

_OWNER_ONLY = 0o600
_MODELS = ("models.default", "models.fallback")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line: key, value, origin")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", title="actions")
    _add(actions, "get", "print the value of one setting")
    setting = _add(actions, "set", "write a setting into the file")
    setting.add_argument("value", nargs="?", metavar="VALUE", help="without one it is read from standard input")
    _add(actions, "unset", "take a setting out of the file")
    _add(actions, "path", "print where the settings file is, or would be", key=False)


def _add(
    actions: argparse._SubParsersAction[argparse.ArgumentParser], name: str, summary: str, *, key: bool = True
) -> argparse.ArgumentParser:
    action = actions.add_parser(name, help=summary, description=summary)
    if key:
        action.add_argument("key", metavar="KEY", help="such as detect.cache_ttl")
    action.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one JSON object")
    return action


def run(arguments: argparse.Namespace) -> int:
    match arguments.action:
        case "get":
            _get(arguments.key, as_json=arguments.json)
        case "set":
            _set(arguments.key, arguments.value, as_json=arguments.json)
        case "unset":
            _unset(arguments.key, as_json=arguments.json)
        case "path":
            path = place_of_settings_file()
            print_json({"path": path}) if arguments.json else print(printable(path))
        case _:
            _show_all(load_settings(), as_json=arguments.json)
    return DONE


def _show_all(settings: Settings, *, as_json: bool) -> None:
    if as_json:
        for key in TABLE:
            print_json(_record(key, _value(settings, key), settings.origin(key)))
        return
    screen = Screen()
    rows = [[(heading, "dim") for heading in ("SETTING", "VALUE", "ORIGIN", "WHAT IT IS")]]
    for key, setting in TABLE.items():
        kind, _, where = settings.origin(key).partition(":")
        style = "" if kind == "default" else "strong"
        origin = where if kind == "env" else kind
        rows.append([(key, style), (_shown(_value(settings, key)), style), (origin, style), (setting.help, "dim")])
    screen.table(rows)
    screen.line(screen.styled(printable(f"the file: {place_of_settings_file()}"), "dim"))


def _get(key: str, *, as_json: bool) -> None:
    setting_named(key)
    settings = load_settings()
    value = _value(settings, key)
    if as_json:
        print_json(_record(key, value, settings.origin(key)))
    else:
        print("" if value is None else printable(_shown(value)))


def _set(key: str, text: str | None, *, as_json: bool) -> None:
    setting = setting_named(key)
    value = _checked(setting, _asked(setting) if text is None else text)
    plain = value.reveal() if isinstance(value, Secret) else value
    path = place_of_settings_file()
    _edit(path, lambda text: with_setting(text, key, plain), private=setting.is_secret)
    shown = _masked(setting, value)
    if as_json:
        print_json(_record(key, shown, f"file:{path}"))
    else:
        print(printable(f"{key}: {_shown(shown)}"))
        print(printable(f"kept in {path}"))
    if variable := overruling_variable(setting):
        _note(f"{variable} is set too, and counts more")


def _unset(key: str, *, as_json: bool) -> None:
    """Also what is no setting: an old name, or a mistake, has to be got rid of."""
    path = place_of_settings_file()

    def without(text: str) -> str:
        edited = without_setting(text, key)
        if edited is None:
            setting_named(key)
            raise NotFound(f"{key!r} isn't set in {path!r}", hint="`callgate config` shows where each comes from")
        return edited

    if not os.path.exists(path):
        without("")
    _edit(path, without)
    default = _masked(TABLE[key], TABLE[key].default) if key in TABLE else None
    if as_json:
        print_json(_record(key, default, "default"))
    else:
        print(printable(f"{key}: {_shown(default)}, its default" if key in TABLE else f"{key}: removed"))
    if key in TABLE and (variable := overruling_variable(TABLE[key])):
        _note(f"{variable} is set, and counts more")


def _checked(setting: Setting, text: str) -> object:
    """The value in the form in which it is kept. Raises: UsageError."""
    if not text.strip():
        raise UsageError(
            f"there is no value for {setting.key!r}: {setting.expects}", hint=f"`callgate config unset {setting.key}`"
        )
    value: object = read_value(setting, text)
    if setting.key in _MODELS:
        for name in text.split(",") if setting.takes_several else [text]:
            ModelRef.parse(name.strip())
    if setting.expects in ("a folder", "a path") and isinstance(value, str):
        # The file is read from wherever somebody stands; a bare name may be that of a program.
        is_relative = not os.path.isabs(value) and not value.startswith("~")
        return os.path.abspath(value) if is_relative and (os.sep in value or os.path.exists(value)) else value
    return value


def _asked(setting: Setting) -> str:
    if sys.stdin is not None and sys.stdin.isatty():
        question = f"{setting.key} ({setting.expects}): "
        if setting.is_secret:
            from getpass import getpass

            return getpass(question)
        return input(question)
    return sys.stdin.readline(LARGEST_FILE) if sys.stdin else ""


def _edit(path: str, change: Callable[[str], str], *, private: bool = False) -> None:
    """The file as `change` makes it, whole or not at all. What others may read they still may, unless it is `private`.

    Raises: UsageError or StorageError, and the file is as it was.
    """
    path = os.path.realpath(path)  # so that a link to it stays a link
    make_folder(path)
    with locked(path):
        content = read_whole(path, LARGEST_FILE)
        edited = change(editable_text(content or b"", path)).encode()
        editable_text(edited, path)
        mode = os.stat(path).st_mode & 0o777 if content is not None else _OWNER_ONLY
        write_whole(path, edited)
        if mode != _OWNER_ONLY and not private:
            with suppress(OSError):
                os.chmod(path, mode)


def _value(settings: Settings, key: str) -> object:
    setting = TABLE[key]
    return _masked(setting, getattr(getattr(settings, setting.section), setting.name))


def _masked(setting: Setting, value: object) -> object:
    """Fit to be seen by whoever looks over a shoulder."""
    if setting.is_secret:
        return "unset" if value is None else "set"
    if not isinstance(value, str):
        return value
    if setting.key == "ollama.host" and "://" not in value:  # it needn't begin with a scheme
        return without_password(f"://{value}").removeprefix("://")
    return without_password(value)


def _record(key: str, value: object, origin: str) -> dict[str, object]:
    texts = {"key": key, "value": value, "origin": origin}
    return {
        name: text.encode("utf-8", "replace").decode() if isinstance(text, str) else text
        for name, text in texts.items()
    }


def _shown(value: object) -> str:
    match value:
        case None:
            return "unset"
        case bool():
            return "true" if value else "false"
        case float():
            return f"{value:g}" if value < 1e6 else str(value)
    return str(value)


def _note(message: str) -> None:
    screen = Screen(sys.stderr)
    screen.line(screen.styled("note: ", "doubt") + printable(message))
