"""A session in which tools go the way that is to be tried, and no other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from callgate.gate import Observation, Plan, Policy, Strategy
from callgate.runtime import Session
from callgate.settings import Settings
from callgate.validate.heard import Heard
from callgate.validate.records import Mode
from callgate.vocabulary import ChatRequest, ModelRef

_STRATEGIES: dict[Mode, Strategy] = {"native": "native", "recovered": "native", "emulated": "emulate", "off": "off"}


class NotThisWay(Exception):
    """Tools can't reach the model in the way that is to be tried. `is_known`: that is the server's or our own word."""

    def __init__(self, why: str, *, is_known: bool) -> None:
        super().__init__(why)
        self.why = why
        self.is_known = is_known


class ModedSession(Session):
    """Belongs to one event loop, as every session; one trial at a time."""

    def __init__(self, settings: Settings | None = None) -> None:
        super().__init__(settings, on_observation=self._hear)
        self.mode: Mode | None = None
        """`None`: the way that callgate goes by itself."""
        self.knows_server = False
        """It was found out what kind of server has the model: what such a server can't be told, it can't."""
        self.on_exchange: Callable[[ChatRequest, Heard], None] | None = None
        """Gets what each turn was asked, as its backend got it, and what came of it."""
        self.sent: ChatRequest | None = None
        """What was planned last."""
        self.exchange: Any = None
        """The last turn, as it went over the wire."""
        self.is_refused = False
        """A server has said that it takes no tools for the model."""

    def policy(self, ref: ModelRef) -> Policy:
        usual = super().policy(ref)
        if self.mode is None:
            return usual
        return msgspec.structs.replace(
            usual, strategy=_STRATEGIES[self.mode], recover=self.mode == "recovered", when_unsupported="emulate"
        )

    def require_way(self, planned: Plan, request: ChatRequest) -> None:
        """Raises: NotThisWay, if `planned`, the next thing to be tried, is another way than ours."""
        self.sent = planned.request
        if not request.tools or request.tool_choice == "none" or self.mode in (None, "off"):
            return
        wanted = _STRATEGIES[self.mode]
        if planned.mode != ("emulated" if wanted == "emulate" else wanted):
            raise NotThisWay(planned.reason, is_known=self.is_refused or planned.mode == "off")
        must_call = request.tool_choice not in (None, "auto")
        if planned.mode == "native" and must_call and planned.request.tool_choice is None and self.knows_server:
            raise NotThisWay("its server can't be told that a tool must be called", is_known=True)

    def tell_of(self, heard: Heard) -> None:
        """That this came of what was planned last."""
        if self.on_exchange and self.sent:
            self.on_exchange(self.sent, heard)

    def _hear(self, ref: ModelRef, observation: Observation) -> None:  # noqa: ARG002
        self.is_refused = self.is_refused or observation.kind == "tools_refused"
