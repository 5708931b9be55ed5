"""The file that names MCP servers, in the form that every client reads: `{"mcpServers": {NAME: {"command": …}}}`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec

from callgate.runtime.mcp.server_spec import HttpSpec, ServerSpec, StdioSpec
from callgate.runtime.mcp.variables import MissingVariable, TooLong, expand
from callgate.settings import Secret
from callgate.vocabulary import CallgateError, NotFound, UsageError

MOST_SERVERS = 100
_LARGEST_FILE = 1_000_000
_LONGEST_NAME = 64
_HTTP_TYPES = ("http", "streamable-http", "streamableHttp", "streamable_http")
_EXAMPLE = 'as in {"mcpServers": {"time": {"command": "uvx", "args": ["mcp-server-time"]}}}'


class ServerFailure(msgspec.Struct, frozen=True):
    """A server that there isn't, and why."""

    name: str
    error: CallgateError


class Servers(msgspec.Struct, frozen=True):
    """What a file says of servers."""

    specs: tuple[ServerSpec, ...] = ()
    failures: tuple[ServerFailure, ...] = ()
    """Entries that are no good; the others are none the worse for it."""


def read_servers(paths: Sequence[str], environ: Mapping[str, str] | None = None) -> Servers:
    """The servers of several files: of two with one name, the later counts.

    Raises: UsageError, if a file isn't there or isn't what it should be.
    """
    environ = os.environ if environ is None else environ
    entries: dict[str, object] = {}
    for path in paths:
        entries.update(_entries(path))
    specs: list[ServerSpec] = []
    failures: list[ServerFailure] = []
    for name, entry in entries.items():
        if isinstance(entry, Mapping) and entry.get("disabled") is True:
            continue
        try:
            specs.append(read_server(name, entry, environ))
        except UsageError as error:
            failures.append(ServerFailure("".join(c if c.isprintable() else "�" for c in name[:_LONGEST_NAME]), error))
    return Servers(tuple(specs), tuple(failures))


def read_server(name: str, entry: object, environ: Mapping[str, str]) -> ServerSpec:
    """One entry, with its variables in place. Raises: UsageError, which names the server."""
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise UsageError(
            f"{name[:_LONGEST_NAME]!r} is no name for an MCP server",
            hint=f"up to {_LONGEST_NAME} characters that can be printed",
        )
    if not isinstance(entry, Mapping):
        raise _bad(name, "its entry is no object")

    def expanded(value: object, what: str) -> str:
        if not isinstance(value, str) or "\0" in value:
            raise _bad(name, f"{what} is no text")
        try:
            return expand(value, environ)
        except MissingVariable as error:
            raise UsageError(
                f"the MCP server {name!r} can't be used: {what} needs the variable {str(error)!r}, which isn't set",
                hint=f"export {error}=…, or write ${{{error}:-a default}}",
            ) from None
        except TooLong:
            raise _bad(name, f"{what} is too long") from None

    kind = entry.get("type") or entry.get("transport") or ("stdio" if "command" in entry else "http")
    if kind == "stdio" and "command" in entry:
        return _stdio(name, entry, expanded)
    if kind in _HTTP_TYPES and "url" in entry:
        return _http(name, entry, expanded)
    if kind == "sse":
        raise UsageError(
            f"the MCP server {name!r} can't be used: it is to be reached over SSE, which streamable HTTP has replaced",
            hint='most servers have both: try "type": "http", and a URL that ends in /mcp',
        )
    if kind != "stdio" and kind not in _HTTP_TYPES:
        raise _bad(name, f"there is no type {str(kind)[:40]!r}")
    raise _bad(name, "it has neither a command nor a URL")


Expanded = Callable[[object, str], str]


def _stdio(name: str, entry: Mapping[str, Any], expanded: Expanded) -> StdioSpec:
    command = os.path.expanduser(expanded(entry["command"], "its command"))
    if not command.strip():
        raise _bad(name, "its command is empty")
    args = entry.get("args") or []
    if not isinstance(args, list):
        raise _bad(name, "its args are no list")
    cwd = entry.get("cwd")
    return StdioSpec(
        name=name,
        command=command,
        args=tuple(expanded(arg, f"argument {number}") for number, arg in enumerate(args, start=1)),
        env=_secrets(name, entry, "env", expanded),
        cwd=None if cwd is None else os.path.expanduser(expanded(cwd, "its cwd")),
    )


def _http(name: str, entry: Mapping[str, Any], expanded: Expanded) -> HttpSpec:
    from urllib.parse import urlsplit

    url = expanded(entry["url"], "its url")
    try:
        parts = urlsplit(url)
        is_good = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        is_good = False
    if not is_good or not url.isprintable() or " " in url:
        raise _bad(name, "its url is no URL, http:// or https://")
    headers = _secrets(name, entry, "headers", expanded)
    for key, value in headers.items():
        plain = value.reveal()
        if not (key.isascii() and key.isprintable() and key.strip() and plain.isprintable() and plain.isascii()):
            raise _bad(name, f"its header {key[:80]!r} can't be sent")
    return HttpSpec(name=name, url=Secret(url), headers=headers)


def _secrets(name: str, entry: Mapping[str, Any], key: str, expanded: Expanded) -> dict[str, Secret]:
    given = entry.get(key) or {}
    if not isinstance(given, Mapping):
        raise _bad(name, f"its {key} is no object")
    if any(not variable or "=" in variable or "\0" in variable for variable in given):
        raise _bad(name, f"its {key} has a name that is none")
    return {variable: Secret(expanded(value, f"{variable[:80]!r}")) for variable, value in given.items()}


def _bad(name: str, why: str) -> UsageError:
    return UsageError(f"the MCP server {name!r} can't be used: {why}", hint=_EXAMPLE)


def _entries(path: str) -> dict[str, object]:
    path = os.path.expanduser(path)
    try:
        with open(path, "rb") as file:
            content = file.read(_LARGEST_FILE + 1)
    except FileNotFoundError:
        raise NotFound(f"there is no file {path!r} with MCP servers", hint=_EXAMPLE) from None
    except OSError as error:
        raise UsageError(f"the file {path!r} with MCP servers can't be read: {error.strerror}") from None
    if len(content) > _LARGEST_FILE:
        raise UsageError(f"the file {path!r} is too large to be one that names MCP servers", hint=_EXAMPLE)
    try:
        whole: object = msgspec.json.decode(content)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"the file {path!r} with MCP servers is no JSON: {error}", hint=_EXAMPLE) from None
    servers = whole.get("mcpServers") if isinstance(whole, dict) else None
    if not isinstance(servers, dict):
        raise UsageError(f"the file {path!r} has no 'mcpServers'", hint=_EXAMPLE)
    if len(servers) > MOST_SERVERS:
        raise UsageError(f"the file {path!r} names {len(servers):,} MCP servers, and {MOST_SERVERS} are the most")
    return servers
