"""Real models, on real engines: those that can call tools do, and those that can't don't."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

import pytest

from callgate.settings import load_settings
from callgate.validate import Run, validate_model_async
from callgate.vocabulary import ModelRef
from tests.backends import smollm2
from tests.conftest import missing

SETTINGS = {"llamacpp.context": 4096, "detect.server_timeout": 120.0}


def rates(run: Run) -> Mapping[str, float]:
    """What part passed, by mode and check; what isn't supported isn't there."""
    judged: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in run.trials:
        if trial.passed is not None:
            judged[f"{trial.mode} {trial.check}"].append(trial.passed)
    return {name: sum(passed) / len(passed) for name, passed in judged.items()}


@pytest.mark.engine
async def test_tiny_calls_the_tool_nine_times_of_ten(require_engine: None) -> None:
    run = await validate_model_async("tiny", only=["one-call", "small-talk"], modes=["native"], trials=20)
    assert rates(run)["native toolCall"] >= 0.9
    assert rates(run)["native noToolCall"] == 1.0
    assert all(trial.tokens for trial in run.trials)
    assert {trial.case: trial.first_token_ms is not None for trial in run.trials}["small-talk"]
    assert not any(trial.first_token_ms for trial in run.trials if trial.case == "one-call")  # a call comes whole
    assert run.about.digest


@pytest.mark.engine
async def test_a_model_without_tools_calls_none_unless_they_are_emulated(require_engine: None) -> None:
    try:
        path = smollm2.fetched()
    except smollm2.NotFetched as error:
        missing(f"no SmolLM2: {error}")
    run = await validate_model_async(
        str(path),
        only=["one-call", "valid-call"],
        modes=["native", "emulated"],
        trials=1,
        settings=load_settings(SETTINGS),
    )
    found = rates(run)
    assert (found["native toolCall"], found["native schemaValid"], found["emulated schemaValid"]) == (0.0, 0.0, 1.0)


@pytest.mark.ollama
async def test_over_a_real_ollama_it_is_the_same(ollama_url: str) -> None:
    run = await validate_model_async(
        ModelRef("ollama", "tiny", ollama_url),
        only=["one-call", "choice-required", "valid-call", "choice-none"],
        modes=["native", "emulated"],
        trials=4,
        settings=load_settings(SETTINGS),
    )
    found = rates(run)
    assert found["native toolCall"] >= 0.75
    assert found["emulated schemaValid"] == found["off noToolCall"] == 1.0
    assert "native toolChoice" not in found  # an Ollama can't be told that a tool must be called
    unsupported = {trial.reason for trial in run.trials if trial.passed is None}
    assert unsupported == {"its server can't be told that a tool must be called"}
