from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from callgate.detect.openai import openai_evidence, sglang_evidence, vllm_evidence
from callgate.vocabulary import Answer, Facts, ServerKind
from tests.detect.hostile_json import hostile_json

READERS = {ServerKind.VLLM: vllm_evidence, ServerKind.SGLANG: sglang_evidence, ServerKind.OPENAI: openai_evidence}


def said(server: ServerKind, answer: dict[str, Any] | None, listing: dict[str, Any] | None = None) -> dict[str, Any]:
    found = Facts(name="m", server=server, answer=answer, listing=listing)
    return {each.claim: each for each in READERS[server](found)}


def test_vllm_says_how_long_but_not_whether_it_takes_tools() -> None:
    found = said(ServerKind.VLLM, None, {"id": "m", "owned_by": "vllm", "max_model_len": 32768})
    assert found["context_length"].answer == found["loaded_context"].answer == 32768
    assert found["native_route"].answer == Answer.UNKNOWN
    assert "--enable-auto-tool-choice" in found["native_route"].detail


@pytest.mark.parametrize(
    ("info", "answer"),
    [
        ({"tool_call_parser": "qwen25"}, Answer.YES),
        ({"tool_call_parser": None}, Answer.NO),
        ({}, Answer.UNKNOWN),
    ],
)
def test_sglang_needs_a_parser(info: dict[str, Any], answer: Answer) -> None:
    found = said(ServerKind.SGLANG, info)["native_route"]
    assert found.answer == answer
    assert "--tool-call-parser" in found.detail


def test_sglang_says_what_kind_of_model_it_is() -> None:
    info = {
        "is_generation": False,
        "has_image_understanding": True,
        "has_audio_understanding": False,
        "reasoning_parser": "qwen3",
        "model_type": "qwen3",
    }
    found = said(ServerKind.SGLANG, info, {"max_model_len": 40960})
    assert {claim: each.answer for claim, each in found.items() if claim != "native_route"} == {
        "is_embedding": Answer.YES,
        "supports_vision": Answer.YES,
        "supports_audio": Answer.NO,
        "supports_thinking": Answer.YES,
        "architecture": "qwen3",
        "context_length": 40960,
        "loaded_context": 40960,
    }


@pytest.mark.parametrize("key", ["context_length", "context_window", "max_context_length", "max_model_len"])
def test_an_unknown_server_may_say_how_long(key: str) -> None:
    found = said(ServerKind.OPENAI, None, {key: 8192})
    assert found["context_length"].answer == 8192
    assert found["native_route"].answer == Answer.UNKNOWN


def test_an_unknown_server_may_list_tools_among_its_parameters() -> None:
    found = said(ServerKind.OPENAI, {"supported_parameters": ["temperature", "tools"]})
    assert found["native_route"].answer == Answer.YES


KEYS = ["max_model_len", "context_length", "tool_call_parser", "is_generation", "has_image_understanding", "model_type"]


@pytest.mark.parametrize("server", READERS)
@given(answer=hostile_json(KEYS), listing=hostile_json(KEYS))
def test_any_json_gets_an_answer(server: ServerKind, answer: dict[str, Any], listing: dict[str, Any]) -> None:
    found = said(server, answer, listing)
    assert "native_route" in found
    assert all(each.detail.isprintable() for each in found.values())
