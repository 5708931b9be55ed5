from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from callgate.detect.servers import entry_of, recognise, server_evidence
from callgate.vocabulary import Facts, ServerKind
from tests.detect.hostile_json import hostile_json

LLAMA = json.loads(Path(__file__).with_name("data").joinpath("llama_server_tiny.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("kind", ServerKind)
def test_every_kind_of_server_has_a_reader(kind: ServerKind) -> None:
    list(server_evidence(Facts(name="m", server=kind, answer={}, listing={})))


def test_without_a_server_there_is_nothing_to_say() -> None:
    assert list(server_evidence(Facts(name="m"))) == []


@pytest.mark.parametrize(
    ("owner", "kind"),
    [
        ("llamacpp", ServerKind.LLAMA_SERVER),
        ("vllm", ServerKind.VLLM),
        ("sglang", ServerKind.SGLANG),
        ("library", ServerKind.OLLAMA),
        ("organization_owner", ServerKind.LM_STUDIO),
        ("openai", ServerKind.OPENAI),
        (["vllm"], ServerKind.OPENAI),
    ],
)
def test_servers_are_known_by_the_owner_they_name(owner: object, kind: ServerKind) -> None:
    assert recognise(models={"object": "list", "data": [{"id": "m", "owned_by": owner}]}) == kind


def test_a_real_llama_server_is_known_by_each_of_its_answers() -> None:
    assert recognise(headers=LLAMA["headers"]) == ServerKind.LLAMA_SERVER
    assert recognise(models=LLAMA["models"]) == ServerKind.LLAMA_SERVER
    assert recognise(props=LLAMA["props"]) == ServerKind.LLAMA_SERVER


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ({"lm_studio": {"models": [{"key": "m", "loaded_instances": []}]}}, ServerKind.LM_STUDIO),
        ({"lm_studio": {"data": [{"id": "m", "compatibility_type": "gguf"}]}}, ServerKind.LM_STUDIO),
        ({"ollama_version": {"version": "0.12.0"}}, ServerKind.OLLAMA),
        ({"models": {"data": [{"id": "m", "owned_by": "somebody"}]}}, ServerKind.OPENAI),
        ({}, ServerKind.OPENAI),
    ],
)
def test_servers_are_known_by_answers_of_their_own(answers: dict[str, Any], kind: ServerKind) -> None:
    assert recognise(**answers) == kind


@pytest.mark.parametrize(
    ("listing", "name"),
    [
        ({"data": [{"id": "other"}, {"id": "m"}]}, "m"),
        ({"models": [{"key": "m"}]}, "m"),
        ({"models": [{"name": "m:latest", "model": "m:latest"}]}, "m"),
        ({"data": [{"id": "path", "aliases": ["m"]}]}, "m"),
        (LLAMA["models"], "any name at all"),
        ({"data": [{"id": "the only one"}]}, ""),
    ],
)
def test_a_models_entry_is_found(listing: object, name: str) -> None:
    assert entry_of(listing, name)


def test_another_models_entry_isnt_taken() -> None:
    assert entry_of({"data": [{"id": "other", "owned_by": "vllm"}]}, "m") is None
    assert entry_of({"data": [{"id": "a"}, {"id": "b"}]}, "") is None


@given(hostile_json(["data", "models", "owned_by", "aliases", "id", "version", "loaded_instances"]))
def test_any_json_is_somebodys(answer: dict[str, Any]) -> None:
    assert recognise(models=answer, props=answer, lm_studio=answer, ollama_version=answer) in ServerKind
    entry_of(answer, "m")
