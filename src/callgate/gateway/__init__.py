"""The HTTP server: one endpoint in front of every backend, for any dialect, with tools made to fit each model.

A plain ASGI application (`app`), which `serving/` runs. A dialect is one file in `dialects/`, made of what is in
`given/` and `writing/`; who may ask, what is counted and what is limited is the same for all of them.
"""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.gateway.app import App
    from callgate.gateway.options import PORT, Options, Otel, ServeLimits
    from callgate.gateway.owners_names import OwnersNames
    from callgate.gateway.serving import serve
    from callgate.gateway.sharing import KeyRing
    from callgate.gateway.unfound import names_nobody_has

__all__ = [
    "PORT",
    "App",
    "KeyRing",
    "Options",
    "Otel",
    "OwnersNames",
    "ServeLimits",
    "names_nobody_has",
    "serve",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "App": "app",
        "KeyRing": "sharing",
        "Options": "options",
        "Otel": "options",
        "OwnersNames": "owners_names",
        "PORT": "options",
        "ServeLimits": "options",
        "names_nobody_has": "unfound",
        "serve": "serving",
    },
)
