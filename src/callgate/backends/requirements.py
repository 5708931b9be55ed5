"""What is required of every model here, whichever door it comes through."""

from __future__ import annotations

import logging

from callgate.vocabulary import Answer, Capabilities, ModelRejected

log = logging.getLogger(__name__)

EVENT = "create_failure:tools_unsupported"


def require_tools(known: Capabilities, model: str) -> None:
    """Refuses a model that is known not to call tools; one of which that isn't known may try.

    Raises: ModelRejected.
    """
    if known.tools is not Answer.NO:
        return
    calls_alone_are_missing = known.supports_tools is True and known.supports_tool_calls is False
    cap = "supports_tool_calls" if calls_alone_are_missing else "supports_tools"
    log.warning("%s: %r (%s=false)", EVENT, model, cap)
    raise ModelRejected(
        f"Model {model!r} rejected: its chat template does not support tool calling ({cap}=false)",
        hint="choose a model that can call tools, or allow others: no --require-tools, and require_tools = false in "
        "[models] of the settings (CALLGATE_MODELS_REQUIRE_TOOLS=false)",
    )
