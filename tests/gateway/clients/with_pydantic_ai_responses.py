"""An agent of `pydantic-ai`, with a model of the kind `openai:`: one that speaks of responses, found by environment."""

from __future__ import annotations

import os

from tests.gateway.clients.talk import Noted, asked
from tests.gateway.clients.with_pydantic_ai import talk

if __name__ == "__main__":
    told = asked()
    os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = f"{told.url}/v1", "none"
    for way in told.ways:
        talk(told, Noted(), stream=way, kind="openai")
