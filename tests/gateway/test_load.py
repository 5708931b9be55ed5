"""Many clients at once, of whose answers some break off. `./dev stress gateway` does this with a thousand."""

from __future__ import annotations

import json
import sys

import pytest

from workshop.failing_upstream import WAYS, word
from workshop.stress_gateway import Left, leaks, stress, wrong_with

STREAMS = 100


@pytest.mark.skipif(sys.platform != "linux", reason="it looks into /proc")
async def test_everybody_gets_a_whole_answer_or_a_proper_error_and_nothing_is_left() -> None:
    outcome = await stress(streams=STREAMS, rounds=1, chunks=10)
    assert outcome.problems == []
    assert outcome.failed == STREAMS / 20 == len(WAYS)
    assert outcome.whole == STREAMS - outcome.failed + 1  # and the one before


def events(*contents: object) -> bytes:
    return b"".join(
        b"data: " + (content if isinstance(content, bytes) else json.dumps(content).encode()) + b"\n\n"
        for content in contents
    )


def said(*chunks: int) -> list[object]:
    return [{"choices": [{"delta": {"content": word(7, chunk)}}]} for chunk in chunks]


LAST = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
ERROR = {"error": {"message": "no"}}


@pytest.mark.parametrize(
    ("answer", "way", "problem"),
    [
        (events(*said(0, 1, 2, 3), LAST, b"[DONE]"), "", ""),
        (events(*said(0, 1), ERROR), "resets", ""),
        (events(*said(0, 1, 3), LAST, b"[DONE]"), "", "other words than its own"),
        (events(*said(0, 1, 2, 3), LAST), "", "no proper end"),
        (events(*said(0, 1, 2, 3), ERROR, b"[DONE]"), "", "no proper end"),
        (events(*said(0, 1), ERROR, b"[DONE]"), "resets", "an end as if all were well"),
        (events(*said(0, 1)), "resets", "no error"),
    ],
)
def test_what_is_wrong_with_an_answer_is_seen(answer: bytes, way: str, problem: str) -> None:
    assert wrong_with(answer, 7, 4, way) == problem


def test_what_is_left_is_seen() -> None:
    quiet = Left(0, 3, 14, 60 << 20)
    assert leaks(quiet, [quiet, quiet]) == []
    assert len(leaks(quiet, [quiet, Left(1, 4, 15, 100 << 20)])) == 4
