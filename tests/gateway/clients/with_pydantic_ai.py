"""An agent of `pydantic-ai`, with a model of the kind `openai-chat:`, found through the environment."""

from __future__ import annotations

import os
from typing import Any

from pydantic_ai import Agent

from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, Asked, Noted, asked


def talk(wanted: Asked, noted: Noted, *, stream: bool, kind: str = "openai-chat") -> None:
    def multiply(a: float, b: float) -> str:
        """Multiply two numbers."""
        return noted.called("multiply", {"a": a, "b": b})

    def get_weather(city: str) -> str:
        """Get the weather in a city."""
        return noted.called("get_weather", {"city": city})

    def settings(context: Any) -> Any:
        choice = {"tool_choice": [tool]} if wanted.must and context.run_step == 1 else {}
        return {"temperature": 0, "max_tokens": MOST_TOKENS, **choice}

    agent = Agent(f"{kind}:{wanted.model}", model_settings=settings, tools=[multiply, get_weather])
    history: Any = None
    for tool, question in QUESTIONS.items():  # noqa: B007 - the settings look at it
        if stream:
            streamed = agent.run_stream_sync(question, message_history=history)
            noted.answered(streamed.get_output())
            history = streamed.all_messages()
        else:
            done = agent.run_sync(question, message_history=history)
            noted.answered(done.output)
            history = done.all_messages()
    noted.tell()


if __name__ == "__main__":
    told = asked()
    os.environ["OPENAI_BASE_URL"], os.environ["OPENAI_API_KEY"] = f"{told.url}/v1", "none"
    for way in told.ways:
        talk(told, Noted(), stream=way)
