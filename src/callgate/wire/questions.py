"""The head of a question, as it goes over a connection of our own: made once for all questions that are alike."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from callgate.vocabulary import UsageError
from callgate.wire.connections import Place
from callgate.wire.hops import hops
from callgate.wire.targets import addressed, is_this_machine, shown
from callgate.wire.tracing import trace_headers

if TYPE_CHECKING:
    from yarl import URL

ALWAYS = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
"""Whatever packs an answer holds its pieces back."""
_ALIKE = 64
_Headers = tuple[tuple[str, str], ...]


class Question(NamedTuple):
    shown: str
    """Who is asked, as it may be shown."""
    target: URL
    place: Place
    is_here: bool
    """It is this very machine that is asked."""
    head: bytes
    """But for the body's length."""


def question_to(url: str, headers: Mapping[str, str]) -> Question:
    """Raises: UsageError, if `url` isn't one, or a header can't be sent."""
    traced = trace_headers.get()
    return _made(url, tuple(headers.items()), hops.get(), tuple(traced.items()) if traced else ())


@lru_cache(maxsize=_ALIKE)
def _made(url: str, headers: _Headers, through: tuple[str, ...], traced: _Headers) -> Question:
    target, sent = addressed(url, {**ALWAYS, **dict(headers)}, through, dict(traced))
    host = target.raw_host or ""
    port = "" if target.is_default_port() else f":{target.port}"
    lines = [f"POST {target.raw_path_qs} HTTP/1.1", f"Host: {f'[{host}]' if ':' in host else host}{port}"]
    lines += [f"{name}: {value}" for name, value in sent.items()]
    text = "\r\n".join([*lines, ""])
    if text.count("\n") != len(lines) or text.count("\r") != len(lines) or "\0" in text:
        raise UsageError(f"a header for {shown(url)} has a line break", hint="look at its key")
    place = Place(host, target.port or 0, target.scheme == "https")
    return Question(shown(url), target, place, is_this_machine(target.host or ""), text.encode())
