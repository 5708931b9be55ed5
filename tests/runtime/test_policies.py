from __future__ import annotations

import pytest

from callgate.runtime import policy_for
from callgate.settings import load_settings
from callgate.vocabulary import ModelRef

LATEST = ModelRef("ollama", "good:latest", "http://lab:11434")


@pytest.mark.parametrize(
    ("ref", "strategy", "limit"),
    [
        (LATEST, "emulate", 3),
        (ModelRef("ollama", "good"), "emulate", 3),
        (ModelRef("openai", "good", "http://lab/v1"), "emulate", 3),
        (ModelRef("openai", "good:latest", "http://lab/v1"), "auto", 0),
        (ModelRef("ollama", "good:8b"), "auto", 0),
    ],
)
def test_what_is_said_of_a_model_holds_wherever_it_is(ref: ModelRef, strategy: str, limit: int) -> None:
    known = load_settings({"tools.per_model": "good=emulate", "tools.limit_per_model": "good=3"}, {})
    policy = policy_for(ref, known, "gateway")
    assert (policy.strategy, policy.tool_limit) == (strategy, limit)


def test_what_is_said_of_one_place_comes_first() -> None:
    known = load_settings({"tools.per_model": f"good=off,{LATEST}=native", "tools.limit_per_model": f"{LATEST}=0"}, {})
    assert policy_for(LATEST, known, "gateway").strategy == "native"
    assert policy_for(ModelRef("ollama", "good:latest"), known, "gateway").strategy == "off"
