"""Tools that can be run: what a model is told of them, and what happens when it calls one."""

from __future__ import annotations

import asyncio
import inspect
import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from callgate.tools import read_tools, tool_of
from callgate.vocabulary import Message, Tool, ToolCall, UsageError

log = logging.getLogger(__name__)

LONGEST_RESULT = 100_000
"""Characters of a result that a model gets to see."""

Given = Tool | Mapping[str, Any] | Callable[..., Any]


class Toolbox:
    """Functions that run here, and tools that somebody else runs."""

    def __init__(self, given: Iterable[Given]) -> None:
        """Raises: UsageError, which names the tool that is no good."""
        self._functions: dict[str, Callable[..., Any]] = {}
        tools: list[Tool] = []
        for tool in given:
            if isinstance(tool, Tool):
                tools.append(tool)
            elif isinstance(tool, Mapping):
                tools.extend(read_tools([tool]))
            else:
                described = tool_of(tool)
                tools.append(described)
                self._functions[described.name] = tool
        twice = [name for name in (tool.name for tool in tools) if sum(name == tool.name for tool in tools) > 1]
        if twice:
            raise UsageError(f"there are two tools called {twice[0]!r}")
        self.tools = tuple(tools)

    def runs(self, call: ToolCall) -> bool:
        """Whether there is an answer to this call here: what comes of it, or the reason why nothing can."""
        return call.problem is not None or call.name in self._functions

    async def run(self, call: ToolCall) -> Message:
        """What came of the call, in words for the model: a tool that fails is no error here."""
        if call.problem is not None or isinstance(call.arguments, str):
            content = f"error: {call.problem or 'the arguments are no JSON object'}"
        else:
            content = await self._outcome(call.name, call.arguments)
        return Message(role="tool", content=content, call_id=call.id, name=call.name)

    async def _outcome(self, name: str, arguments: Mapping[str, Any]) -> str:
        function = self._functions[name]
        try:
            if inspect.iscoroutinefunction(function):
                outcome = await function(**arguments)
            else:
                outcome = await asyncio.to_thread(function, **arguments)
            text = outcome if isinstance(outcome, str) else msgspec.json.encode(outcome, enc_hook=str).decode()
        except Exception as error:  # noqa: BLE001 - it is the tool's, and the model may know better next time
            log.warning("the tool %r failed (%s)", name, type(error).__name__)
            return f"error: {type(error).__name__}: {error}"[:LONGEST_RESULT]
        if len(text) > LONGEST_RESULT:
            return f"{text[:LONGEST_RESULT]}\n… (cut off: the result has {len(text)} characters)"
        return text
