"""What is wanted for a model, by the settings: the strategy for its tools, and what to do where it has none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, cast, get_args

from callgate.gate import Policy, Strategy
from callgate.settings import Settings
from callgate.vocabulary import ModelRef, UsageError

Surface = Literal["chat", "gateway", "library"]


def policy_for(ref: ModelRef, settings: Settings, surface: Surface) -> Policy:
    """Raises: UsageError, if `tools.per_model` or `tools.limit_per_model` can't be read."""
    tools = settings.tools
    own = _per_model(tools.per_model or "")
    when_unsupported = {
        "chat": tools.unsupported_in_chat,
        "gateway": tools.unsupported_in_gateway,
        "library": tools.unsupported_in_library,
    }
    limits = _limits(tools.limit_per_model or "")
    # As Ollama takes names.
    names = [str(ref), ref.name, *([ref.name.removesuffix(":latest")] if ref.scheme == "ollama" else ())]
    return Policy(
        strategy=next((own[name] for name in names if name in own), tools.strategy),
        when_unsupported=when_unsupported[surface],
        recover=tools.recover,
        tool_limit=next((limits[name] for name in names if name in limits), tools.limit),
    )


def _per_model(text: str) -> Mapping[str, Strategy]:
    strategies: dict[str, Strategy] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        model, _, strategy = (part.strip() for part in entry.rpartition("="))
        if not model or strategy not in get_args(Strategy):
            raise UsageError(
                f"the setting 'tools.per_model' has {entry[:80]!r}, which isn't MODEL=STRATEGY",
                hint=f"as in qwen3:8b=off; strategies are {', '.join(get_args(Strategy))}",
            )
        strategies[model] = cast("Strategy", strategy)
    return strategies


def _limits(text: str) -> Mapping[str, int]:
    limits: dict[str, int] = {}
    for entry in filter(None, (part.strip() for part in text.split(","))):
        model, _, limit = (part.strip() for part in entry.rpartition("="))
        if not model or not (limit.isascii() and limit.isdecimal()):
            raise UsageError(
                f"the setting 'tools.limit_per_model' has {entry[:80]!r}, which isn't MODEL=NUMBER",
                hint="as in qwen3:8b=16; 0 is all tools",
            )
        limits[model] = int(limit[:9])
    return limits
