"""The access log: a JSON object for each request, without anything that was said."""

from __future__ import annotations

import logging

import msgspec

from callgate.gateway.turns import Told

log = logging.getLogger(__name__)


class Noted(msgspec.Struct):
    """What is to be told of a request when it is over."""

    method: str
    route: str
    """As it stands in the table of routes, not as the client wrote it."""
    status: int = 0
    seconds: float = 0.0
    told: Told | None = None

    @property
    def model(self) -> str:
        return self.told.ref.name if self.told else ""

    def write(self) -> None:
        if not log.isEnabledFor(logging.INFO):
            return
        line: dict[str, object] = {
            "method": self.method,
            "route": self.route,
            "status": self.status,
            "ms": round(self.seconds * 1000, 1),
        }
        if self.told:
            line |= {"model": str(self.told.ref), "mode": self.told.mode, "repairs": len(self.told.repairs)}
            if self.told.usage:
                line["prompt_tokens"] = self.told.usage.prompt_tokens
                line["completion_tokens"] = self.told.usage.completion_tokens
        log.info("%s", msgspec.json.encode(line).decode())
