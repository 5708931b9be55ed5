"""Runs the application with uvicorn, in one process or several, until it is told to stop."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.gateway.serving.busy import Busy
    from callgate.gateway.serving.running import serve
    from callgate.gateway.serving.siblings import Alone, Siblings

__all__ = ["Alone", "Busy", "Siblings", "serve"]

__getattr__ = opened_on_use(__name__, {"Alone": "siblings", "Busy": "busy", "Siblings": "siblings", "serve": "running"})
