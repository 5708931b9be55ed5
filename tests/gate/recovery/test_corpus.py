"""Outputs of real models, with what other projects say that they mean."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from callgate.cli.recover import recorded_tools
from callgate.gate.recovery import recover
from tests.gate.recovery.reading import cut

WAYS = [(0, False), (0, True), (1, False), (7, False)]


@pytest.mark.corpus
@pytest.mark.parametrize(("size", "hinted"), WAYS)
def test_every_call_of_the_corpus_is_found_and_nothing_else(corpus: Path, size: int, hinted: bool) -> None:
    wrong = [case["id"] for case in _cases(corpus) if not _is_right(case, size, hinted=hinted)]
    assert wrong == []


def _cases(corpus: Path) -> Iterator[dict[str, Any]]:
    for line in (corpus / "calls.jsonl").read_text().splitlines():
        case = json.loads(line)
        if not case.get("contested"):
            yield case


def _is_right(case: dict[str, Any], size: int, *, hinted: bool) -> bool:
    found = recover(
        cut(case["raw"], size) if size else case["raw"],
        None if case["tools"] is None else recorded_tools(case["tools"]),
        format=case["format"] if hinted else "auto",
        starts_in=case.get("starts_in") or "text",
    )
    expected = case["expected"] or []
    return len(found.calls) == len(expected) and all(
        call.name == meant["name"] and _same(call.arguments, meant["arguments"], loosely=not case["tools"])
        for call, meant in zip(found.calls, expected, strict=True)
    )


def _same(said: object, meant: object, *, loosely: bool) -> bool:
    """Equal as JSON. Without a schema, both `"5"` and 5 are fair."""
    if isinstance(said, dict) and isinstance(meant, dict):
        return said.keys() == meant.keys() and all(_same(said[key], meant[key], loosely=loosely) for key in meant)
    if isinstance(said, list) and isinstance(meant, list):
        return len(said) == len(meant) and all(map(lambda one, two: _same(one, two, loosely=loosely), said, meant))
    if isinstance(said, bool) == isinstance(meant, bool) and said == meant:
        return True
    if loosely and isinstance(said, str) != isinstance(meant, str):
        text, other = (said, meant) if isinstance(said, str) else (meant, said)
        try:
            return _same(json.loads(str(text)), other, loosely=True)
        except ValueError:
            return False
    return False
