"""All settings in one record, each with its origin, and the table of what there is to set."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_type_hints

import msgspec

from callgate.settings.kinds import About, Expects, Secret
from callgate.settings.sections import (
    Detect,
    Discovery,
    Hub,
    LlamaCpp,
    Logging,
    Mcp,
    Models,
    Ollama,
    OpenAI,
    Serve,
    Storage,
    Timeouts,
    Tools,
)
from callgate.vocabulary import UsageError


class Settings(msgspec.Struct, frozen=True, kw_only=True):
    detect: Detect = Detect()
    ollama: Ollama = Ollama()
    openai: OpenAI = OpenAI()
    hub: Hub = Hub()
    discovery: Discovery = Discovery()
    timeouts: Timeouts = Timeouts()
    models: Models = Models()
    tools: Tools = Tools()
    mcp: Mcp = Mcp()
    llamacpp: LlamaCpp = LlamaCpp()
    serve: Serve = Serve()
    logging: Logging = Logging()
    storage: Storage = Storage()
    origins: Mapping[str, str] = {}
    """Where those come from that aren't at their defaults."""

    def origin(self, key: str) -> str:
        """`default`, `override`, `env:VARIABLE` or `file:PATH`. Raises: UsageError, if there is no such setting."""
        if key not in TABLE:
            raise no_such(key)
        return self.origins.get(key, "default")

    @property
    def data_folder(self) -> str:
        """Where what may not be lost is kept."""
        return self._folder("user_data_dir")

    @property
    def cache_folder(self) -> str:
        """Where what can be found out again is kept."""
        return self._folder("user_cache_dir", "cache")

    def _folder(self, of_platform: str, *below: str) -> str:
        if self.storage.home:
            return os.path.join(os.path.abspath(os.path.expanduser(self.storage.home)), *below)
        import platformdirs

        folder: str = getattr(platformdirs, of_platform)("callgate", appauthor=False)
        return folder


class Setting(msgspec.Struct, frozen=True):
    """One line of the table of settings."""

    section: str
    name: str
    type: Any
    default: Any
    help: str
    expects: str
    env: tuple[str, ...]
    is_secret: bool
    takes_several: bool

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"


def _settings() -> Iterator[Setting]:
    for section in msgspec.structs.fields(Settings):
        if section.name == "origins":
            continue
        hints = get_type_hints(section.type, include_extras=True)
        for field in msgspec.structs.fields(section.type):
            marks = {type(mark): mark for mark in getattr(hints[field.name], "__metadata__", ())}
            about = marks[About]
            own = f"CALLGATE_{section.name}_{field.name}".upper()
            yield Setting(
                section=section.name,
                name=field.name,
                type=field.type,
                default=field.default,
                help=about.help,
                expects=marks[Expects].words,
                env=(own, *about.env),
                is_secret=_can_be(hints[field.name], Secret),
                takes_several=marks[Expects].several,
            )


def _can_be(hint: Any, kind: type) -> bool:
    """However deep it lies: aliases, marks and unions may stand around it in any order."""
    return hint is kind or any(_can_be(part, kind) for part in get_args(hint))


TABLE: Mapping[str, Setting] = {setting.key: setting for setting in _settings()}


def no_such(key: str, where: str = "") -> UsageError:
    from difflib import get_close_matches

    key = key[:80]
    near = get_close_matches(key, TABLE, n=1, cutoff=0.8) or get_close_matches(key, TABLE, n=3)
    *others, last = [repr(each) for each in near] or ["nothing"]
    hint = f"did you mean {', '.join(others)}{' or ' * bool(others)}{last}?" if near else "`callgate config` lists them"
    return UsageError(f"there is no setting {key!r}{where}", hint=hint)
