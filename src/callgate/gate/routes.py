"""By which way tools reach a model: worked out once for all requests that come with the same tools to the same model."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec

from callgate.gate.deciding import Mode, Policy, decide
from callgate.gate.mending import Reader
from callgate.gate.recovery import Recovery, formats_for
from callgate.tools import Kept, Names
from callgate.vocabulary import Capabilities, Means, Tool


class Offer(msgspec.Struct, frozen=True):
    """What a model may call, and how its calls are read."""

    names: Names
    parallel: bool | None
    must_call: bool
    new_reader: Callable[[], Reader] | None


class Route(msgspec.Struct, frozen=True):
    mode: Mode
    reason: str
    offer: Offer | None = None
    """As it is for native calls; `None` where there are no tools, or they are off."""
    tool_choice: str | None = None
    """As the server is told it, like the next."""
    parallel_tool_calls: bool | None = None


class Asked(msgspec.Struct, frozen=True):
    """What else it depends on, besides records that stay the same."""

    choice: str | None
    parallel: bool | None
    refusal: str | None
    template: str | None


_known_before: Kept[Route] = Kept()


def route_for(tools: tuple[Tool, ...], known: Capabilities, means: Means, policy: Policy, asked: Asked) -> Route:
    """Raises: UsageError, if two tools have the same name."""
    return _known_before.of((known, means, policy, *tools), asked, lambda: _route(tools, known, means, policy, asked))


def _route(tools: tuple[Tool, ...], known: Capabilities, means: Means, policy: Policy, asked: Asked) -> Route:
    decision = decide(known, means, policy, choice=asked.choice if tools else None, refusal=asked.refusal)
    if not tools or decision.mode == "off":
        return Route(decision.mode, decision.reason)
    names = Names.of(tools, means.tool_names)
    reader = partial(Recovery, names, formats_for(asked.template, known.family)) if policy.recover else None
    return Route(
        decision.mode,
        decision.reason,
        Offer(names, asked.parallel, asked.choice not in (None, "auto"), reader),
        _choice(asked.choice, means),
        _parallel(asked.parallel, known, means),
    )


def _choice(wanted: str | None, means: Means) -> str | None:
    if not means.tool_choice:
        return None
    return wanted if wanted in (None, "auto") else "required"


def _parallel(wanted: bool | None, known: Capabilities, means: Means) -> bool | None:
    if not means.parallel_tool_calls:
        return None
    return known.supports_parallel_tool_calls if wanted is None else wanted
