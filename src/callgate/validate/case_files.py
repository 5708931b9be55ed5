"""Cases out of files: those that come with callgate, and a user's own.

A folder has any number of files, in JSON or TOML, each with `tools`, `cases` or both; the tools of a folder are shared.

    {"tools": [{"name": "get_weather", "parameters": {…}}],
     "cases": [{"name": "one-call", "check": "toolCall", "about": "one tool, one call", "tools": ["get_weather"],
                "ask": ["What's the weather in {city}?"], "values": [{"city": "Paris"}, {"city": "Oslo"}],
                "expect": {"calls": [{"name": "get_weather", "arguments": {"city": "{city}"}}]}}]}
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Literal

import msgspec

from callgate.tools import read_tools
from callgate.validate.case_checks import flaw_as_put, flaw_of
from callgate.validate.case_records import ALL_TOOLS, Case, KnownCase, SecretKind
from callgate.validate.filling import fill
from callgate.vocabulary import NotFound, Tool, UsageError

Suite = Literal["quick", "full"]
ENDINGS = (".json", ".toml")
LARGEST_FILE = 16 << 20
MOST_FILES = 1_000
MOST_COMBINATIONS = 10_000
_SECRETS: Mapping[SecretKind, str | int] = {"number": 12345, "code": "AB1234", "word": "Badefa"}
"""As they look."""
OWN_FOLDER = os.path.join(os.path.dirname(__file__), "cases")


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    tools: list[Any] = []
    cases: tuple[Case, ...] = ()


@cache
def own_cases() -> tuple[KnownCase, ...]:
    """Those that come with callgate."""
    return tuple(_read_folder(OWN_FOLDER, is_users=False))


def read_cases(folder: str) -> tuple[KnownCase, ...]:
    """A user's own. Raises: NotFound or UsageError, which name the file and what is wrong in it."""
    if not os.path.isdir(folder):
        raise NotFound(f"there is no folder {folder!r}", hint="--cases takes a folder with files of cases in it")
    found = tuple(_read_folder(folder, is_users=True))
    if not found:
        raise UsageError(f"there are no cases in {folder!r}", hint=f"in files that end in {' or '.join(ENDINGS)}")
    return found


def chosen_cases(
    suite: Suite = "quick", *, folders: Iterable[str] = (), only: Iterable[str] = ()
) -> tuple[KnownCase, ...]:
    """The cases of a suite and of `folders`; or those of any suite whose name or check is one of `only`: `long-*`.

    Raises: NotFound or UsageError.
    """
    known = (*own_cases(), *(case for folder in folders for case in read_cases(folder)))
    names = [each.case.name for each in known]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise UsageError(f"there are two cases called {twice!r}", hint="give one of them another name")
    patterns = tuple(only)
    for pattern in patterns:
        if not any(_is_meant(each.case, pattern) for each in known):
            raise UsageError(f"there is no case {pattern!r}", hint="callgate validate --list shows what there is")
    if patterns:
        return tuple(each for each in known if any(_is_meant(each.case, pattern) for pattern in patterns))
    return tuple(each for each in known if suite == "full" or each.case.quick or each.is_users)


def _is_meant(case: Case, pattern: str) -> bool:
    return fnmatchcase(case.name, pattern) or case.check == pattern


def _read_folder(folder: str, *, is_users: bool) -> Iterator[KnownCase]:
    try:
        names = sorted(name for name in os.listdir(folder) if name.lower().endswith(ENDINGS))
    except OSError as error:
        raise UsageError(f"{folder!r} can't be read: {error.strerror}") from None
    if len(names) > MOST_FILES:
        raise UsageError(f"{folder!r} has more than {MOST_FILES:,} files of cases")
    files = {path: _read_file(path) for path in (os.path.join(folder, name) for name in names)}
    tools: dict[str, Tool] = {}
    for path, file in files.items():
        for tool in _tools(path, file):
            if tool.name in tools:
                raise UsageError(f"{path!r} has another tool {tool.name!r}", hint="the files of a folder share tools")
            tools[tool.name] = tool
    for path, file in files.items():
        for case in file.cases:
            yield _known(case, tools, path, is_users=is_users)


def _read_file(path: str) -> _File:
    try:
        with open(path, "rb") as file:
            content = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise UsageError(f"{path!r} can't be read: {error.strerror}") from None
    if len(content) > LARGEST_FILE:
        raise UsageError(f"{path!r} has more than {LARGEST_FILE >> 20} MB")
    try:
        if path.lower().endswith(".toml"):
            return msgspec.toml.decode(content, type=_File)
        return msgspec.json.decode(content, type=_File)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(
            f"{path!r} is no file of cases: {error}", hint="docs/validate.md tells how to write one"
        ) from None


def _tools(path: str, file: _File) -> Sequence[Tool]:
    try:
        return read_tools(file.tools)
    except UsageError as error:
        raise UsageError(f"{path!r} has a tool that is no good: {error.message}", hint=error.hint) from None


def _known(case: Case, tools: Mapping[str, Tool], path: str, *, is_users: bool) -> KnownCase:
    def wrong(what: str, hint: str | None = None) -> UsageError:
        return UsageError(f"the case {case.name!r} in {path!r} {what}", hint=hint)

    if not case.name or not case.check:
        raise wrong("needs a name and a check")
    if not case.ask or not case.values:
        raise wrong("needs at least one question under 'ask', and values, if there are any")
    if len(case.ask) * len(case.values) > MOST_COMBINATIONS:
        raise wrong(f"has more than {MOST_COMBINATIONS:,} combinations of wordings and values")
    named = tuple(tools) if ALL_TOOLS in case.tools else case.tools
    for name in named:
        if name not in tools:
            raise wrong(f"offers the tool {name!r}, which isn't there", f"there are: {', '.join(tools) or 'none'}")
    offered = tuple(tools[name] for name in named)
    if case.tool_choice not in (None, "auto", "none", "required", *named):
        raise wrong(f"has the tool_choice {case.tool_choice!r}", "auto, none, required, or a tool that is offered")
    if flaw := flaw_of(case, {tool.name: tool for tool in offered}):
        raise wrong(flaw, "docs/validate.md tells what may be under 'expect' and 'then'")
    secrets = {name: _SECRETS[kind] for name, kind in case.secrets.items()}
    for values in case.values:
        for wording in range(len(case.ask)):
            try:
                as_put = fill(case, wording, {**values, **secrets})
            except UsageError as error:
                raise UsageError(f"{path!r}: {error.message}", hint=error.hint) from None
            if flaw := flaw_as_put(as_put, {tool.name: tool for tool in offered}):
                raise wrong(flaw, "what is expected has to be right by the tool's own schema")
    return KnownCase(case, offered, is_users)
