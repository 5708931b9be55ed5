"""LangChain's `ChatOpenAI`."""

from __future__ import annotations

from langchain_openai import ChatOpenAI

from tests.gateway.clients.langchain_talk import talk
from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, Noted, asked

if __name__ == "__main__":
    wanted = asked()
    model = ChatOpenAI(
        base_url=f"{wanted.url}/v1", api_key="none", model=wanted.model, temperature=0, max_tokens=MOST_TOKENS
    )
    for way in wanted.ways:
        noted = Noted()
        talk(model, QUESTIONS, noted, must=wanted.must, stream=way)
        noted.tell()
