from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from callgate.detect.callgate_server import callgate_evidence, is_callgates
from callgate.detect.servers import recognise
from callgate.vocabulary import Answer, Facts, ServerKind
from tests.detect.hostile_json import hostile_json


def told(entry: object) -> dict[str, object]:
    facts = Facts(name="m", server=ServerKind.CALLGATE, listing={"id": "m", "callgate": entry})
    return {found.claim: found.answer for found in callgate_evidence(facts)}


@pytest.mark.parametrize(
    ("mode", "tools", "expected"),
    [
        ("native", "yes", {"tools": Answer.YES, "native_route": Answer.YES}),
        ("emulated", "no", {"tools": Answer.YES, "native_route": Answer.YES}),
        ("off", "no", {"tools": Answer.NO, "native_route": Answer.NO}),
        ("off", "unknown", {"native_route": Answer.NO}),
    ],
)
def test_tools_are_what_a_client_gets_there(mode: str, tools: str, expected: dict[str, object]) -> None:
    assert told({"mode": mode, "tools": tools}) == expected


def test_what_it_knows_of_a_model_is_believed() -> None:
    known = {"is_embedding": False, "supports_vision": True, "context_length": 4096, "family": "llama", "guess": True}
    said = told({"mode": "native", "capabilities": known})
    assert (said["is_embedding"], said["supports_vision"]) == (Answer.NO, Answer.YES)
    assert (said["context_length"], said["family"]) == (4096, "llama")
    assert "guess" not in said


def test_it_is_known_by_its_entries_whoever_owns_the_models() -> None:
    entry: dict[str, Any] = {"id": "m", "owned_by": "llamacpp"}
    assert recognise(models={"data": [{**entry, "callgate": {"mode": "native"}}]}) is ServerKind.CALLGATE
    assert recognise(models={"data": [entry]}) is ServerKind.LLAMA_SERVER


@given(hostile_json(("mode", "tools", "capabilities", "context_length", "is_embedding", "family", "callgate")))
def test_whatever_stands_there_is_read_or_passed_over(entry: Any) -> None:
    is_callgates(entry)
    told(entry)
