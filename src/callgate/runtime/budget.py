"""What tools cost: the tokens of a model's context that their descriptions take before anybody has said a word."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from callgate.runtime.estimates import BYTES_PER_TOKEN, tokens_of_tool
from callgate.runtime.session import Session
from callgate.vocabulary import ChatRequest, ModelRef, Notice, Tool

COMMON_TOKENS = 60
"""What a template writes once, to say that there are tools and how to call them."""
LARGE_SHARE = 0.5
"""Of the context, from which on tools leave too little for the conversation."""
TOO_LARGE_SHARE = 0.9
"""From which on nothing else fits, so that they aren't sent at all: a server would refuse, or cut off what matters."""
ENGINES_CONTEXT = 8192
"""What our own engine gives a model at most, unless it is told otherwise."""
SMALLEST_RESULT = 2_000


class ToolCost(msgspec.Struct, frozen=True):
    name: str
    tokens: int


class Budget(msgspec.Struct, frozen=True):
    """An estimate."""

    costs: tuple[ToolCost, ...]
    context: int | None = None
    """Tokens in all, where that is known."""

    @property
    def tokens(self) -> int:
        return COMMON_TOKENS + sum(cost.tokens for cost in self.costs) if self.costs else 0

    @property
    def share(self) -> float | None:
        return self.tokens / self.context if self.context else None

    @property
    def is_too_much(self) -> bool:
        return self.context is not None and self.tokens >= TOO_LARGE_SHARE * self.context

    @property
    def warning(self) -> Notice | None:
        """Where the tools leave little for the conversation, or nothing."""
        if self.context is None or self.tokens < LARGE_SHARE * self.context:
            return None
        count = "the tool takes" if len(self.costs) == 1 else f"the {len(self.costs):,} tools take"
        dearest = sorted(self.costs, key=lambda cost: -cost.tokens)[:3]
        listed = ", ".join(f"{cost.name} {cost.tokens:,}" for cost in dearest)
        return Notice(
            "tools_fill_context",
            f"{count} about {self.tokens:,} of {self.context:,} tokens of context"
            f"{', and are left out' if self.is_too_much else ''}: switch some off ({listed})",
        )

    def longest_result(self, results: int, most: int) -> int:
        """Characters that each of so many results may have, so that together they take half of the context."""
        if self.context is None:
            return most
        return min(most, max(SMALLEST_RESULT, int(self.context * BYTES_PER_TOKEN / 2 / max(1, results))))


def budget_of(tools: Iterable[Tool], context: int | None = None) -> Budget:
    return Budget(tuple(ToolCost(tool.name, tokens_of_tool(tool)) for tool in tools), context)


async def context_of(session: Session, ref: ModelRef, request: ChatRequest) -> int | None:
    """How many tokens the model will really have, as far as it is known. Raises: as `Session.find` does."""
    if isinstance(asked_for := request.options.get("num_ctx"), int):
        return asked_for
    known = (await session.find(ref)).capabilities
    if (said := session.knowledge.manual_context(ref)) is not None:
        return said
    if ref.scheme == "ollama":  # which is asked for as much as it takes
        return known.context_length
    if known.loaded_context is not None:
        return known.loaded_context
    if ref.scheme in ("openai", "scripted"):
        return known.context_length
    return session.settings.llamacpp.context or min(known.context_length or ENGINES_CONTEXT, ENGINES_CONTEXT)
