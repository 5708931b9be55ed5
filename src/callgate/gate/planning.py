"""Plans one turn: how tools reach this model, and the request as it is sent."""

from __future__ import annotations

from functools import partial

import msgspec

from callgate.gate.choosing import tools_that_may_be_called
from callgate.gate.deciding import Mode, Policy
from callgate.gate.emulation import emulation_of
from callgate.gate.history import history_for, tools_off_note
from callgate.gate.mending import Mender, Offer
from callgate.gate.recovery import Recovery
from callgate.gate.routes import Routes
from callgate.gate.trimming import trimmed
from callgate.vocabulary import Capabilities, ChatRequest, Means, Notice

FEW_CHARACTERS = 6_000
"""What is no longer fits any context."""


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """How one turn is done."""

    mode: Mode
    reason: str
    request: ChatRequest
    """As the backend gets it."""
    notices: tuple[Notice, ...] = ()
    offer: Offer | None = None
    """What the model may call; `None` where it gets no tools."""
    is_held: bool = False
    """An emulated answer is held to its form by the backend."""
    trimmed: int = 0
    """How many of the tools the model isn't offered, because there are too many."""

    @property
    def owes_a_call(self) -> bool:
        """The model was told to call a tool, in its own way: it may be held to that in another."""
        return self.mode == "native" and self.offer is not None and self.offer.must_call

    def mender(self) -> Mender:
        """A new one, for the events of this turn."""
        return Mender(self.offer, "emulated_call" if self.mode == "emulated" else "text_call")


def needs_knowledge(request: ChatRequest) -> bool:
    """Whether it matters what the model can do. A few words to any model are the same for all of them."""
    if request.tools:
        return True
    characters = 0
    for message in request.messages:
        if message.role in ("system", "tool") or message.calls or message.images or message.thinking:
            return True
        characters += len(message.content)
    return characters > FEW_CHARACTERS


def plan(
    request: ChatRequest,
    known: Capabilities,
    means: Means,
    policy: Policy,
    *,
    refusal: str | None = None,
    template: str | None = None,
) -> Plan:
    """Rewrites `request` for the model that is `known`, whatever model its history comes from.

    `refusal` is what the server said when it was sent tools; `template` is the model's chat template, where it is seen.

    Raises: UsageError, if a tool must be called that isn't among those that are offered.
    """
    return plan_by(Routes(request.model, known, means, policy, template), request, refusal)


def plan_by(routes: Routes, request: ChatRequest, refusal: str | None = None) -> Plan:
    """The same, for those who plan often for one model, whatever model the request names."""
    known, policy = routes.known, routes.policy
    tools = tools_that_may_be_called(request)
    cut = 0
    told: tuple[Notice, ...] = ()
    if policy.tool_limit:
        some = trimmed(tools, request.messages, policy.tool_limit)
        tools, cut, told = some.tools, len(some.cut), some.notices
    route = routes.of(tools, request.tool_choice, request.parallel_tool_calls, refusal)
    if route.offer is None:
        return _without_tools(routes, request, route.mode, route.reason)
    names = route.offer.names
    if route.mode == "emulated":
        emulation = emulation_of(
            msgspec.structs.replace(request, model=routes.model, tools=names.offered), routes.means, known
        )
        how = "" if emulation.held else ", and nothing holds the model to them"
        recovery = partial(Recovery, names)
        read = partial(emulation.answer, recovery if policy.recover else None) if emulation.held else recovery
        said = Notice("tools_emulated", f"tools are emulated{how}: {route.reason}")
        return Plan(
            mode="emulated",
            reason=route.reason,
            request=emulation.request,
            notices=(said, *told, *emulation.notices),
            offer=msgspec.structs.replace(route.offer, new_reader=read),
            is_held=emulation.held,
            trimmed=cut,
        )
    messages, notices = history_for(request.messages, known, "native", names)
    return Plan(
        mode="native",
        reason=route.reason,
        request=msgspec.structs.replace(
            request,
            model=routes.model,
            messages=messages,
            tools=names.tools,
            tool_choice=route.tool_choice,
            parallel_tool_calls=route.parallel_tool_calls,
        ),
        notices=(*told, *notices),
        trimmed=cut,
        offer=route.offer,
    )


def _without_tools(routes: Routes, request: ChatRequest, mode: Mode, reason: str) -> Plan:
    """Past calls stay what they are for a model that knows calls, and become text for any other."""
    known = routes.known
    messages, notices = history_for(request.messages, known, "native" if mode == "native" else "off", None)
    withheld = request.tools and request.tool_choice != "none"
    if withheld:
        messages = tools_off_note(messages, known)
        notices = (Notice("tools_off", f"tools are off: {reason}"), *notices)
    elif request.tools:
        reason = "tool_choice is none"
    else:
        reason = "no tools are offered"
    plain = msgspec.structs.replace(
        request, model=routes.model, messages=messages, tools=(), tool_choice=None, parallel_tool_calls=None
    )
    return Plan(mode="off", reason=reason, request=plain, notices=notices)
