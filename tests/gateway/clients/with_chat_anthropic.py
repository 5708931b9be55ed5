"""LangChain's `ChatAnthropic`."""

from __future__ import annotations

from langchain_anthropic import ChatAnthropic

from tests.gateway.clients.langchain_talk import talk
from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, Noted, asked

if __name__ == "__main__":
    wanted = asked()
    model = ChatAnthropic(
        base_url=wanted.url, api_key="none", model_name=wanted.model, temperature=0, max_tokens_to_sample=MOST_TOKENS
    )
    for way in wanted.ways:
        noted = Noted()
        talk(model, QUESTIONS, noted, must=wanted.must, stream=way)
        noted.tell()
