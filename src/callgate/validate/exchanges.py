"""One exchange as it went over the wire, for people to look at: without secrets, and not too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from callgate.runtime import redacted_text, without_keys
from callgate.vocabulary import ChatRequest
from callgate.wire import Exchange

LONGEST_TEXT = 2_000
LONGEST_ANSWER = 8_000
MOST_ITEMS = 200


def exchange_as_json(exchanges: Sequence[Exchange], planned: ChatRequest | None, said: str) -> dict[str, Any] | None:
    """The last of `exchanges`; where nothing went over a wire, what was `planned` and `said`."""
    if exchanges:
        last = exchanges[-1]
        received = last.received.decode("utf-8", "replace")
        return {
            "url": redacted_text(last.url),
            "sent": _body(last.sent),
            "status": last.status,
            "received": _shortened(redacted_text(received), LONGEST_ANSWER, was_longer=last.was_longer),
        }
    if planned is None:
        return None
    request = _cut(without_keys(msgspec.to_builtins(planned)))
    return {"sent": request, "received": _shortened(redacted_text(said), LONGEST_ANSWER), "over": "no wire"}


def _body(sent: bytes) -> Any:
    try:
        return _cut(without_keys(msgspec.json.decode(sent)))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return _shortened(redacted_text(sent.decode("utf-8", "replace")), LONGEST_ANSWER)


def _cut(value: Any) -> Any:
    """With nothing secret, and nothing that is too long."""
    match value:
        case str():
            return _shortened(redacted_text(value), LONGEST_TEXT)
        case dict():
            return {name: _cut(each) for name, each in list(value.items())[:MOST_ITEMS] if each is not None}
        case list() | tuple():
            return [_cut(each) for each in value[:MOST_ITEMS]]
    return value


def _shortened(text: str, longest: int, *, was_longer: bool = False) -> str:
    return text[:longest] + "…" if was_longer or len(text) > longest else text
