"""What the tests of an agent look like: a real model calls its tools."""

from __future__ import annotations

from collections.abc import Iterator

import agent  # type: ignore[import-not-found]
import openai
import pytest

from callgate.testing import Endpoint


@pytest.fixture
def client(callgate: Endpoint) -> Iterator[openai.OpenAI]:
    with openai.OpenAI(base_url=callgate.openai_url, api_key="any") as client:
        yield client


def test_it_multiplies(client: openai.OpenAI, callgate: Endpoint) -> None:
    answer, called = agent.answer(client, "Multiply 17 and 23.", callgate.model)
    assert called == ["multiply"]
    assert "391" in answer


def test_it_reads_notes_and_says_the_same_each_time(client: openai.OpenAI, callgate: Endpoint) -> None:
    answers = [agent.answer(client, "Read the note milk.", callgate.model) for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert answers[0][1] == ["read_note"]


def test_a_program_finds_it_by_its_environment(callgate: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in callgate.env().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AGENT_MODEL", callgate.model)
    assert agent.answer_by_environment("Multiply 6 and 7.")[1] == ["multiply"]


def test_nothing_else_is_served(client: openai.OpenAI, callgate: Endpoint) -> None:
    assert callgate.model in [model.id for model in client.models.list()]
