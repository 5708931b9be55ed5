"""Keeps what a model was asked and what it answered, for `scripted:FILE` to play back.

Keys and passwords never get in: they travel in headers, which no request has, and what is named like one is left out.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from callgate.runtime.redaction import redacted_events, redacted_request, redacted_text, without_keys
from callgate.vocabulary import (
    BadStatus,
    CallgateError,
    ChatRequest,
    Done,
    Event,
    ModelRef,
    ToolCallEvent,
    UsageError,
    event_as_json,
)

VERSION = 1


class Recorder:
    """Writes one recording, of as many exchanges as there are.

    Each event is on disk before it goes on. With `redact`, the arguments of calls, pictures, and whatever looks like a
    secret are blotted out, in their length; an exchange is written when it has ended then, for a secret may come in
    pieces.
    """

    def __init__(self, path: str, *, ref: ModelRef, redact: bool = False) -> None:
        """Raises: UsageError, if the file can't be written."""
        self._redact = redact
        self._path = path
        try:
            self._file = open(path, "w", encoding="ascii")  # noqa: SIM115
        except OSError as error:
            raise UsageError(f"the recording {path!r} can't be written: {error.strerror}") from None
        name = ref.name if ref.endpoint else str(ref)  # an address may have a password in it
        self._write({"callgate_recording": VERSION, "model": name, "backend": ref.scheme})

    async def record(self, events: AsyncGenerator[Event, None], request: ChatRequest) -> AsyncGenerator[Event, None]:
        """The same events, kept on their way. Raises: what `events` does; UsageError, if the file can't be written."""
        self._write({"request": _plain(redacted_request(request) if self._redact else request)})
        started = time.monotonic()
        held: list[_Kept] = []
        ended = False
        try:
            async with aclosing(events):
                async for event in events:
                    kept = _Kept(round(time.monotonic() - started, 6), event)
                    if self._redact:
                        held.append(kept)
                    else:
                        self._write(_line(kept))
                    ended = isinstance(event, Done)
                    yield event
        except (GeneratorExit, asyncio.CancelledError):
            self._write_held(held)
            if not ended:
                self._write(_line(_Kept(round(time.monotonic() - started, 6), Done("cancelled"))))
            raise
        except CallgateError as error:
            self._write_held(held)
            self._write({"at": round(time.monotonic() - started, 6), "error": self._error(error)})
            raise
        finally:
            self._write_held(held)

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _error(self, error: CallgateError) -> dict[str, Any]:
        said = [error.message, error.hint]
        message, hint = [redacted_text(text) if self._redact and text else text for text in said]
        status = {"status": error.status} if isinstance(error, BadStatus) else {}
        return {"type": type(error).__name__, "message": message, "hint": hint, **status}

    def _write_held(self, held: list[_Kept]) -> None:
        events = redacted_events([kept.event for kept in held])
        self._write(*(_line(_Kept(kept.at, event)) for kept, event in zip(held, events, strict=True)))
        held.clear()

    def _write(self, *lines: Mapping[str, Any]) -> None:
        """Whole lines, so that whatever ends us leaves a recording that can be played."""
        if not lines:
            return
        try:
            self._file.write("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines))
            self._file.flush()
        except OSError as error:
            raise UsageError(f"the recording {self._path!r} can't be written: {error.strerror}") from None


class _Kept(NamedTuple):
    at: float
    event: Event


def _line(kept: _Kept) -> dict[str, Any]:
    event = event_as_json(kept.event)
    if isinstance(kept.event, ToolCallEvent) and kept.event.call.raw is not None:
        event["data"]["raw"] = kept.event.call.raw
    return {"at": kept.at, "event": event}


def _plain(request: ChatRequest) -> Any:
    plain = msgspec.to_builtins(request)
    return {**plain, "options": without_keys(plain["options"]), "extra": without_keys(plain["extra"])}
