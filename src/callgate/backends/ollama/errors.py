"""What Ollama's refusals mean."""

from __future__ import annotations

import re

import msgspec

from callgate.backends.ollama.versions import JINJA_TEMPLATES, is_older, shown
from callgate.backends.overlong import context_exceeded
from callgate.vocabulary import (
    BackendError,
    BadSchema,
    BadStatus,
    CallgateError,
    CallNotParsed,
    CannotChat,
    CannotThink,
    ChatRequest,
    StreamFailed,
    ToolsRefused,
    Unreachable,
    UsageError,
)
from callgate.wire import shown as without_credentials

_LONGEST = 200
_MOST_WRAPPINGS = 4
_CUT_MESSAGE = re.compile(r'"message\\*":\s*\\*"([^"\\]*)')
_CUT_ERROR = re.compile(r'"error":\s*"([^"\\]*)')
_OPTION = re.compile(r'^option "(\w{1,40})" must be of type (\w{1,40})$', re.ASCII)
_ABOUT_A_CALL = re.compile(r"\btool[ _]?calls?\b|\bfunction[ _]call", re.IGNORECASE)
_ABOUT_A_SCHEMA = re.compile(r"cannot unmarshal|\bschema\b|\bgrammar\b", re.IGNORECASE)
_QUOTING_STARTS = re.compile(
    r"""(?P<lead>\b(?:pars(?:e|ing)|calls?)\b[^:]*:)|[{[<"`]|(?<!\w)'|\braw\s*=|\bat pos\w* \d+""", re.IGNORECASE
)
"""Where an error may begin to quote what the model wrote, or what it was sent."""


def said_in(body: str) -> str:
    """The error in the body of an answer, of which only the start may be there.

    What the runner below Ollama says comes wrapped in JSON once more.
    """
    said: object = body.strip()
    for _ in range(_MOST_WRAPPINGS):
        if not isinstance(said, str) or not said.startswith("{"):
            break
        try:
            said = msgspec.json.decode(said)
        except (msgspec.DecodeError, ValueError, RecursionError):
            found = _CUT_MESSAGE.search(str(said)) or _CUT_ERROR.search(str(said))
            return found[1] if found else ""
        said = _unwrapped(said)
    return said if isinstance(said, str) else ""


def _unwrapped(error: object) -> object:
    for name in ("error", "message"):
        if isinstance(error, dict) and name in error:
            error = error[name]
    return error


def without_quotes(said: str) -> str:
    """An error's words up to where they could quote a call: nobody's arguments belong in an error or a log."""
    line = " ".join("".join(c if c.isprintable() else " " for c in said[: 4 * _LONGEST]).split())
    found = _QUOTING_STARTS.search(line)
    kept = line[: max(found.start(), found.end("lead"))].rstrip(" :,(=") if found else line
    return f"{kept[:_LONGEST]} …" if found or len(kept) > _LONGEST else kept


def unreachable(problem: Unreachable, place: str, url: str) -> Unreachable:
    running = "is it running? `ollama serve`"
    is_busy = problem.hint is not None and "loading" in problem.hint
    return Unreachable(
        problem.message.replace(without_credentials(url), place), hint=problem.hint if is_busy else running
    )


def refusal(problem: BadStatus, request: ChatRequest, place: str, version: str | None) -> CallgateError:
    """What a status with these words means for this request."""
    said = said_in(problem.body)
    if found := _OPTION.search(said):
        return UsageError(f"{place} wants the option {found[1]!r} as {found[2]}", hint="give it another value")
    if known := _known(said, request, place, version):
        return known
    words = without_quotes(said)
    about = f": {words}" if words else ""
    hint = "is this an Ollama?" if problem.status in (404, 405) else problem.hint
    if problem.status == 503:
        hint = "it has too much to do: try again, or see OLLAMA_MAX_QUEUE"
    return BadStatus(
        f"{place} answered with status {problem.status}{about}",
        status=problem.status,
        body=words,
        hint=hint,
        retry_after=problem.retry_after,
    )


def failure(said: str, request: ChatRequest, place: str, *, has_begun: bool) -> BackendError:
    """What an error line within an answer means."""
    said = said_in(said)
    if not has_begun and (known := _known(said, request, place, None)):
        return known
    words = without_quotes(said)
    return StreamFailed(
        f"{place} failed in the middle of its answer" + (f": {words}" if words else ""), hint="its log says more"
    )


def _known(said: str, request: ChatRequest, place: str, version: str | None) -> BackendError | None:
    model = request.model
    if "does not support tools" in said:
        message = f"{place} takes no tools for {model!r}"
        if is_older(version, JINJA_TEMPLATES):
            message += f": it is {version}, and the Jinja template of a model counts from {shown(JINJA_TEMPLATES)} on"
        return ToolsRefused(message, hint="its chat template has none; `callgate check` says more")
    if "does not support thinking" in said:
        return CannotThink(f"{place} says that {model!r} can't think aloud", hint="ask without thinking")
    if "does not support chat" in said:
        return CannotChat(f"{place} says that {model!r} is no chat model", hint="is it a model for embedding?")
    if (overlong := context_exceeded(said, place, model)) is not None:
        return overlong
    words = without_quotes(said)
    if (request.tools or request.schema is not None) and _ABOUT_A_SCHEMA.search(words):
        return BadSchema(f"{place} doesn't take a schema: {words}", hint="use plain JSON Schema types")
    if _ABOUT_A_CALL.search(words):
        cut = request.max_tokens is not None
        return CallNotParsed(
            f"{place} couldn't read the tool call that {model!r} made",
            hint="allow more than `max_tokens`: it may be cut" if cut else "ask again, or with fewer tools",
        )
    return None
