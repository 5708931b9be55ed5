"""Writes answers, chunk by chunk, in the dialects of agents; or, under their names, as chat completions."""

from __future__ import annotations

import sys
from time import process_time
from typing import Any

import msgspec

from bench.measure import emit
from callgate.gateway.dialect import Talk, Wish
from callgate.gateway.dialects import DIALECTS
from callgate.vocabulary import AssistantDelta, Done, Event, ThinkingDelta, Usage

whose, answers = sys.argv[1], int(sys.argv[2])
CHUNKS = 1_000
"""Of each answer."""

CHAT = "/v1/chat/completions"
AGENTS = ("/v1/messages", "/v1/responses")
ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "hello"}], "input": "hello"}
TALKS = {route.path: route.action for each in DIALECTS for route in each.routes if isinstance(route.action, Talk)}
TEXT: list[Event] = [AssistantDelta(f" word{number}") for number in range(CHUNKS)]
THOUGHTS: list[Event] = [ThinkingDelta(f" word{number}") for number in range(CHUNKS)]


def wish(path: str) -> Wish:
    action = TALKS[path]
    return action.read(msgspec.convert(ASKED, action.body), {})


def seconds(path: str, events: list[Event]) -> float:
    """Of processor time, for one chunk; what an answer begins and ends with counts, too."""
    best = float("inf")
    asked = wish(path)
    for _ in range(3):
        started = process_time()
        for _ in range(answers):
            writer = asked.writer("m")
            feed = writer.feed
            for event in events:
                feed(event)
            feed(Usage(12, CHUNKS))
            feed(Done("stop"))
            writer.end(None)
        best = min(best, process_time() - started)
    return best / answers / CHUNKS


for path in AGENTS:
    for kind, events in (("text", TEXT), ("thinking", THOUGHTS)):
        took = seconds(path if whose == "agents" else CHAT, events)
        emit(f"chunk of {kind}, {path}", took * 1e6, "µs", f"callgate's {CHAT}")
