"""What went wrong with an MCP server, in words, and whether it is worth another try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import msgspec

from callgate.runtime.mcp.server_spec import HttpSpec, ServerSpec
from callgate.runtime.mcp.stderr_tail import StderrTail
from callgate.vocabulary import CallgateError, ToolServerFailed

_LONGEST = 300
_SESSION_LOST = 404
_WHO_ARE_YOU = (401, 403)


class Trouble(msgspec.Struct, frozen=True):
    """Why something that was asked of an open session failed."""

    kind: Literal["over", "session_lost", "refused", "nonsense"]
    words: str

    @classmethod
    def of(cls, error: Exception, *, is_over: bool, status: int | None) -> Trouble:
        """`status` is the last of HTTP that was an error."""
        from mcp import MCPError
        from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST
        from pydantic import ValidationError

        if isinstance(error, MCPError):
            if is_over:
                return cls("over", "it ended")
            if status == _SESSION_LOST and error.code == INVALID_REQUEST:
                return cls("session_lost", "it forgot the session")
            if status is not None and error.code == INTERNAL_ERROR:
                return cls("refused", f"it answered with HTTP status {status}")
            kind: Literal["over", "refused"] = "over" if error.code == CONNECTION_CLOSED else "refused"
            return cls(kind, plain(error.message) or f"error {error.code}")
        if is_over or isinstance(error, OSError):
            return cls("over", "it ended")
        if isinstance(error, ValidationError):
            return cls("nonsense", "its answer isn't what the protocol asks for")
        return cls("nonsense", plain(str(error)) or type(error).__name__)


def start_failure(
    spec: ServerSpec, tail: StderrTail, error: BaseException | None, status: int | None, limit: float
) -> CallgateError:
    """Why there is no session with a server."""
    if isinstance(error, CallgateError):
        return ToolServerFailed(
            f"the MCP server {spec.name!r} didn't start: {without(spec.secrets, error.message)}", hint=error.hint
        )
    if isinstance(spec, HttpSpec):
        return _http_failure(spec, error, status, limit)
    said = tail.last_line()
    if error is None:
        why = f"it didn't answer within {limit:g} s"
        hint = "the setting `mcp.start_timeout` says how long it may take"
        return ToolServerFailed(f"the MCP server {spec.name!r} didn't start: {why}{_quoted(said)}", hint=hint)
    if isinstance(error, OSError):
        why = f"{spec.command!r} can't be run: {error.strerror or error}"
        return ToolServerFailed(f"the MCP server {spec.name!r} didn't start: {why}", hint="see its command and its cwd")
    why = said or without(spec.secrets, plain(_first(error)))
    return ToolServerFailed(
        f"the MCP server {spec.name!r} didn't start: {why}", hint=f"does it run by hand? {spec.command} …"
    )


def _http_failure(spec: HttpSpec, error: BaseException | None, status: int | None, limit: float) -> ToolServerFailed:
    start = f"the MCP server {spec.name!r} at {spec.where} can't be used"
    if error is None:
        return ToolServerFailed(
            f"{start}: it didn't answer within {limit:g} s", hint="is it running, and is it this URL?"
        )
    if status in _WHO_ARE_YOU:
        return ToolServerFailed(
            f"{start}: it answered with HTTP status {status}", hint='its "headers" have to say who you are'
        )
    if status is not None:
        return ToolServerFailed(
            f"{start}: it answered with HTTP status {status}", hint="is it this URL? Most end in /mcp"
        )
    return ToolServerFailed(
        f"{start}: {without(spec.secrets, plain(_first(error)))}", hint="is it running, and is it this URL?"
    )


def plain(text: str) -> str:
    """A stranger's words, on one line."""
    return " ".join("".join(c if c.isprintable() else " " for c in text[: 4 * _LONGEST]).split())[:_LONGEST]


def without(secrets: tuple[str, ...], text: str) -> str:
    for secret in sorted(secrets, key=len, reverse=True):
        if len(secret) > 3:
            text = text.replace(secret, "…")
    return text


def _quoted(said: str) -> str:
    return f"; the last that it said: {said}" if said else ""


def _first(error: BaseException) -> str:
    """The words of the innermost error of groups of errors."""
    for inner in _innermost(error):
        return str(inner) or type(inner).__name__
    return type(error).__name__


def _innermost(error: BaseException) -> Iterator[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for one in error.exceptions:
            yield from _innermost(one)
    else:
        yield error
