"""Steps that are taken at once where they can be, and what to do before one has to wait."""

from __future__ import annotations

import asyncio
import types
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator
from typing import Any, TypeVar

T = TypeVar("T")


@types.coroutine
def next_or_none(
    stream: AsyncGenerator[T, None], before_waiting: Callable[[], Awaitable[None] | None]
) -> Generator[Any, Any, T | None]:
    """The next of `stream`, or nothing at its end. `before_waiting` is done if it isn't there yet, and only then: so
    that what was made of all that is there can be sent at once, and nothing that is there ever waits.
    """
    step: Any = anext(stream)
    try:
        waits = step.send(None)
    except StopIteration as found:
        return found.value  # type: ignore[no-any-return]
    except StopAsyncIteration:
        return None
    problem: BaseException | None = None
    try:
        if (doing := before_waiting()) is not None:
            yield from doing.__await__()
    except BaseException as error:  # noqa: BLE001 - the stream is in the middle of a step, and has to hear of it
        problem = error
    try:
        return (yield from _rest(step, waits, problem))  # type: ignore[no-any-return]
    except StopAsyncIteration:
        return None


async def before(end: float | None, awaitable: Awaitable[T]) -> T:
    """Its result, if it comes before `end`, by the event loop's clock. What is there at once needs no clock.

    Raises: TimeoutError.
    """
    step: Any = awaitable.__await__()
    try:
        waits = step.send(None)
    except StopIteration as found:
        return found.value  # type: ignore[no-any-return]
    async with asyncio.timeout_at(end):
        return await _rest(step, waits)  # type: ignore[no-any-return]


@types.coroutine
def _rest(step: Any, waits: Any, problem: BaseException | None = None) -> Generator[Any, Any, Any]:
    """Of a step that was begun, and first `waits`."""
    while True:
        if problem is None:
            try:
                yield waits
            except BaseException as error:  # noqa: BLE001
                problem = error
            else:
                # What it waits for now goes to the event loop as if we weren't here, and so does what comes back.
                return (yield from step)
        thrown, problem = problem, None
        try:
            waits = step.throw(thrown)
        except StopIteration as found:
            return found.value
