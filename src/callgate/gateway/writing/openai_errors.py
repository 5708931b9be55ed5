"""Errors in OpenAI's words, for both its dialects."""

from __future__ import annotations

from typing import Any

from callgate.gateway.dialect import OVERLONG, Failure

TOO_LONG = "context_length_exceeded"
_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


def openai_error(failure: Failure) -> dict[str, Any]:
    kind = _KINDS.get(failure.status, "server_error" if failure.status >= 500 else "invalid_request_error")
    if failure.kind == OVERLONG:
        return {"error": {"message": _too_long(failure), "type": kind, "param": "messages", "code": TOO_LONG}}
    code = "model_not_found" if failure.kind == "NotFound" else failure.kind
    return {"error": {"message": failure.said, "type": kind, "param": failure.param, "code": code}}


def _too_long(failure: Failure) -> str:
    """In the very words that clients look for."""
    if failure.needed is None or failure.room is None:
        return f"This model's maximum context length is exceeded: {failure.said}"
    return (
        f"This model's maximum context length is {failure.room} tokens. However, your messages resulted in "
        f"{failure.needed} tokens. Please reduce the length of the messages. ({failure.said})"
    )
