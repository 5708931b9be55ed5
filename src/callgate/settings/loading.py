"""Settings as they are now: an override counts most, then the environment, then the file, then the default.

Nobody else reads the environment.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from callgate.settings.files import read_settings_file, settings_file
from callgate.settings.kinds import Secret, without_password
from callgate.settings.record import TABLE, Setting, Settings, no_such
from callgate.vocabulary import UsageError

_FOR_OTHERS = ("CALLGATE_CI", "CALLGATE_DEV_", "CALLGATE_TEST_")
"""What the workshop and the tests read."""


def load_settings(
    overrides: Mapping[str, object] | None = None,
    environ: Mapping[str, str] | None = None,
    *,
    mistaken: Callable[[UsageError], None] | None = None,
) -> Settings:
    """All settings as they are now; `overrides` by key, such as `detect.cache_ttl`. `mistaken` is told of each that is
    no good, which then is as if nobody had made it.

    Raises: UsageError, if nobody is told; it names the setting, its value, where it comes from and what is expected.
    """
    environ = os.environ if environ is None else environ
    tell = mistaken or _refuse
    found: dict[str, tuple[object, str]] = {}
    path = settings_file(environ)
    if path is not None:
        try:
            found.update({key: (value, f"file:{path}") for key, value in read_settings_file(path, tell)})
        except UsageError as error:
            tell(error)
    for key, setting in TABLE.items():
        if variable := overruling_variable(setting, environ):
            found[key] = environ[variable].strip(), f"env:{variable}"
    for key, value in (overrides or {}).items():
        if key not in TABLE:
            tell(no_such(key))
        else:
            found[key] = value, "override"

    sections: dict[str, dict[str, Any]] = {}
    origins: dict[str, str] = {}
    for key, (value, origin) in found.items():
        setting = TABLE[key]
        try:
            sections.setdefault(setting.section, {})[setting.name] = converted(setting, value, origin)
        except UsageError as error:
            tell(error)
        else:
            origins[key] = origin
    made = {name: msgspec.structs.replace(getattr(Settings(), name), **values) for name, values in sections.items()}
    return Settings(**made, origins=origins)


def _refuse(mistake: UsageError) -> None:
    raise mistake


def setting_named(key: str) -> Setting:
    """Raises: UsageError, which names the nearest."""
    if key not in TABLE:
        raise no_such(key)
    return TABLE[key]


def read_value(setting: Setting, text: str) -> Any:
    """What somebody wrote for it. Raises: UsageError, which says what is expected."""
    return converted(setting, text.strip(), "as you wrote it", is_text=True)


def overruling_variable(setting: Setting, environ: Mapping[str, str] | None = None) -> str | None:
    """The variable that counts more than what the file says of it, if one is set."""
    environ = os.environ if environ is None else environ
    return next((name for name in setting.env if environ.get(name, "").strip()), None)


def unknown_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """Variables that look as if they were ours, and set nothing: misspelt, most likely."""
    environ = os.environ if environ is None else environ
    known = {"CALLGATE_CONFIG", *(name for setting in TABLE.values() for name in setting.env)}
    return sorted(name for name in environ if name.startswith("CALLGATE_") and not _is_known(name, known))


def nearest_variable(name: str) -> str | None:
    """What somebody may have meant by a variable that sets nothing."""
    from difflib import get_close_matches

    known = ["CALLGATE_CONFIG", *(variable for setting in TABLE.values() for variable in setting.env)]
    return next(iter(get_close_matches(name[:80], known, n=1, cutoff=0.8)), None)


def _is_known(name: str, known: set[str]) -> bool:
    return name in known or name.startswith(_FOR_OTHERS)


def converted(setting: Setting, value: object, origin: str, *, is_text: bool = False) -> Any:
    """The value as the record has it. What comes as text (from the environment always) is read as what is asked for.

    Raises: UsageError.
    """
    is_text = is_text or origin.startswith("env:")
    if setting.takes_several and isinstance(value, list) and all(isinstance(part, str) for part in value):
        value = ",".join(value)
    try:
        return msgspec.convert(value, setting.type, strict=not is_text, dec_hook=_secret)
    except (msgspec.ValidationError, OverflowError):
        shown = "" if setting.is_secret else f" is {without_password(str(value))[:80]!r}, which"
        raise UsageError(
            f"the setting {setting.key!r} ({origin}){shown} isn't {setting.expects}",
            hint=f"it is {setting.help}; its default is {setting.default!r}",
        ) from None


def _secret(type_: type, value: object) -> Secret:
    if (
        type_ is Secret
        and isinstance(value, str)
        and value
        and value.isascii()
        and value.isprintable()
        and " " not in value
    ):
        return Secret(value)
    raise msgspec.ValidationError
