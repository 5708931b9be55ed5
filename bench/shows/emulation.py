"""How often a model without tools calls them validly when they are emulated: SmolLM2-135M, on real engines.

    python -m bench.shows.emulation --engine ollama --choice required --turns 100

It is asked as a program would ask it, through `callgate.AsyncModel`. A call is valid if its arguments validate against
the tool's own schema. Sampling is as the server has it by default.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema_rs

from bench.shows.everyday_tools import PLAIN_PROMPTS, TOOL_PROMPTS, TOOLS
from callgate import AsyncModel
from callgate.settings import load_settings
from callgate.vocabulary import AssistantDelta, Done, Event, ToolCallEvent, Usage
from tests.backends import smollm2
from tests.real_ollama import server

ENGINES = ("llamacpp", "ollama")
SHOWN = 5
MOST_WORDS = 300
_VALIDATORS = {tool.name: jsonschema_rs.validator_for(dict(tool.parameters)) for tool in TOOLS}


@contextlib.contextmanager
def running(engine: str) -> Iterator[str]:
    """What the model is called."""
    model = smollm2.fetched()
    if engine != "ollama":
        yield str(model)
        return
    with tempfile.TemporaryDirectory() as folder, server.running(server.installed(), Path(folder), model) as url:
        yield f"ollama+{url}#{server.MODEL}"


def questions(choice: str, turns: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """All prompts in turn, each with one to four tools."""
    prompts = [*TOOL_PROMPTS, *PLAIN_PROMPTS]
    for turn in range(turns):
        count = turn % 4 + 1
        tools = tuple(TOOLS[(turn * 3 + place) % len(TOOLS)] for place in range(count))
        yield (
            prompts[turn % len(prompts)],
            {
                "tools": tools,
                "tool_choice": tools[turn % count].name if choice == "named" else choice,
                # Calls end by themselves; words don't always.
                "max_tokens": MOST_WORDS if choice == "auto" else None,
            },
        )


async def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", choices=ENGINES, default="llamacpp")
    parser.add_argument("--choice", choices=["required", "named", "auto"], default="required")
    parser.add_argument("--turns", type=int, default=100)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    tokens: list[int] = []
    replies: list[str] = []
    settings = load_settings({"llamacpp.context": 4096, "detect.server_timeout": 120.0})
    with running(args.engine) as ref:
        async with AsyncModel(ref, settings=settings) as model:
            for turn, (prompt, wishes) in enumerate(questions(args.choice, args.turns)):
                events: list[Event] = [event async for event in model.stream(prompt, **wishes)]
                calls = [event.call for event in events if isinstance(event, ToolCallEvent)]
                text = "".join(event.text for event in events if isinstance(event, AssistantDelta))
                tokens += [event.completion_tokens or 0 for event in events if isinstance(event, Usage)]
                counts.update(f"ended by {event.reason}" for event in events if isinstance(event, Done))
                offered = {tool.name for tool in wishes["tools"]}
                valid = [call.name in offered and _VALIDATORS[call.name].is_valid(call.arguments) for call in calls]
                outcome = "a reply" if not calls else "a valid call" if all(valid) else "an INVALID call"
                counts[f"{outcome}, to a prompt {'for tools' if prompt in TOOL_PROMPTS else 'of words'}"] += 1
                counts[outcome] += 1
                if not calls:
                    replies.append(f"{prompt!r}: {text[:160]!r}")
                if outcome == "an INVALID call":
                    print(f"turn {turn}: {calls}")
                print(f"\r{turn + 1}", end="", file=sys.stderr, flush=True)
    print(f"\n{args.engine}, {args.choice}: {args.turns} turns")
    for what, count in sorted(counts.items()):
        print(f"  {count:4}  {what}")
    print(f"  tokens: {sum(tokens) / max(1, len(tokens)):.0f} a turn, {max(tokens, default=0)} at most")
    for reply in islice(replies, SHOWN):
        print(f"  {reply}")
    return 0 if args.choice == "auto" or counts["a valid call"] == args.turns else 3


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
