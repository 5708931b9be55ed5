from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from callgate.detect.llama_server import llama_server_evidence, llama_server_templates, llama_server_tokens
from callgate.vocabulary import Answer, Evidence, Facts, ServerKind, Source
from tests.detect.hostile_json import hostile_json

TINY = json.loads(Path(__file__).with_name("data").joinpath("llama_server_tiny.json").read_text(encoding="utf-8"))


def said(props: dict[str, Any] | None, entry: dict[str, Any] | None = None) -> dict[str, Evidence]:
    found = Facts(name="m", server=ServerKind.LLAMA_SERVER, answer=props, listing=entry, at=5.0)
    return {each.claim: each for each in llama_server_evidence(found)}


def caps(*, tools: bool, calls: bool) -> dict[str, Any]:
    return {"chat_template_caps": {"supports_tools": tools, "supports_tool_calls": calls}}


def test_a_real_answer_is_read_whole() -> None:
    found = said(TINY["props"], TINY["models"]["data"][0])
    assert {claim: each.answer for claim, each in found.items()} == {
        "tools": Answer.YES,
        "native_route": Answer.YES,
        "supports_tools": Answer.YES,
        "supports_tool_calls": Answer.YES,
        "supports_parallel_tool_calls": Answer.YES,
        "supports_system_role": Answer.YES,
        "supports_string_content": Answer.YES,
        "supports_typed_content": Answer.NO,
        "supports_preserve_reasoning": Answer.NO,
        "supports_vision": Answer.NO,
        "supports_audio": Answer.NO,
        "loaded_context": 2048,
        "context_length": 4096,
        "parameter_count": 10808352,
        "quantization": "Q8_0",
    }
    assert all(each.source is Source.ENGINE and each.at == 5.0 for each in found.values())
    assert llama_server_templates(TINY["props"]) == {"default": TINY["props"]["chat_template"]}
    assert llama_server_tokens(TINY["props"]) == {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>"}


@pytest.mark.parametrize(
    ("tools", "calls", "answer", "detail"),
    [
        (True, True, Answer.YES, "tools and tool calls"),
        (True, False, Answer.NO, "no tool calls"),
        (False, True, Answer.NO, "no tools"),
        (False, False, Answer.NO, "neither"),
    ],
)
def test_tools_need_both_halves(tools: bool, calls: bool, answer: Answer, detail: str) -> None:
    found = said(caps(tools=tools, calls=calls))["tools"]
    assert found.answer == answer
    assert detail in found.detail


def test_a_variant_for_tools_takes_the_word_from_the_default_template() -> None:
    found = said({**caps(tools=False, calls=False), "chat_template_tool_use": "{{ tools }}", "chat_template": "x"})
    assert "tools" not in found
    assert "supports_tools" not in found
    assert found["native_route"].answer == Answer.YES
    assert llama_server_templates({"chat_template": "x", "chat_template_tool_use": "y"}) == {
        "default": "x",
        "tool_use": "y",
    }


@pytest.mark.parametrize(
    ("props", "answer", "flag"),
    [
        ({"build_info": "b7170-abcdef"}, Answer.YES, "--no-jinja"),
        ({"build_info": "b7169-abcdef"}, Answer.UNKNOWN, "--jinja"),
        ({"build_info": "b0-unknown", "chat_template_caps": {}}, Answer.YES, "--no-jinja"),
        ({"build_info": "b0-unknown"}, Answer.UNKNOWN, "--jinja"),
        ({"build_info": "b5000-x", "chat_template_tool_use": "x"}, Answer.YES, "Jinja"),
        ({"chat_template": "x"}, Answer.UNKNOWN, "--jinja"),
    ],
)
def test_the_route_follows_from_the_build(props: dict[str, Any], answer: Answer, flag: str) -> None:
    found = said(props)["native_route"]
    assert found.answer == answer
    assert flag in found.detail


def test_a_router_says_by_model_what_it_takes() -> None:
    entry = {"owned_by": "llamacpp", "architecture": {"input_modalities": ["text", "image"]}}
    found = said({"role": "router", "default_generation_settings": {"n_ctx": 0}}, entry)
    assert found["supports_vision"].answer == Answer.YES
    assert found["supports_audio"].answer == Answer.NO
    assert "loaded_context" not in found


def test_without_the_trained_context_the_loaded_one_is_all_there_is() -> None:
    found = said({"default_generation_settings": {"n_ctx": 8192}})
    assert found["context_length"].answer == found["loaded_context"].answer == 8192


KEYS = [
    "chat_template",
    "chat_template_caps",
    "chat_template_tool_use",
    "modalities",
    "vision",
    "audio",
    "default_generation_settings",
    "n_ctx",
    "n_ctx_train",
    "n_params",
    "meta",
    "build_info",
    "supports_tools",
    "supports_tool_calls",
    "architecture",
    "input_modalities",
    "model_ftype",
]


@given(hostile_json(KEYS), hostile_json(KEYS))
def test_any_json_gets_an_answer(props: dict[str, Any], entry: dict[str, Any]) -> None:
    assert all(each.detail.isprintable() for each in said(props, entry).values())
    llama_server_templates(props)
    llama_server_tokens(props)
