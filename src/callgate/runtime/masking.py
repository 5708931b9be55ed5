"""A call as a person may see it: what is named like a secret is masked, and nothing is too long for a screen."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from callgate.vocabulary import ToolCall

LONGEST = 2_000
DEEPEST = 32
_LONGEST_NAME = 200
_TELLING = re.compile(
    r"passw(or)?d|passphrase|passcode|secret|credential|authori[sz]ation|cookie|mnemonic|seed[_-]?phrase"
    r"|connection[_-]?string|card[_-]?number|one[_-]?time[_-]?code|csrf|xsrf"
    r"|(?:api|access|private|auth|signing|encryption|ssh|pgp|gpg|rsa|aes|hmac|master|session|deploy|licen[cs]e|account)"
    r"[_-]?key"
    r"|(?:api|access|auth|refresh|bearer|session|id)[_-]?tokens|token(?!s|i[sz])",
    re.IGNORECASE,
)
_TELLING_WORDS = frozenset(
    {
        "pw",
        "pwd",
        "pass",
        "pin",
        "otp",
        "totp",
        "mfa",
        "2fa",
        "jwt",
        "bearer",
        "auth",
        "cvv",
        "cvc",
        "ssn",
        "psk",
        "dsn",
    }
)
"""Those that others have in them: spin, author, compass."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+[a-z]*")
_ASSIGNED = re.compile(r"""(?<![\w-])(?P<name>[\w-]++)\\*+["'`]?\s{0,9}(?:[:=]>?|>)\s{0,9}""")
_VALUE = re.compile(
    r"""
      \\{1,9}+(?P<quote>["'])(?:(?!\\{1,9}+(?P=quote)).)*+(?:\\{1,9}+["'])?    # in a text that is JSON itself
    | "(?:[^"\\]|\\.)*+"?
    | '(?:[^'\\]|\\.)*+'?
    | [\[{].*+                                                      # nobody knows where it ends
    | [^\n,;)}\]<&]++
    """,
    re.VERBOSE | re.DOTALL,
)


def is_named_like_a_secret(name: str) -> bool:
    name = name[:_LONGEST_NAME]
    return bool(_TELLING.search(name)) or any(word.lower() in _TELLING_WORDS for word in _WORD.findall(name))


def shown_arguments(call: ToolCall, longest: int = LONGEST) -> str:
    """The arguments as JSON, on one line. What is left out is said, so that nothing hides behind it."""
    if isinstance(call.arguments, str):
        text = _masked_text(call.arguments)
    else:
        try:
            text = msgspec.json.encode(masked(call.arguments), enc_hook=str).decode()
        except (TypeError, ValueError, RecursionError):
            text = "{…}"
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text) - longest:,} characters more)"


def names_a_secret(call: ToolCall) -> bool:
    """Whether something of it is masked where it is shown."""
    if isinstance(call.arguments, str):
        return len(list(_without_values(call.arguments))) > 1
    return bool(masked(call.arguments) != call.arguments)


def masked(value: Any, depth: int = DEEPEST) -> Any:
    """`value` without the contents of what is named like a secret."""
    if depth <= 0:
        return "…"
    if isinstance(value, Mapping):
        return {name: _hidden(name, content, depth) for name, content in value.items()}
    if isinstance(value, list | tuple):
        return [masked(content, depth - 1) for content in value]
    return value


def _hidden(name: object, content: Any, depth: int) -> Any:
    if not (isinstance(name, str) and is_named_like_a_secret(name)) or content is None or isinstance(content, bool):
        return masked(content, depth - 1)
    return f"… ({len(content):,} characters)" if isinstance(content, str) else "…"


def _masked_text(text: str) -> str:
    """Of arguments that are no JSON object, which no tool ever gets."""
    try:
        value = msgspec.json.decode(text)
        if isinstance(value, Mapping):
            return msgspec.json.encode(masked(value)).decode()
    except (ValueError, RecursionError):
        pass
    return "".join(_without_values(text))


def _without_values(text: str) -> Iterator[str]:
    """The text without what is assigned, in whatever way, to a name like that of a secret."""
    shown = at = 0
    while found := _ASSIGNED.search(text, at):
        at = found.end()
        if is_named_like_a_secret(found["name"]) and (value := _VALUE.match(text, at)):
            yield f"{text[shown:at]}…"
            shown = at = value.end()
    yield text[shown:]
