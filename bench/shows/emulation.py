"""How often a model without tools calls them validly when they are emulated: SmolLM2-135M, on real engines.

    python -m bench.shows.emulation --engine ollama --choice required --turns 100

A call is valid if its arguments validate against the tool's own schema. Sampling is as the server has it by default.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import sys
import tempfile
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from itertools import islice
from pathlib import Path

import jsonschema_rs

from bench.shows.everyday_tools import PLAIN_PROMPTS, TOOL_PROMPTS, TOOLS
from callgate.backends import Backend, OllamaBackend
from callgate.backends.llamacpp import LlamaCppBackend
from callgate.gate.emulation import emulation_of
from callgate.gate.recovery import Found, Piece, Text
from callgate.settings import load_settings
from callgate.vocabulary import AssistantDelta, Capabilities, ChatRequest, Done, Means, Message, Usage
from callgate.wire import HttpClient
from tests.backends import smollm2
from tests.real_ollama import server

KNOWN = Capabilities(name="smollm2", context_length=8192, loaded_context=4096)
MEANS = {
    "llamacpp": Means(schema=True, grammar=True),
    "llamacpp-schema": Means(schema=True),
    "ollama": Means(schema=True),
}
SHOWN = 5
MOST_WORDS = 300
_VALIDATORS = {tool.name: jsonschema_rs.validator_for(dict(tool.parameters)) for tool in TOOLS}


@asynccontextmanager
async def running(engine: str) -> AsyncIterator[tuple[Backend, str]]:
    """The backend, and what the model is called there."""
    model = smollm2.fetched()
    async with HttpClient() as http:
        with contextlib.ExitStack() as stack:
            backend: Backend
            if engine == "ollama":
                folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
                url = stack.enter_context(server.running(server.installed(), folder, model))
                backend, name = OllamaBackend(url, http, timeout=120), server.MODEL
            else:
                backend, name = LlamaCppBackend(load_settings({"llamacpp.context": 4096}), http), str(model)
            try:
                yield backend, name
            finally:
                await backend.close()


def requests(model: str, choice: str, turns: int) -> list[ChatRequest]:
    """All prompts in turn, each with one to four tools."""
    found = []
    prompts = [*TOOL_PROMPTS, *PLAIN_PROMPTS]
    for turn in range(turns):
        count = turn % 4 + 1
        tools = tuple(TOOLS[(turn * 3 + place) % len(TOOLS)] for place in range(count))
        wanted = tools[turn % count].name if choice == "named" else choice
        found.append(
            ChatRequest(
                model=model,
                messages=(Message(role="user", content=prompts[turn % len(prompts)]),),
                tools=tools,
                tool_choice=wanted,
                # Calls end by themselves; words don't always.
                max_tokens=MOST_WORDS if choice == "auto" else None,
            )
        )
    return found


async def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engine", choices=MEANS, default="llamacpp")
    parser.add_argument("--choice", choices=["required", "named", "auto"], default="required")
    parser.add_argument("--turns", type=int, default=100)
    args = parser.parse_args()
    counts: Counter[str] = Counter()
    tokens: list[int] = []
    replies: list[str] = []
    async with running(args.engine) as (backend, model):
        for turn, request in enumerate(requests(model, args.choice, args.turns)):
            emulation = emulation_of(request, MEANS[args.engine], KNOWN)
            reader = emulation.answer()
            pieces: list[Piece] = []
            async with aclosing(backend.stream(emulation.request)) as events:
                async for event in events:
                    if isinstance(event, AssistantDelta):
                        pieces += reader.feed(event.text)
                    elif isinstance(event, Usage):
                        tokens.append(event.completion_tokens or 0)
                    elif isinstance(event, Done):
                        pieces += reader.close()
                        counts[f"ended by {event.reason}"] += 1
            calls = [piece for piece in pieces if isinstance(piece, Found)]
            text = "".join(piece.text for piece in pieces if isinstance(piece, Text))
            offered = {tool.name for tool in request.tools}
            valid = [call.name in offered and _VALIDATORS[call.name].is_valid(call.arguments) for call in calls]
            prompt = request.messages[0].content
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
