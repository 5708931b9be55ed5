from __future__ import annotations

import pytest

from callgate.detect import Finding
from callgate.gate import Plan, needs_knowledge
from callgate.runtime.fitting import with_room_told
from callgate.vocabulary import Capabilities, ChatRequest, Facts, Message, ModelRef, ServerKind, Tool

LONG = ChatRequest(model="m", messages=(Message(role="user", content="word " * 8_000),))
TOOLS = ChatRequest(model="m", messages=LONG.messages[:0], tools=(Tool("now", "tells the time " * 1_500),))
SHORT = ChatRequest(model="m", messages=(Message(role="user", content="word"),))
ELSEWHERE = ModelRef("openai", "m", "http://127.0.0.1:1/v1")


def finding(server: ServerKind | None, loaded: int | None = 4096) -> Finding:
    facts = Facts(name="m", server=server)
    return Finding(facts=facts, evidence=(), capabilities=Capabilities(name="m", loaded_context=loaded))


def kinds(request: ChatRequest, ref: ModelRef, found: Finding) -> list[str]:
    plan = with_room_told(Plan(mode="off", reason="", request=request), ref, found)
    return [notice.kind for notice in plan.notices]


@pytest.mark.parametrize("server", [ServerKind.LM_STUDIO, ServerKind.OPENAI, ServerKind.OLLAMA])
def test_a_server_that_would_cut_a_prompt_is_told_of(server: ServerKind) -> None:
    assert kinds(LONG, ELSEWHERE, finding(server)) == ["context_too_small"]
    assert kinds(TOOLS, ELSEWHERE, finding(server)) == ["context_too_small"], "tools take room, too"
    assert kinds(SHORT, ELSEWHERE, finding(server)) == []
    assert kinds(LONG, ELSEWHERE, finding(server, 32_768)) == []
    assert kinds(LONG, ELSEWHERE, finding(server, None)) == [], "nobody knows"


@pytest.mark.parametrize("server", [ServerKind.LLAMA_SERVER, ServerKind.VLLM, ServerKind.SGLANG])
def test_a_server_that_refuses_speaks_for_itself(server: ServerKind) -> None:
    assert kinds(LONG, ELSEWHERE, finding(server)) == []


def test_an_ollama_is_asked_for_room_by_its_own_backend() -> None:
    assert kinds(LONG, ModelRef("ollama", "m"), finding(ServerKind.OLLAMA)) == []


def test_of_a_long_prompt_it_matters_what_the_model_can_do() -> None:
    assert needs_knowledge(LONG)
    assert not needs_knowledge(SHORT)
