"""What is kept of one model: the fields that we know, out of an entry that may have others too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypedDict, TypeVar

import msgspec

from callgate.registry.keys import key_of_id

Entry = Mapping[str, msgspec.Raw]
"""An entry as it stands in the file: each field's value is the text that somebody wrote."""

MOST_TOKENS = 1 << 40
_WORDS = {"yes": True, "true": True, "no": False, "false": False}
T = TypeVar("T")


class Fields(TypedDict, total=False):
    """What can be said of a model. `None` takes a field away."""

    name: str | None
    tool_support: bool | None
    tool_support_source: str | None
    """`user_confirmed`, `auto_detected`, `runtime_error` or `profile`."""
    tool_support_confirmed_at: str | None
    last_seen: str | None
    endpoint: str | None
    digest: str | None
    server_version: str | None
    manual_context: int | None
    validated_at: str | None
    validated_digest: str | None
    validated_suite: str | None
    validated_rates: Mapping[str, float] | None
    """What part of the trials passed, by mode."""


class ModelRecord(msgspec.Struct, frozen=True, kw_only=True):
    """What is kept of one model. A field that isn't there, or isn't what it should be, is `None`."""

    id: str
    """As it stands in the file."""
    name: str | None = None
    tool_support: bool | None = None
    tool_support_source: str | None = None
    tool_support_confirmed_at: str | None = None
    """When that was said or seen, as all times here in ISO 8601 with a `Z`."""
    last_seen: str | None = None
    endpoint: str | None = None
    digest: str | None = None
    """Of the model that was seen: if it has another by now, it isn't the same."""
    server_version: str | None = None
    manual_context: int | None = None
    """The length of its context, by the user's word."""
    validated_at: str | None = None
    validated_digest: str | None = None
    """Of the model that was validated: if it has another by now, that doesn't count."""
    validated_suite: str | None = None
    validated_rates: Mapping[str, float] = {}
    """What part of the trials passed, by mode."""
    entry: Entry = {}

    def as_json(self) -> dict[str, Any]:
        """The whole entry, with what we don't know of it, in the order of the file; each value on one line."""
        return {name: msgspec.Raw(msgspec.json.format(value, indent=-1)) for name, value in self.entry.items()}

    @property
    def key(self) -> str | None:
        """By which models are told apart, as `key_of` gives it; `None` where the id names none."""
        return key_of_id(self.id)

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the fields that we know nothing of."""
        return tuple(name for name in self.entry if name != "id" and name not in Fields.__annotations__)


def record_of(entry: Entry) -> ModelRecord | None:
    """`None` for an entry without an `id`."""
    named = _value(entry, "id", str)
    if not named:
        return None
    context = _value(entry, "manual_context", int)
    return ModelRecord(
        id=named,
        name=_value(entry, "name", str),
        tool_support=_support(entry),
        tool_support_source=_value(entry, "tool_support_source", str),
        tool_support_confirmed_at=_value(entry, "tool_support_confirmed_at", str),
        last_seen=_value(entry, "last_seen", str),
        endpoint=_value(entry, "endpoint", str),
        digest=_value(entry, "digest", str),
        server_version=_value(entry, "server_version", str),
        manual_context=context if context and 0 < context <= MOST_TOKENS else None,
        validated_at=_value(entry, "validated_at", str),
        validated_digest=_value(entry, "validated_digest", str),
        validated_suite=_value(entry, "validated_suite", str),
        validated_rates=_rates(entry),
        entry=entry,
    )


def id_in(entry: Entry) -> str | None:
    return _value(entry, "id", str) or None


def changed(entry: Entry, fields: Fields) -> Entry:
    """`entry` with `fields` in it: each in its old place, new ones at the end, all others untouched."""
    result = dict(entry)
    for name, value in fields.items():
        if value is None:
            result.pop(name, None)
        elif not _is_already(result.get(name), value):
            result[name] = msgspec.Raw(msgspec.json.encode(value))
    return result


def _is_already(raw: msgspec.Raw | None, value: object) -> bool:
    """So that what is said twice is written once, in the words that it was first said in."""
    if raw is None:
        return False
    try:
        old = msgspec.json.decode(raw)
    except (msgspec.DecodeError, RecursionError):
        return False
    return type(old) is type(value) and bool(old == value)


def _support(entry: Entry) -> bool | None:
    said = _value(entry, "tool_support", bool)
    return said if said is not None else _WORDS.get((_value(entry, "tool_support", str) or "").lower())


def _rates(entry: Entry) -> Mapping[str, float]:
    rates: dict[str, Any] = _value(entry, "validated_rates", dict) or {}
    return {mode: float(rate) for mode, rate in rates.items() if type(rate) in (int, float) and 0 <= rate <= 1}


def _value(entry: Entry, name: str, kind: type[T]) -> T | None:
    if (raw := entry.get(name)) is None:
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def moment_of(at: float) -> str:
    """A time in seconds since the epoch as it is written down."""
    from datetime import UTC, datetime

    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def as_moment(written: str | None) -> float | None:
    """The same read again; `None` for what is no time."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(written or "")
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
