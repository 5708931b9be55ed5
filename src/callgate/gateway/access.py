"""The access log: a JSON object for each request, without anything that was said."""

from __future__ import annotations

import logging
import os
import time

import msgspec

from callgate.gateway.turns import Told
from callgate.wire import shown_ref

log = logging.getLogger(__name__)

_OWNER_ONLY = 0o600


class Noted(msgspec.Struct):
    """What is to be told of a request when it is over."""

    method: str
    route: str
    """As it stands in the table of routes, not as the client wrote it."""
    status: int = 0
    seconds: float = 0.0
    request_id: str = ""
    """As the client knows it, where its dialect has one."""
    told: Told | None = None
    broken_by: str | None = None
    """What ended an answer that had begun."""

    @property
    def model(self) -> str:
        return self.told.model if self.told else ""

    def write(self, path: str | None = None) -> None:
        """To the log, and to the file at `path`."""
        if path is None and not log.isEnabledFor(logging.INFO):
            return
        line = self._line()
        log.info("%s", line.decode())
        if path is not None:
            try:
                append(path, b'{"at":"%s",%s\n' % (_now().encode(), line[1:]))
            except OSError as error:
                log.warning("the access log %r can't be written: %s", path, error.strerror)

    def _line(self) -> bytes:
        line: dict[str, object] = {
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(self.seconds * 1000, 1),
        }
        if self.request_id:
            line["request_id"] = self.request_id
        if told := self.told:
            line |= {"model": _text(shown_ref(told.ref)), "mode": told.mode, "repairs": len(told.repairs)}
            if told.trimmed:
                line["tools_trimmed"] = told.trimmed
            if told.notices:
                line["notices"] = told.kinds
            if told.first_seconds is not None:
                line["first_ms"] = round(told.first_seconds * 1000, 1)
            if told.usage:
                line["prompt_tokens"] = told.usage.prompt_tokens
                line["completion_tokens"] = told.usage.completion_tokens
            if error := self.broken_by or (type(told.error).__name__ if told.error else None):
                line["error"] = error
        return msgspec.json.encode(line)


def append(path: str, line: bytes = b"") -> None:
    """Opened each time, so that whoever moves the file aside gets a new one. Raises: OSError."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, _OWNER_ONLY)
    try:
        os.write(handle, line)
    finally:
        os.close(handle)


def _now() -> str:
    now = time.time()
    return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now))}.{int(now % 1 * 1000):03}Z"


def _text(name: str) -> str:
    """A file's name may have bytes in it that are no text."""
    return name.encode("utf-8", "replace").decode()
