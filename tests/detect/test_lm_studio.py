from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from callgate.detect.lm_studio import lm_studio_evidence
from callgate.vocabulary import Answer, Evidence, Facts, ServerKind
from tests.detect.hostile_json import hostile_json


def said(entry: dict[str, Any] | None, name: str = "m") -> dict[str, Evidence]:
    found = Facts(name=name, server=ServerKind.LM_STUDIO, answer=entry, at=5.0)
    return {each.claim: each for each in lm_studio_evidence(found)}


def answers(entry: dict[str, Any], name: str = "m") -> dict[str, object]:
    return {claim: each.answer for claim, each in said(entry, name).items()}


def test_an_entry_of_the_newer_api_is_read_whole() -> None:
    entry = {
        "type": "llm",
        "key": "a/model",
        "architecture": "gemma4",
        "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
        "params_string": "26B-A4B",
        "loaded_instances": [
            {"id": "another", "config": {"context_length": 1024}},
            {"id": "a/model", "config": {"context_length": 4096}},
        ],
        "max_context_length": 262144,
        "capabilities": {
            "vision": True,
            "trained_for_tool_use": True,
            "reasoning": {"allowed_options": ["off", "on"], "default": "on"},
        },
    }
    assert answers(entry, "a/model") == {
        "is_embedding": Answer.NO,
        "native_route": Answer.YES,
        "tools": Answer.YES,
        "supports_vision": Answer.YES,
        "supports_thinking": Answer.YES,
        "supports_enable_thinking": Answer.YES,
        "context_length": 262144,
        "loaded_context": 4096,
        "architecture": "gemma4",
        "quantization": "Q4_K_M",
        "parameter_size": "26B-A4B",
    }
    assert answers(entry)["loaded_context"] == 1024


def test_an_entry_of_the_older_api_is_read_whole() -> None:
    entry = {
        "id": "m",
        "type": "vlm",
        "arch": "llama",
        "compatibility_type": "mlx",
        "quantization": "4bit",
        "max_context_length": 131072,
        "loaded_context_length": 4096,
        "capabilities": ["tool_use"],
    }
    assert answers(entry) == {
        "is_embedding": Answer.NO,
        "native_route": Answer.YES,
        "tools": Answer.YES,
        "supports_vision": Answer.YES,
        "context_length": 131072,
        "loaded_context": 4096,
        "architecture": "llama",
        "quantization": "4bit",
    }


def test_only_the_newer_api_can_deny_tools() -> None:
    assert "tools" not in said({"type": "llm", "capabilities": []})
    assert "tools" not in said({"type": "llm"})
    assert said({"type": "llm", "capabilities": {"trained_for_tool_use": False}})["tools"].answer == Answer.NO


@pytest.mark.parametrize("kind", ["embedding", "embeddings"])
def test_an_embedding_model_has_no_route(kind: str) -> None:
    found = said({"type": kind})
    assert found["is_embedding"].answer == Answer.YES
    assert "native_route" not in found


def test_thinking_that_cant_be_turned_off() -> None:
    found = said({"capabilities": {"reasoning": {"allowed_options": ["on"]}}})
    assert (found["supports_thinking"].answer, found["supports_enable_thinking"].answer) == (Answer.YES, Answer.NO)


KEYS = [
    "type",
    "capabilities",
    "tool_use",
    "vision",
    "trained_for_tool_use",
    "reasoning",
    "allowed_options",
    "loaded_instances",
    "config",
    "id",
    "context_length",
    "max_context_length",
    "loaded_context_length",
    "quantization",
    "name",
    "arch",
    "params_string",
]


@given(hostile_json(KEYS))
def test_any_json_gets_an_answer(entry: dict[str, Any]) -> None:
    assert all(each.detail.isprintable() for each in said(entry).values())
