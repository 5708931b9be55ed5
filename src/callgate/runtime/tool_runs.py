"""One call of one tool, whatever it does: it fails, it hangs, it says too much. The model is told in words."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Mapping
from typing import Any

from callgate.runtime.tool_source import Outcome, ToolSource
from callgate.vocabulary import ToolCall, ToolResult

log = logging.getLogger(__name__)

GRACE_SECONDS = 1.0
"""For a tool that was told to stop. After that nobody waits for it."""

_abandoned: set[asyncio.Task[Outcome]] = set()
"""Kept, for a task that nobody holds is collected in the middle of its work."""


async def run_tool(
    source: ToolSource, name: str, call: ToolCall, arguments: Mapping[str, Any], *, seconds: float, longest: int
) -> ToolResult:
    """What came of it: no tool can raise anything here, nor take longer than `seconds` and a moment."""
    started = time.monotonic()
    task = asyncio.create_task(_outcome(source, name, arguments))
    try:
        done, _ = await asyncio.wait({task}, timeout=seconds)
        if not done:
            await _stop(task)
    except asyncio.CancelledError:
        await _stop(task)
        raise
    if done:
        outcome = task.result()
    else:
        log.warning("the tool %r took longer than %g s, and was given up", name, seconds)
        outcome = Outcome(f"error: the tool took longer than {seconds:g} s, and was given up", is_error=True)
    return result_of(call, outcome, longest=longest, seconds=time.monotonic() - started)


def failed(call: ToolCall, why: str) -> ToolResult:
    """A call that wasn't run."""
    return result_of(call, Outcome(f"error: {why}", is_error=True))


def result_of(
    call: ToolCall, outcome: Outcome, *, longest: int | None = None, seconds: float | None = None
) -> ToolResult:
    text = outcome.content
    if longest is not None and len(text) > longest:
        text = f"{text[:longest]}\n… (cut off: these are the first {longest:,} of {len(text):,} characters)"
    if outcome.is_error and not text.lower().startswith("error"):
        text = f"error: {text}"
    return ToolResult(
        call_id=call.id,
        name=call.name,
        content=text.encode("utf-8", "replace").decode(),  # half a character can't be sent
        is_error=outcome.is_error,
        images=outcome.images,
        seconds=seconds,
    )


async def _outcome(source: ToolSource, name: str, arguments: Mapping[str, Any]) -> Outcome:
    try:
        return await source.call(name, arguments)
    except (Exception, SystemExit) as error:  # noqa: BLE001 - a source may be anybody's
        log.warning("the tool %r failed (%s)", name, type(error).__name__)
        return Outcome(f"error: {type(error).__name__}: {error}", is_error=True)


async def _stop(task: asyncio.Task[Outcome]) -> None:
    task.cancel()
    _, pending = await asyncio.wait({task}, timeout=GRACE_SECONDS)
    for deaf in pending:
        _abandoned.add(deaf)
        deaf.add_done_callback(_abandoned.discard)
