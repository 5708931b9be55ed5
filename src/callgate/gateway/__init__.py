"""The HTTP server: one endpoint in front of every backend where tool calls just work, for clients of any dialect.

A plain ASGI application (`app`), which `serving/` runs. A dialect is one file in `dialects/`, made of what is in
`given/` and `writing/`; who may ask, what is counted and what is limited is the same for all of them.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.gateway.app import App
    from callgate.gateway.options import PORT, Options, Otel, ServeLimits
    from callgate.gateway.serving import serve
    from callgate.gateway.sharing import KeyRing

__all__ = ["PORT", "App", "KeyRing", "Options", "Otel", "ServeLimits", "serve"]

__getattr__ = opened_on_use(
    __name__,
    {
        "App": "app",
        "KeyRing": "sharing",
        "Options": "options",
        "Otel": "options",
        "PORT": "options",
        "ServeLimits": "options",
        "serve": "serving",
    },
)
