"""A chat for programs: messages and commands come in a line each, events go out as one JSON object a line."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from callgate.backends import Loading
from callgate.chat.items import Line, Shown
from callgate.chat.plain_view import PlainView
from callgate.chat.views import Ask, Kind, Status
from callgate.runtime import LoopEvent, error_as_json, loop_event_as_json
from callgate.vocabulary import CallgateError

_OBEYED = {code: f"\\u{code:04x}" for code in (*range(0x7F, 0xA0), 0x2028, 0x2029)}
"""What JSON lets through, and terminals obey."""


class JsonView(PlainView):
    """Nobody is asked anything."""

    def __init__(self) -> None:
        super().__init__()
        self._asks = False

    def tell(self, text: str, kind: Kind = "note", data: Mapping[str, Any] | None = None) -> None:
        shape = "model" if kind in ("first", "swap") else "reply" if kind == "reply" else "notice"
        _print({"type": shape, "data": {"kind": kind, "message": text, **(data or {})}})

    def show_text(self, text: str, name: str, data: Mapping[str, Any]) -> None:  # noqa: ARG002
        _print({"type": name, "data": data})

    def show_history(self, items: Sequence[Shown]) -> None:
        for item in items:
            if isinstance(item, Line):
                self.tell(item.text, "swap" if item.kind == "swap" else "note", {"model": item.model, "past": True})
            else:
                _print({"type": "message", "data": item.message})

    def begin(self, model: str) -> None:
        _print({"type": "turn", "data": {"model": model}})

    def show(self, event: LoopEvent) -> None:
        _print(loop_event_as_json(event))

    def end(self, *, stopped: bool = False) -> None:
        if stopped:
            _print({"type": "done", "data": {"reason": "cancelled"}})

    def loading(self, how_far: Loading) -> None:
        """Programs wait without being told."""

    def failed(self, error: CallgateError) -> None:
        self.failures += 1
        _print({"error": error_as_json(error)})

    def status(self, status: Status) -> None:
        """They can count themselves."""

    async def ask(self, ask: Ask) -> str | None:  # noqa: ARG002
        return None

    async def close(self) -> None:
        """All is out."""


def _print(record: Mapping[str, Any]) -> None:
    line = msgspec.json.encode(record, enc_hook=str).decode().translate(_OBEYED)
    if not (sys.stdout.encoding or "").lower().startswith("utf"):
        import json

        line = json.dumps(json.loads(line), separators=(",", ":"))
    print(line, flush=True)
