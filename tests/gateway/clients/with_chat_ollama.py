"""LangChain's `ChatOllama`."""

from __future__ import annotations

from langchain_ollama import ChatOllama

from tests.gateway.clients.langchain_talk import talk
from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, URGENT, Noted, asked

if __name__ == "__main__":
    wanted = asked()
    model = ChatOllama(base_url=wanted.url, model=wanted.model, temperature=0, num_predict=MOST_TOKENS)
    # A small model repeats what it did before, rather than what it is told.
    talks = [{tool: question} for tool, question in URGENT.items()] if wanted.must else [QUESTIONS]
    for way in wanted.ways:
        noted = Noted()
        for questions in talks:
            talk(model, questions, noted, must=False, stream=way)
        noted.tell()
