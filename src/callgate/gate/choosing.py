"""Which of the offered tools a request lets a model call."""

from __future__ import annotations

from callgate.vocabulary import ChatRequest, Tool, UsageError


def tools_that_may_be_called(request: ChatRequest) -> tuple[Tool, ...]:
    """A tool that must be called is offered alone: not every server can be told which of many.

    Raises: UsageError, if a tool must be called that isn't offered.
    """
    if request.tool_choice in (None, "auto"):
        return request.tools
    if request.tool_choice == "none":
        return ()
    if request.tool_choice == "required" and not request.tools:
        raise UsageError("a tool must be called, and none is offered", hint="offer tools, or let tool_choice be auto")
    if request.tool_choice == "required":
        return request.tools
    named = tuple(tool for tool in request.tools if tool.name == request.tool_choice)
    if not named:
        raise UsageError(
            f"the tool {request.tool_choice!r} must be called, but isn't offered",
            hint=f"there are: {', '.join(tool.name for tool in request.tools) or 'none'}",
        )
    return named
