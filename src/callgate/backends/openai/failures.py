"""What a server's errors mean. They are told by their words: servers share few codes, and no two the same."""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from callgate.backends.overlong import context_exceeded
from callgate.vocabulary import (
    BackendError,
    BadSchema,
    BadStatus,
    CallNotParsed,
    CannotChat,
    CannotThink,
    ChatRequest,
    ContextExceeded,
    StreamFailed,
    ToolsRefused,
)

_LONGEST_READ = 2000
_LONGEST_SHOWN = 200

# The rest of what a server says may be what we sent, or what the model wrote: no business of anybody who reads errors.
_QUOTES = re.compile(r"[{<]|raw\s*=|input_value|last read|['\"]input['\"]|\bat pos\b")
_MESSAGE = re.compile(r'"(?:message|error|detail)"\s*:\s*"((?:[^"\\]|\\.){1,2000})')

_CALL = re.compile(
    r"pars\w+ (?:the )?tool.?call|failed to parse input at|output that does not match the expected", re.IGNORECASE
)
_CHAT = re.compile(r"support (?:chat|completions|generat)|not a (?:chat|generative) model", re.IGNORECASE)
_THINK = re.compile(r"support (?:thinking|reasoning)", re.IGNORECASE)
_SCHEMA = re.compile(r"schema|grammar|response_format", re.IGNORECASE)
_TOOL = r"\b(?:tools?|tool[ _-]?(?:use|calls?|calling|choice)|functions?|function[ _-]?call(?:s|ing)?)\b"
_NO = r"(?:not|n't|cannot|no|un)[ -]?(?:\w+ ){0,3}?(?:support\w*|allow\w*|enabled|available|permitted|recogni[sz]ed)"
_TOOLS = re.compile(
    rf"{_TOOL}.{{0,60}}{_NO}|{_NO}.{{0,60}}{_TOOL}|(?:no endpoints|unexpected|unknown|extra)\b.{{0,60}}{_TOOL}",
    re.IGNORECASE,
)
_FLAGS = {
    "--jinja": "start llama-server with --jinja",
    "--enable-auto-tool-choice": "start vLLM with --enable-auto-tool-choice and --tool-call-parser",
    "--tool-call-parser": "start the server with --tool-call-parser",
}
_NOT_ABOUT_THE_REQUEST = (401, 403, 407, 408, 429)
_WHAT_TO_DO = {
    401: "it wants an API key, or another one",
    403: "it wants an API key, or another one",
    404: "is this an OpenAI-compatible server? its base URL mostly ends in /v1",
    429: "it has more to do than it can; ask again later",
    503: "it may be loading its model; ask again in a moment",
}


class Failures:
    """Says what went wrong with one request. `place` is who is asked, as it may be shown."""

    def __init__(self, place: str, request: ChatRequest) -> None:
        self.place = place
        self._request = request

    def of_status(self, error: BadStatus) -> BackendError:
        """What an answer with a bad status means; a `BadStatus` still, where that is all one can say."""
        said = said_in(error.body)
        if error.status not in _NOT_ABOUT_THE_REQUEST and (known := self._known(said)) is not None:
            return known
        hint = _WHAT_TO_DO.get(error.status, error.hint)
        shown = _shown(said)
        message = f"{self.place} answered with status {error.status}{f': {shown}' if shown else ''}"
        return BadStatus(message, status=error.status, body=error.body, hint=hint, retry_after=error.retry_after)

    def inside(self, error: object, has_said: bool) -> BackendError:
        """What an error object means that came where a piece of the answer was due."""
        said = _text_of(error)
        known = self._known(said)
        if known is not None and not (has_said and isinstance(known, ToolsRefused | ContextExceeded)):
            return known
        shown = _shown(said)
        return StreamFailed(f"{self.place} failed in the middle of its answer{f': {shown}' if shown else ''}")

    def _known(self, said: str) -> BackendError | None:
        if (overlong := context_exceeded(said, self.place, self._request.model)) is not None:
            return overlong
        model, shown = repr(self._request.model), _shown(said)
        if _CALL.search(said):
            message = f"{self.place} couldn't read the tool call that {model} wrote"
            return CallNotParsed(message, hint="ask again, or use another model")
        if self._request.tools and (flag := next((flag for flag in _FLAGS if flag in said), None)):
            return ToolsRefused(f"{self.place} takes no tools without {flag}", hint=_FLAGS[flag])
        if _CHAT.search(said):
            return CannotChat(f"{self.place} can't chat with {model}: {shown}", hint="is it a model for embedding?")
        if self._request.think is not None and _THINK.search(said):
            return CannotThink(f"{self.place} can't let {model} think: {shown}")
        if (self._request.tools or self._request.schema is not None) and _SCHEMA.search(said):
            return BadSchema(f"{self.place} doesn't take the schema: {shown}", hint="use fewer features of JSON Schema")
        if self._request.tools and _TOOLS.search(said):
            return ToolsRefused(f"{self.place} takes no tools for {model}: {shown}")
        return None


def is_about_a_missing_model(error: BadStatus) -> bool:
    said = said_in(error.body).lower()
    return error.status == 404 or (
        error.status == 400 and "model" in said and ("not found" in said or "not exist" in said or "no such" in said)
    )


def said_in(body: str) -> str:
    """The message in an error's body, which may be cut short."""
    try:
        return _text_of(msgspec.json.decode(body))
    except (msgspec.DecodeError, RecursionError, ValueError):
        found = _MESSAGE.search(body)
        return (found[1].replace('\\"', '"') if found else body)[:_LONGEST_READ]


def _text_of(error: object) -> str:
    return next(_texts(error, 0), "")[:_LONGEST_READ]


def _texts(value: object, depth: int) -> Iterator[str]:
    """`{"error": {"message": …}}`, `{"message": …}`, `{"error": …}`, `{"detail": …}` or just a text."""
    if isinstance(value, str):
        if value:
            yield value
    elif isinstance(value, dict) and depth < 3:
        for key in ("error", "message", "detail"):
            yield from _texts(value.get(key), depth + 1)


def _shown(said: str) -> str:
    """On one line, short, and without what it quotes."""
    if quote := _QUOTES.search(said):
        said = said[: quote.start()]
    text = " ".join("".join(c if c.isprintable() else " " for c in said[:_LONGEST_READ]).split())
    return text.rstrip(" :,;[('\"`")[:_LONGEST_SHOWN]
