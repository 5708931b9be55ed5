from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.telemetry.words import asked_for, whose
from callgate.vocabulary import ChatRequest, ModelRef
from tests.gateway.running import no_servers


@pytest.mark.parametrize(
    ("ref", "provider", "address"),
    [
        ("qwen3:8b", "ollama", "127.0.0.1"),
        ("https://user:pw@api.openai.com/v1#gpt", "openai", "api.openai.com"),
        ("https://api.groq.com/openai/v1#m", "groq", "api.groq.com"),
        ("https://it.openai.azure.com/v1#m", "azure.ai.openai", "it.openai.azure.com"),
        ("http://lab:8000/v1#m", "openai", "lab"),
        ("tiny", "llama.cpp", None),
    ],
)
def test_who_runs_a_model_is_told_in_the_words_of_the_conventions(ref: str, provider: str, address: str | None) -> None:
    told = whose(ModelRef.parse(ref), no_servers())
    assert told["gen_ai.provider.name"] == provider
    assert told.get("server.address") == address
    assert "pw" not in str(told)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(), lambda inner: st.lists(inner, max_size=3)
)


@given(st.dictionaries(st.sampled_from(["temperature", "top_p", "top_k", "seed", "stop"]), json_values))
def test_whatever_a_client_asks_for_can_be_told(wanted: dict[str, Any]) -> None:
    told = asked_for(ChatRequest(model="m", messages=(), options=wanted), stream=False)
    for value in told.values():
        assert isinstance(value, bool | int | float | str | list)
        assert not isinstance(value, list) or all(isinstance(each, str) for each in value)
