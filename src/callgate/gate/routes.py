"""By which way tools reach a model: worked out once for all requests that come with the same ones."""

from __future__ import annotations

from functools import partial

import msgspec

from callgate.gate.deciding import Mode, Policy, decide
from callgate.gate.mending import Offer
from callgate.gate.recovery import Recovery, formats_for
from callgate.tools import Names
from callgate.vocabulary import Capabilities, Means, Tool

REMEMBERED = 64


class Route(msgspec.Struct, frozen=True):
    mode: Mode
    reason: str
    offer: Offer | None = None
    """As it is for native calls; `None` where there are no tools, or they are off."""
    tool_choice: str | None = None
    """As the server is told it, like the next."""
    parallel_tool_calls: bool | None = None


class Routes:
    """To one model, as long as nothing new is known of it. `template` is its chat template, where it is seen."""

    def __init__(
        self, model: str, known: Capabilities, means: Means, policy: Policy, template: str | None = None
    ) -> None:
        self.model = model
        """Its name at its backend."""
        self.known = known
        self.means = means
        self.policy = policy
        self._template = template
        self._before: dict[tuple[object, ...], tuple[tuple[Tool, ...], Route]] = {}

    def of(self, tools: tuple[Tool, ...], choice: str | None, parallel: bool | None, refusal: str | None) -> Route:
        """Raises: UsageError, if two tools have the same name."""
        key = (id(tools), choice, parallel, refusal)
        known = self._before.get(key)
        if known is None:
            if len(self._before) >= REMEMBERED:
                self._before.clear()
            # The tools are held, too: as long as they are, nothing else can have their identity.
            known = self._before[key] = (tools, self._new(tools, choice, parallel, refusal))
        return known[1]

    def _new(self, tools: tuple[Tool, ...], choice: str | None, parallel: bool | None, refusal: str | None) -> Route:
        known, means, policy = self.known, self.means, self.policy
        decision = decide(known, means, policy, choice=choice if tools else None, refusal=refusal)
        if not tools or decision.mode == "off":
            return Route(decision.mode, decision.reason)
        names = Names.of(tools, means.tool_names)
        reader = partial(Recovery, names, formats_for(self._template, known.family)) if policy.recover else None
        return Route(
            decision.mode,
            decision.reason,
            Offer(names, parallel, choice not in (None, "auto"), reader),
            _choice(choice, means),
            _parallel(parallel, known, means),
        )


def _choice(wanted: str | None, means: Means) -> str | None:
    if not means.tool_choice:
        return None
    return wanted if wanted in (None, "auto") else "required"


def _parallel(wanted: bool | None, known: Capabilities, means: Means) -> bool | None:
    if not means.parallel_tool_calls:
        return None
    return known.supports_parallel_tool_calls if wanted is None else wanted
