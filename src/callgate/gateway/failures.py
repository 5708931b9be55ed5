"""What clients are told when something goes wrong: each of our errors has a status."""

from __future__ import annotations

from callgate.gateway.dialect import Failure
from callgate.vocabulary import (
    BackendError,
    BadSchema,
    BadStatus,
    CallgateError,
    CannotChat,
    CannotThink,
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


def failure_of(error: CallgateError) -> Failure:
    return Failure(status=_status(error), kind=type(error).__name__, message=error.message, hint=_hint(error))


def unexpected() -> Failure:
    """Of a mistake of ours: what it says may be anything, and stays here."""
    return Failure(status=500, kind="internal", message="callgate made a mistake", hint="its log says where")


def _status(error: CallgateError) -> int:
    match error:
        case NotFound():
            return 404
        case _ if isinstance(error, _CLIENTS_FAULT):
            return 400
        case BadStatus(status=status):
            return status if status in (*_SAID_ON, LOOP) else 502
        case Unreachable() | BackendError():
            return 502
    return 500


def _hint(error: CallgateError) -> str | None:
    if isinstance(error, BadStatus) and error.status == LOOP:
        return "it leads back to this very server: set OLLAMA_HOST and --upstream to where the models really are"
    return error.hint
