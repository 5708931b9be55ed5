"""Native, emulated or off: how tools reach a model, and why."""

from __future__ import annotations

from typing import Literal

import msgspec

from callgate.vocabulary import Answer, Capabilities, Means

Mode = Literal["native", "emulated", "off"]
Strategy = Literal["auto", "native", "emulate", "off"]
WhenUnsupported = Literal["emulate", "off"]


class Policy(msgspec.Struct, frozen=True, kw_only=True):
    """What the user, or the program that serves them, wants to be done with tools."""

    strategy: Strategy = "auto"
    when_unsupported: WhenUnsupported = "emulate"
    """What to do with tools for a model that can't call them, or of which nobody knows."""
    recover: bool = True
    """Whether calls that arrive as text are looked for."""
    tool_limit: int = 0
    """How many tools a model is offered, if there are more; 0: all."""


class Decision(msgspec.Struct, frozen=True):
    mode: Mode
    reason: str


def mode_of(
    tools: Answer,
    native_route: Answer,
    *,
    embedding: bool = False,
    when_unsupported: WhenUnsupported = "emulate",
) -> Mode:
    """`native`: tools go through as they are; `emulated`: they are described in the prompt; `off`: they aren't sent.

    A route that nobody knows is tried: a server that refuses says so before it does anything.
    """
    if embedding:
        return "off"
    if tools is not Answer.YES:
        return _instead(when_unsupported)
    return "emulated" if native_route is Answer.NO else "native"


def decide(
    known: Capabilities, means: Means, policy: Policy, *, choice: str | None = None, refusal: str | None = None
) -> Decision:
    """How tools reach this model. `refusal` is what its server said when it was sent tools."""
    if known.is_embedding:
        return Decision("off", "it is a model for embedding")
    match policy.strategy:
        case "off":
            return Decision("off", "tools are switched off")
        case "emulate":
            return Decision("emulated", "that is what was asked for")
        case "native" if refusal is None:
            return Decision("native", "tools are to go through as they are")
    mode = mode_of(known.tools, known.native_route, when_unsupported=policy.when_unsupported)
    if refusal is not None and mode == "native":
        # The server's word on the route; the model may still be able to, in another way.
        mode = "emulated" if known.tools is Answer.YES else _instead(policy.when_unsupported)
    if mode == "native" and choice not in (None, "auto") and not means.tool_choice:
        return Decision("emulated", "its server can't be told that a tool must be called")
    return Decision(mode, refusal or _why(known, mode))


def _instead(when_unsupported: WhenUnsupported) -> Mode:
    return "emulated" if when_unsupported == "emulate" else "off"


def _why(known: Capabilities, mode: Mode) -> str:
    claim = "native_route" if known.tools is Answer.YES and mode == "emulated" else "tools"
    decisive = next((found for found in known.evidence if found.claim == claim and found.detail), None)
    if decisive:
        return decisive.detail
    return {
        Answer.YES: "the model can call tools",
        Answer.NO: "the model can't call tools",
        Answer.UNKNOWN: "nobody knows whether the model can call tools",
    }[known.tools]
