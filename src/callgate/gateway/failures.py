"""What clients are told when something goes wrong: each of our errors has a status."""

from __future__ import annotations

from callgate.gateway.dialect import OVERLONG, Failure
from callgate.gateway.discretion import discreet
from callgate.vocabulary import (
    BackendError,
    BadSchema,
    BadStatus,
    CallgateError,
    CannotChat,
    CannotThink,
    ContextExceeded,
    ModelRejected,
    NotFound,
    ToolsRefused,
    Unreachable,
    UsageError,
)

_CLIENTS_FAULT = (UsageError, ModelRejected, CannotChat, CannotThink, BadSchema, ToolsRefused)
_SAID_ON = (400, 404, 408, 413, 422, 429, 503, 504)
"""What a server behind says of the request, or of how busy it is. The others are between it and us."""
LOOP = 508
LOOP_HINT = "set OLLAMA_HOST and --upstream to where the models really are"


def failure_of(error: CallgateError) -> Failure:
    if isinstance(error, BadStatus) and error.status == LOOP:
        # What it says itself is this very text, once for every server on the way.
        where = discreet(error.message.partition(" answered with status ")[0])
        return Failure(status=LOOP, kind="loop", message=f"{where} leads back to this very server", hint=LOOP_HINT)
    hint = error.hint and discreet(error.hint)
    if isinstance(error, ContextExceeded):
        said = discreet(error.message)
        return Failure(status=400, kind=OVERLONG, message=said, hint=hint, needed=error.needed, room=error.room)
    return Failure(
        status=_status(error),
        kind=type(error).__name__,
        message=discreet(error.message),
        hint=hint,
        param=_param(error),
    )


def headers_of(error: CallgateError) -> tuple[tuple[bytes, bytes], ...]:
    """When to ask again, if the server behind said so."""
    if isinstance(error, BadStatus) and error.retry_after is not None and error.status in _SAID_ON:
        return ((b"retry-after", b"%d" % error.retry_after),)
    return ()


def unexpected() -> Failure:
    """Of a mistake of ours: what it says may be anything, and stays here."""
    return Failure(status=500, kind="internal", message="callgate made a mistake", hint="its log says where")


def late(seconds: float) -> Failure:
    """An answer that took longer than answers may."""
    return Failure(status=504, kind="too_slow", message=f"the answer took more than {seconds:g} s")


def _param(error: CallgateError) -> str | None:
    if isinstance(error, NotFound | ModelRejected):
        return error.param or "model"
    return error.param if isinstance(error, UsageError) else None


def _status(error: CallgateError) -> int:
    match error:
        case NotFound():
            return 404
        case _ if isinstance(error, _CLIENTS_FAULT):
            return 400
        case BadStatus(status=status):
            return status if status in _SAID_ON else 502
        case Unreachable() | BackendError():
            return 502
    return 500
