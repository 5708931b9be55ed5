"""Blots out what nobody else should see in a recording; lengths stay, so that it still plays the same."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from typing import Any

import msgspec

from callgate.vocabulary import (
    AssistantDelta,
    ChatRequest,
    Event,
    Image,
    Message,
    Notice,
    Repair,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
)

BLOT = "x"
DEEPEST = 64
_KEY_NAMES = r"(?:api|access|secret|private|auth)[_-]?(?:key|token)|authorization|passw(?:or)?d|passphrase|secret"
_KEY = re.compile(_KEY_NAMES, re.IGNORECASE)
_SECRETS = re.compile(
    r"""
      (?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}                        # OpenAI, Anthropic, Stripe
    | (?:hf|gsk|npm|glpat|dop_v1|shpat)[-_][A-Za-z0-9_-]{16,}   # Hugging Face, Groq, npm, GitLab …
    | gh[opsur]_[A-Za-z0-9]{20,} | github_pat_[A-Za-z0-9_]{20,}
    | (?:AKIA|ASIA)[0-9A-Z]{16} | AIza[A-Za-z0-9_-]{30,} | xox[abeoprs]-[A-Za-z0-9-]{10,}
    | eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?     # a JSON web token
    | -----BEGIN\ [A-Z ]{0,40}PRIVATE\ KEY-----[A-Za-z0-9+/=\s:,-]*
    | (?<=://)[^\s/@:]{1,256}:[^\s/@]{1,256}(?=@)               # in a URL
    | (?i:(?<=bearer\ )|(?<=basic\ ))[A-Za-z0-9._~+/=-]{8,}
    | [A-Fa-f0-9]{32,} | (?=[A-Za-z0-9+/_-]{0,40}[0-9])[A-Za-z0-9+/_-]{40,}={0,2}   # long and random
    """,
    re.VERBOSE,
)
_ASSIGNED = re.compile(
    rf"(?P<name>\b[\w-]{{0,40}}(?:{_KEY_NAMES})[\w-]{{0,40}}[\"']?\s{{0,4}}(?:[:=]|\bis\b)\s{{0,4}}[\"']?)"
    r"(?P<value>[^\s\"',;]{4,})",
    re.IGNORECASE,
)


def redacted_text(text: str) -> str:
    """`text` without what looks like a secret."""
    text = _SECRETS.sub(lambda found: BLOT * len(found[0]), text)
    return _ASSIGNED.sub(lambda found: found["name"] + BLOT * len(found["value"]), text)


def redacted_events(events: Sequence[Event]) -> list[Event]:
    """The same events, as many and as long. A secret is found even if it came in pieces."""
    redacted: list[Event] = []
    for kind, group in groupby(events, type):
        pieces = list(group)
        if kind is AssistantDelta or kind is ThinkingDelta:
            texts = [piece.text for piece in pieces if isinstance(piece, AssistantDelta | ThinkingDelta)]
            redacted += [kind(text) for text in _redacted_pieces(texts)]
        else:
            redacted += [_redacted_event(piece) for piece in pieces]
    return redacted


def redacted_request(request: ChatRequest) -> ChatRequest:
    return msgspec.structs.replace(
        request,
        messages=tuple(_redacted_message(message) for message in request.messages),
        options=_each_text(request.options, redacted_text),
        extra=_each_text(request.extra, redacted_text),
    )


def without_keys(value: Any, depth: int = DEEPEST) -> Any:
    """`value` without the contents of what is named like a key or a password."""
    if isinstance(value, Mapping):
        if depth <= 0:
            return {}
        return {
            name: BLOT if isinstance(name, str) and _KEY.search(name) else without_keys(content, depth - 1)
            for name, content in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_keys(content, depth - 1) for content in value] if depth > 0 else []
    return value


def _redacted_pieces(texts: Sequence[str]) -> list[str]:
    whole = redacted_text("".join(texts))
    pieces, at = [], 0
    for text in texts:
        pieces.append(whole[at : at + len(text)])
        at += len(text)
    return pieces


def _redacted_event(event: Event) -> Event:
    match event:
        case ToolCallEvent(call):
            return ToolCallEvent(_redacted_call(call))
        case Notice(kind, message):
            return Notice(kind, redacted_text(message))
    return event


def _redacted_message(message: Message) -> Message:
    return msgspec.structs.replace(
        message,
        content=redacted_text(message.content),
        thinking=redacted_text(message.thinking) if message.thinking else message.thinking,
        images=tuple(Image(bytes(len(image.data)), image.media_type) for image in message.images),
        calls=tuple(_redacted_call(call) for call in message.calls),
    )


def _redacted_call(call: ToolCall) -> ToolCall:
    """Names of arguments stay, and so does the shape of text that was meant to be JSON."""
    raw = _blotted(call.raw) if call.raw is not None else None
    repairs = tuple(_redacted_repair(repair) for repair in call.repairs)
    return msgspec.structs.replace(call, arguments=_each_text(call.arguments, _blotted), raw=raw, repairs=repairs)


def _redacted_repair(repair: Repair) -> Repair:
    if repair.path == "name":
        return repair
    return Repair(repair.path, _each_text(repair.before, _blotted), _each_text(repair.after, _blotted), repair.rule)


def _blotted(text: str) -> str:
    return "".join(BLOT if character.isalnum() else character for character in text)


def _each_text(value: Any, change: Callable[[str], str], depth: int = DEEPEST) -> Any:
    """`value` with each text in it changed, and each number too where texts are blotted out."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {name: _each_text(content, change, depth - 1) for name, content in value.items()} if depth > 0 else {}
    if isinstance(value, list | tuple):
        return [_each_text(content, change, depth - 1) for content in value] if depth > 0 else []
    if change is _blotted and isinstance(value, int | float) and not isinstance(value, bool):
        return _rounded_off(value)
    return value


def _rounded_off(number: float) -> float:
    """A number of the same kind and size."""
    if isinstance(number, int):
        sign, digits = (-1, len(str(-number))) if number < 0 else (1, len(str(number)))
        return sign * int("1" * digits)
    return 0.5
