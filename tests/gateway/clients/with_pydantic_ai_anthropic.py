"""An agent of `pydantic-ai`, with a model of the kind `anthropic:`, found through the environment."""

from __future__ import annotations

import os

from tests.gateway.clients.talk import Noted, asked
from tests.gateway.clients.with_pydantic_ai import talk

if __name__ == "__main__":
    told = asked()
    os.environ["ANTHROPIC_BASE_URL"], os.environ["ANTHROPIC_API_KEY"] = told.url, "none"
    for way in told.ways:
        talk(told, Noted(), stream=way, kind="anthropic")
