"""Functions of a program as a source of tools."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from callgate.runtime.own_threads import in_own_thread
from callgate.runtime.tool_source import Outcome
from callgate.tools import bound_call, tool_of
from callgate.vocabulary import Tool, UsageError

log = logging.getLogger(__name__)

NOTHING = "(no result)"


class FunctionTools:
    """A `ToolSource`. Arguments come as the functions' type hints say; a plain function runs in a thread of its own."""

    def __init__(
        self,
        functions: Iterable[Callable[..., Any]],
        *,
        name: str = "functions",
        harmless: bool | Container[str] = True,
    ) -> None:
        """`harmless`: those that may be called without asking; by default all, since the program gives them itself.

        Raises: UsageError, which names the function that can't be a tool, or the name that two have.
        """
        self._name = name
        self._harmless = harmless
        self.identity = ""
        """The file that the first function is written in: what is allowed for good is allowed to that one."""
        self._functions: dict[str, Callable[..., Any]] = {}
        self._tools: list[Tool] = []
        for function in functions:
            tool = tool_of(function)
            if tool.name in self._functions:
                raise UsageError(f"there are two tools called {tool.name!r}", hint="give one of them another name")
            self._functions[tool.name] = function
            self.identity = self.identity or _file_of(function)
            self._tools.append(tool)

    @property
    def name(self) -> str:
        return self._name

    async def tools(self) -> Sequence[Tool]:
        return self._tools

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:
        function = self._functions[name]
        try:
            call = bound_call(function, arguments)
        except UsageError as error:
            return Outcome(f"error: {error.message}", is_error=True)
        try:
            result = call() if _is_coroutine_function(function) else await in_own_thread(call, name=f"tool-{name}")
            if inspect.isawaitable(result):
                result = await result
            return result if isinstance(result, Outcome) else Outcome(as_text(result))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the tool's, and the model may know better next time
            log.warning("the tool %r failed (%s)", name, type(error).__name__)
            return Outcome(f"error: {type(error).__name__}: {error}", is_error=True)

    def is_harmless(self, name: str) -> bool:
        return self._harmless if isinstance(self._harmless, bool) else name in self._harmless

    async def close(self) -> None: ...


def _file_of(function: object) -> str:
    return (
        str(getattr(getattr(inspect.unwrap(function), "__code__", None), "co_filename", ""))
        if inspect.isroutine(function)
        else ""
    )


def as_text(result: object) -> str:
    """What a function gave back, in words for a model: a text as it is, anything else as JSON."""
    if isinstance(result, str):
        return result
    return NOTHING if result is None else msgspec.json.encode(result, enc_hook=_plain).decode()


def _plain(value: object) -> object:
    if callable(dump := getattr(value, "model_dump", None)):  # pydantic's
        return dump(mode="json")
    return str(value)


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(getattr(function, "__call__", None))  # noqa: B004
