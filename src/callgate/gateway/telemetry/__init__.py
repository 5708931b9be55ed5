"""Traces and metrics of what is answered, by OpenTelemetry's conventions for generative AI.

Loaded only where the owner asks for it. What is said, tools' arguments and results are in it only if that is asked for
too.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.gateway.telemetry.export import exporting
    from callgate.gateway.telemetry.tracing import Telemetry

__all__ = ["Telemetry", "exporting"]

__getattr__ = opened_on_use(__name__, {"Telemetry": "tracing", "exporting": "export"})
