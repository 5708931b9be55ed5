"""How tools reach a model: the answer to two questions, whether it can, and whether its server lets them through."""

from __future__ import annotations

from typing import Literal

from callgate.vocabulary import Answer

Mode = Literal["native", "emulated", "off"]


def mode_of(
    tools: Answer,
    native_route: Answer,
    *,
    embedding: bool = False,
    when_unsupported: Literal["emulated", "off"] = "emulated",
) -> Mode:
    """`native`: tools go through as they are; `emulated`: they are described in the prompt; `off`: they aren't sent.

    A route that nobody knows is tried: a server that refuses says so before it does anything.
    """
    if embedding:
        return "off"
    if tools is not Answer.YES:
        return when_unsupported
    return "emulated" if native_route is Answer.NO else "native"
