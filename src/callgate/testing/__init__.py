"""For people who test agents: a pytest plugin with a real model that calls tools.

The fixture `callgate` is a running endpoint for programs that speak OpenAI's, Ollama's or Anthropic's protocol, with
the model in the box behind it: deterministic, on this machine, without a network. pytest loads this file whenever
callgate is installed, so it has nothing in it but the door; all else is loaded when a test asks for the fixture.
"""

from __future__ import annotations

import pytest

from callgate.doors import opened_on_use

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from callgate.testing.endpoint import Endpoint

__all__ = ["Endpoint", "callgate"]

__getattr__ = opened_on_use(__name__, {"Endpoint": "endpoint"})


@pytest.fixture(scope="session")
def callgate() -> Iterator[Endpoint]:
    """A running endpoint with a small model that calls tools: .openai_url, .ollama_url, .anthropic_url, .model, .env()

    It needs the extras: pip install 'callgate[serve,llamacpp]'
    """
    from callgate.testing.endpoint import NotStarted, running

    problem = ""
    try:
        with running() as endpoint:
            yield endpoint
    except NotStarted as error:
        problem = str(error)
    if problem:  # outside, so that it is told once
        pytest.fail(problem, pytrace=False)
