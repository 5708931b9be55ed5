from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from callgate.backends.llamacpp import LlamaCppBackend
from callgate.detect import TemplateSandbox
from callgate.registry import Fields, moment_of
from callgate.runtime import AsyncDetector, ModelKnowledge, Session, is_validated, one_model, with_manual_context
from callgate.vocabulary import Answer, ChatRequest, Facts, Message, ModelRef, Source, UsageError
from callgate.wire import HttpClient
from tests.backends.played_ollama import PlayedOllama as ChattingOllama
from tests.backends.played_ollama import end
from tests.runtime.played import WITH_TOOLS, WITHOUT, PlayedOllama, settings
from tests.wire.server import serving

QWEN = ModelRef.parse("qwen3:8b")
FACTS = Facts(name="qwen3:8b", endpoint="http://me:secret@lab:1", digest="d1", server_version="0.32", at=100.0)


@pytest.fixture
def knowledge() -> ModelKnowledge:
    return ModelKnowledge(settings())


def evidence(knowledge: ModelKnowledge, facts: Facts = FACTS) -> list[tuple[str, Any, Source]]:
    return [(found.claim, found.answer, found.source) for found in knowledge.evidence(QWEN, facts)]


def entries(knowledge: ModelKnowledge) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(Path(knowledge.registry.path).read_bytes())["user_models"]
    return found


def test_of_a_model_that_nobody_spoke_of_nothing_is_known(knowledge: ModelKnowledge) -> None:
    assert evidence(knowledge) == []
    assert knowledge.manual_context(QWEN) is None


def test_the_users_word_is_kept_with_its_time(knowledge: ModelKnowledge) -> None:
    knowledge.say(QWEN, tools=True, context=8192)
    (entry,) = entries(knowledge)
    assert list(entry) == [
        "id",
        "name",
        "tool_support",
        "tool_support_source",
        "tool_support_confirmed_at",
        "manual_context",
    ]
    assert entry["tool_support_source"] == "user_confirmed"
    assert entry["tool_support_confirmed_at"].endswith("Z")
    assert evidence(knowledge) == [
        ("tools", Answer.YES, Source.USER_CONFIRMED),
        ("context_length", 8192, Source.USER_CONFIRMED),
    ]
    assert evidence(ModelKnowledge(settings()))


def test_an_entry_without_a_source_is_the_users_word(knowledge: ModelKnowledge) -> None:
    knowledge.registry.update(QWEN, lambda _: Fields(tool_support=False, digest="another"))
    assert evidence(knowledge) == [("tools", Answer.NO, Source.USER_CONFIRMED)]


def test_with_auto_nothing_is_said_any_more_and_the_entry_goes(knowledge: ModelKnowledge) -> None:
    knowledge.say(QWEN, tools=False, context=8192)
    knowledge.note(QWEN, tools=True, why="it called one")
    knowledge.say(QWEN, tools="auto")
    assert evidence(knowledge) == [("context_length", 8192, Source.USER_CONFIRMED)]
    knowledge.say(QWEN, context="auto")
    assert entries(knowledge) == []
    assert knowledge.say(QWEN, tools="auto") is None


def test_with_auto_an_entry_that_says_more_stays(knowledge: ModelKnowledge) -> None:
    path = Path(knowledge.registry.path)
    path.parent.mkdir()
    path.write_text('{"user_models": [{"id": "qwen3:8b", "tool_support": true, "colour": "red"}]}')
    knowledge.say(QWEN, tools="auto")
    assert [(entry["id"], entry["colour"]) for entry in entries(knowledge)] == [("qwen3:8b", "red")]
    assert "tool_support" not in entries(knowledge)[0]


def test_what_was_seen_is_kept_with_what_it_was_seen_of(knowledge: ModelKnowledge) -> None:
    knowledge.observe(QWEN, FACTS, tools=True, how="auto_detected")
    (entry,) = entries(knowledge)
    assert (entry["tool_support"], entry["tool_support_source"]) == (True, "auto_detected")
    assert (entry["endpoint"], entry["digest"], entry["server_version"]) == ("http://lab:1", "d1", "0.32")
    assert evidence(knowledge) == [("tools", Answer.YES, Source.OBSERVED)]


@pytest.mark.parametrize(("digest", "counts"), [("d1", True), ("d2", False), (None, True)])
def test_what_was_seen_counts_for_that_version_of_the_model_only(
    knowledge: ModelKnowledge, digest: str | None, counts: bool
) -> None:
    knowledge.observe(QWEN, FACTS, tools=True, how="runtime_error")
    assert bool(evidence(knowledge, Facts(name="qwen3:8b", digest=digest, at=1.0))) is counts


def test_what_was_seen_of_a_file_counts_until_the_file_changes(knowledge: ModelKnowledge, tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(b"one")
    ref, facts = ModelRef("file", str(file)), Facts(name="m.gguf", at=1.0)
    knowledge.observe(ref, facts, tools=True, how="auto_detected")
    assert list(knowledge.evidence(ref, facts))
    file.write_bytes(b"another")
    assert not list(knowledge.evidence(ref, facts))


def test_what_was_seen_never_takes_the_place_of_the_users_word(knowledge: ModelKnowledge) -> None:
    knowledge.say(QWEN, tools=False)
    knowledge.observe(QWEN, FACTS, tools=True, how="auto_detected")
    assert evidence(knowledge) == [("tools", Answer.NO, Source.USER_CONFIRMED)]


def test_the_session_outranks_what_is_kept_and_ends_with_it(knowledge: ModelKnowledge) -> None:
    knowledge.say(QWEN, tools=False)
    knowledge.note(QWEN, tools=True, why="it called one")
    assert evidence(knowledge)[0] == ("tools", Answer.YES, Source.SESSION)
    assert evidence(ModelKnowledge(settings())) == [("tools", Answer.NO, Source.USER_CONFIRMED)]


def test_evidence_has_the_time_of_what_was_said_or_of_now(knowledge: ModelKnowledge) -> None:
    knowledge.registry.update(QWEN, lambda _: Fields(tool_support=True, tool_support_confirmed_at=moment_of(50)))
    assert [found.at for found in knowledge.evidence(QWEN, FACTS)] == [50]
    knowledge.registry.update(QWEN, lambda _: Fields(tool_support_confirmed_at="some day"))
    assert [found.at for found in knowledge.evidence(QWEN, FACTS)] == [FACTS.at]


async def test_the_detector_heeds_the_users_word_and_context_everywhere(sandbox: TemplateSandbox) -> None:
    played = PlayedOllama(able=WITH_TOOLS, plain=WITHOUT)
    async with serving(*played.routes) as url:
        knowledge = ModelKnowledge(settings(url))
        knowledge.say(ModelRef.parse("able"), tools=False, context=1000)
        async with AsyncDetector(settings(url), sandbox=sandbox) as detector:
            known = await detector.capabilities("able:latest")
            assert (known.tools, known.context_length) == (Answer.NO, 1000)
            assert known.evidence[0].source is Source.USER_CONFIRMED
            assert await detector.effective_context("able") == 800
            knowledge.say(ModelRef.parse("able"), tools="auto", context="auto")
            known = await detector.capabilities("able")
            assert (known.tools, known.context_length) == (Answer.YES, 8192)


def test_ollama_is_told_the_context_that_the_user_set(knowledge: ModelKnowledge) -> None:
    plain = ChatRequest(model="qwen3:8b", messages=(), options={"temperature": 0})
    assert with_manual_context(plain, QWEN, knowledge) is plain
    knowledge.say(QWEN, context=16384)
    assert with_manual_context(plain, QWEN, knowledge).options == {"temperature": 0, "num_ctx": 16384}


def test_a_request_that_says_how_much_context_it_wants_gets_that(knowledge: ModelKnowledge) -> None:
    knowledge.say(QWEN, context=16384)
    for request in (
        ChatRequest(model="qwen3:8b", messages=(), options={"num_ctx": 5}),
        ChatRequest(model="qwen3:8b", messages=(), extra={"options": {"num_ctx": 5}}),
    ):
        assert with_manual_context(request, QWEN, knowledge) is request


def test_one_says_something_of_a_model_and_not_of_whatever_is_best() -> None:
    assert one_model("qwen3:8b") == QWEN
    with pytest.raises(UsageError, match="auto"):
        one_model("auto")


def test_asking_often_costs_little(knowledge: ModelKnowledge) -> None:
    """A hundred models are weighed on each list: the file is read once."""
    knowledge.say(QWEN, tools=True)
    past = time.time() - 60
    os.utime(knowledge.registry.path, (past, past))
    knowledge.manual_context(QWEN)
    first = knowledge.registry._seen
    knowledge.manual_context(QWEN)
    assert first is not None
    assert knowledge.registry._seen is first


async def test_a_turn_with_ollama_asks_for_the_context_that_the_user_set() -> None:
    server = ChattingOllama(end())
    async with serving(("*", "/{path:.*}", server.answer)) as url, Session(settings(url)) as session:
        ref = ModelRef.parse("tiny-one")
        session.knowledge.say(ref, context=3000)
        request = ChatRequest(model="tiny-one", messages=(Message(role="user", content="Hello"),))
        async for _ in session.turn(ref, request):
            pass
        assert server.num_ctx == [3000]


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
async def test_our_engine_loads_a_model_with_the_context_that_the_user_set() -> None:
    async with HttpClient() as http:
        backend = LlamaCppBackend(settings(llamacpp__context=256), http)
        file = await backend._file("tiny")
        assert backend._wanted(file).spec.context == 256
        ModelKnowledge(settings()).say(ModelRef.parse("tiny"), context=512)
        assert backend._wanted(file).spec.context == 512
        await backend.close()


@pytest.mark.parametrize(
    ("sources", "tools", "guess"),
    [
        ("template,template_text,engine,name", Answer.NO, False),
        (" name ", Answer.YES, True),
        ("observed", Answer.UNKNOWN, False),
    ],
)
async def test_only_the_kinds_of_evidence_that_are_set_decide(
    sandbox: TemplateSandbox, sources: str, tools: Answer, guess: bool
) -> None:
    async with serving(*PlayedOllama(**{"qwen3:8b": WITHOUT}).routes) as url:
        made = settings(url, detect__sources=sources)
        async with AsyncDetector(made, sandbox=sandbox) as detector:
            known = await detector.capabilities("qwen3:8b")
    assert (known.tools, known.guess) == (tools, guess)
    assert {found.source for found in known.evidence} <= {*map(str.strip, sources.split(",")), "default"}


def test_the_users_word_counts_whatever_is_believed() -> None:
    knowledge = ModelKnowledge(settings(detect__sources="name"))
    knowledge.say(QWEN, tools=True)
    found = tuple(knowledge.evidence(QWEN, FACTS))
    assert knowledge.believed(found) == found
    knowledge.say(QWEN, tools="auto")
    knowledge.observe(QWEN, FACTS, tools=True, how="auto_detected")
    assert knowledge.believed(knowledge.evidence(QWEN, FACTS)) == ()


def test_a_validation_is_kept_beside_what_the_user_said(knowledge: ModelKnowledge) -> None:
    knowledge.say(QWEN, tools=False)
    knowledge.keep_validation(QWEN, FACTS, suite="full", rates={"native": 0.2, "emulated": 0.9})
    record = knowledge.registry.get(QWEN)
    assert record
    assert (record.tool_support, record.validated_suite, record.validated_digest) == (False, "full", "d1")
    assert record.validated_rates == {"native": 0.2, "emulated": 0.9}
    assert is_validated(record, "d1")
    assert is_validated(record, None)
    assert not is_validated(record, "d2")
    knowledge.say(QWEN, tools="auto")  # which is no reason to forget the validation
    assert is_validated(knowledge.registry.get(QWEN), "d1")


def test_a_validation_that_failed_is_none(knowledge: ModelKnowledge) -> None:
    knowledge.keep_validation(QWEN, FACTS, suite="full", rates={"native": 0.79})
    assert not is_validated(knowledge.registry.get(QWEN), "d1")
    assert not is_validated(None, "d1")
