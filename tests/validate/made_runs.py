"""Runs made up for the reports."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from callgate.validate.records import Run, RunAbout, Trial


def trial(passed: bool | None = True, **given: Any) -> Trial:
    fields: dict[str, Any] = {
        "model": "tiny",
        "mode": "native",
        "case": "one-call",
        "check": "toolCall",
        "trial": 0,
        "outcome": {True: "passed", False: "failed", None: "unsupported"}[passed],
        "expected": [{"name": "add", "arguments": {"a": 1, "b": 2}}],
        "got": {"calls": [], "text": "3"},
        "ms": 120.0,
        "reason": {True: None, False: "no tool was called", None: "the server has no tool_choice"}[passed],
        "kind": "no-call" if passed is False else None,
        "tokens": 12,
        "first_token_ms": 20.0,
    }
    return Trial(**(fields | given))


def run(trials: Iterable[Trial], **given: Any) -> Run:
    made = tuple(trials)
    fields: dict[str, Any] = {
        "model": made[0].model if made else "tiny",
        "at": "2026-01-02T03:04:05Z",
        "suite": "quick",
        "trials": 5,
        "seed": 0,
        "callgate": "0.1",
        "backend": "llama.cpp",
        "modes": ("native",),
        "digest": "sha256:abc",
    }
    return Run(about=RunAbout(**(fields | given)), trials=made)


def outcomes(pattern: str, **given: Any) -> list[Trial]:
    """A trial for each letter: `p`assed, `f`ailed, `u`nsupported."""
    return [
        trial({"p": True, "f": False, "u": None}[letter], trial=number, got=f"{letter} {number}", **given)
        for number, letter in enumerate(pattern)
    ]
