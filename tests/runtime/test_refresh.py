from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from callgate.detect import TemplateSandbox
from callgate.registry import Fields, Registry
from callgate.runtime import AsyncDetector, ModelKnowledge, Refreshed, Session, Step, refresh_models
from callgate.settings import Settings
from callgate.vocabulary import Answer, ChatRequest, Message, ModelRef, StorageError
from tests.runtime.played import NOBODY, TOOLS, PlayedOllama, model, refuses, settings
from tests.wire.server import serving

ABLE, PLAIN, GONE = (ModelRef.parse(name) for name in ("able", "plain", "gone"))


def sha(digit: int) -> str:
    return f"{digit:x}" * 64


def played() -> PlayedOllama:
    return PlayedOllama(
        able=model("completion", "tools", template=TOOLS, digest=sha(1)), plain=model("completion", digest=sha(2))
    )


def here(url: str, **more: object) -> Settings:
    """Whatever else listens on this machine: only what these tests have made is asked for much."""
    return settings(url, ollama__models="/nowhere", discovery__timeout=10.0, **more)


async def refreshed(url: str, sandbox: TemplateSandbox, **more: Any) -> Refreshed:
    async with AsyncDetector(here(url), sandbox=sandbox) as detector:
        return await refresh_models(here(url), detector=detector, **more)


def entry(registry: Registry, number: int = 0) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(registry.path).read_bytes())["user_models"][number]
    return found


def ollamas(refs: tuple[ModelRef, ...]) -> list[str]:
    return sorted(ref.name for ref in refs if ref.scheme == "ollama")


async def test_new_models_are_looked_at_and_those_that_havent_changed_not(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        first = await refreshed(url, sandbox)
        assert ollamas(first.looked_at) == ["able:latest", "plain:latest"]
        assert (first.problems, first.failed, first.absent) == ((), (), ())
        second = await refreshed(url, sandbox)
        assert second.looked_at == ()
        assert second.unchanged == len(second.models)
        assert server.asked["/api/show"] == 2


async def test_models_that_have_changed_are_looked_at_again(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        await refreshed(url, sandbox)
        server.models["plain"] = model("completion", "tools", template=TOOLS, digest=sha(3))
        server.models["new"] = model("completion", digest=sha(4))
        assert ollamas((await refreshed(url, sandbox)).looked_at) == ["new:latest", "plain:latest"]
        async with AsyncDetector(here(url), sandbox=sandbox) as detector:
            assert (await detector.capabilities("plain")).tools is Answer.YES


async def test_the_detector_that_it_is_given_knows_it_all_afterwards(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url, AsyncDetector(here(url), sandbox=sandbox) as detector:
        await refresh_models(here(url), detector=detector)
        asked = server.asked.total()
        assert (await detector.capabilities("able:latest")).tools is Answer.YES
        assert server.asked.total() == asked


async def test_a_session_knows_it_all_afterwards_too() -> None:
    server = played()
    async with serving(*server.routes) as url, Session(here(url)) as session:
        assert "able:latest" in ollamas((await session.refresh()).looked_at)
        asked = server.asked.total()
        assert (await session.find(ModelRef.parse("able:latest"))).capabilities.tools is Answer.YES
        assert server.asked.total() == asked


async def test_it_looks_at_all_of_them_at_once(sandbox: TemplateSandbox) -> None:
    """Eight at a time of one server's, and what its lists say is asked for but a few times."""
    server = PlayedOllama(
        **{f"m{number}": model("completion", digest=f"{number:064x}") for number in range(100)},
    )
    async with serving(*server.routes) as url:
        assert len(ollamas((await refreshed(url, sandbox)).looked_at)) == 100
        assert server.asked["/api/show"] == 100
        server.asked.clear()
        assert (await refreshed(url, sandbox)).looked_at == ()
        assert server.asked["/api/show"] == 0
        assert server.asked["/api/tags"] <= 5


async def test_overrides_survive_and_those_that_are_absent_stay(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        knowledge = ModelKnowledge(here(url))
        knowledge.say(ABLE, tools=False, context=1234)
        knowledge.say(GONE, tools=True)
        server.models["able"] = model("completion", "tools", template=TOOLS, digest=sha(9))
        done = await refreshed(url, sandbox, knowledge=knowledge)
        assert done.absent == ("ollama:gone:latest",)
        able = entry(knowledge.registry)
        assert (able["tool_support"], able["tool_support_source"], able["manual_context"]) == (
            False,
            "user_confirmed",
            1234,
        )
        assert able["last_seen"].endswith("Z")
        assert (able["endpoint"], able["digest"]) == (url, sha(9))
        gone = entry(knowledge.registry, 1)
        assert gone["tool_support"] is True
        assert "last_seen" not in gone


async def test_models_that_nobody_spoke_of_get_no_entry(sandbox: TemplateSandbox) -> None:
    async with serving(*played().routes) as url:
        knowledge = ModelKnowledge(here(url))
        await refreshed(url, sandbox, knowledge=knowledge)
        assert list(knowledge.registry.records()) == []


async def test_what_was_seen_of_an_older_version_doesnt_count_for_the_new(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        knowledge = ModelKnowledge(here(url))
        async with AsyncDetector(here(url), sandbox=sandbox) as detector:
            facts = (await detector.find("plain")).facts
        knowledge.observe(PLAIN, facts, tools=True, how="auto_detected")
        server.models["plain"] = model("completion", digest=sha(7))
        await refreshed(url, sandbox, knowledge=knowledge)
        kept = entry(knowledge.registry)
        assert (kept["digest"], kept["tool_support"]) == (sha(2), True)
        assert kept["last_seen"]
        async with AsyncDetector(here(url), sandbox=sandbox) as detector:
            assert (await detector.capabilities("plain")).tools is Answer.NO


async def test_each_step_is_told(sandbox: TemplateSandbox) -> None:
    steps: list[Step] = []
    async with serving(*played().routes) as url:
        done = await refreshed(url, sandbox, on_step=steps.append)
    assert [step.done for step in steps] == list(range(1, len(done.models) + 1))
    assert {step.of for step in steps} == {len(done.models)}
    assert {step.ref for step in steps} == {found.ref for found in done.models}


async def test_a_model_that_cant_be_looked_at_is_named_and_the_rest_done(sandbox: TemplateSandbox) -> None:
    server = played()
    server.models["broken"] = model("completion", digest=sha(5), broken=True)
    async with serving(*server.routes) as url:
        done = await refreshed(url, sandbox)
        assert ollamas(done.failed) == ["broken:latest"]
        assert ollamas(done.looked_at) == ["able:latest", "plain:latest"]


async def test_without_a_server_it_does_what_it_can(sandbox: TemplateSandbox) -> None:
    done = await refreshed(NOBODY, sandbox)
    assert ollamas(tuple(found.ref for found in done.models)) == []


async def test_a_server_that_fails_raises_nothing(sandbox: TemplateSandbox) -> None:
    server = played()
    server.fault = refuses
    async with serving(*server.routes) as url:
        assert ollamas((await refreshed(url, sandbox)).looked_at) == []


async def test_a_registry_that_cant_be_written_is_a_problem_and_no_error(
    sandbox: TemplateSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(*played().routes) as url:
        knowledge = ModelKnowledge(here(url))
        knowledge.registry.update(ABLE, lambda _: Fields(tool_support=True))

        def fail(*_: object) -> None:
            raise StorageError("the disk is full")

        monkeypatch.setattr(knowledge.registry, "update_each", fail)
        done = await refreshed(url, sandbox, knowledge=knowledge)
        assert [problem.message for problem in done.problems] == ["the disk is full"]
        assert ollamas(done.looked_at) == ["able:latest", "plain:latest"]


async def test_it_can_do_without_anybody_elses_detector() -> None:
    async with serving(*played().routes) as url:
        assert "able:latest" in ollamas((await refresh_models(here(url))).looked_at)


@pytest.mark.ollama
async def test_a_real_ollama_is_asked_once_and_gives_the_context_that_the_user_set(
    ollama_url: str, sandbox: TemplateSandbox
) -> None:
    assert "tiny:latest" in ollamas((await refreshed(ollama_url, sandbox)).looked_at)
    assert ollamas((await refreshed(ollama_url, sandbox)).looked_at) == []
    ref = ModelRef("ollama", "tiny")
    async with Session(here(ollama_url)) as session:
        session.knowledge.say(ref, context=1536)
        async for _ in session.turn(ref, ChatRequest(model="tiny", messages=(Message(role="user", content="Hello!"),))):
            pass
    async with AsyncDetector(here(ollama_url), sandbox=sandbox) as detector:
        known = await detector.capabilities(ref)
    assert (known.context_length, known.loaded_context) == (1536, 1536)


async def test_a_validation_ends_with_the_version_that_was_validated(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        knowledge = ModelKnowledge(here(url))
        async with AsyncDetector(here(url), sandbox=sandbox) as detector:
            facts = (await detector.find(ABLE)).facts
        knowledge.keep_validation(ABLE, facts, suite="quick", rates={"native": 0.9})
        await refreshed(url, sandbox, knowledge=knowledge)
        kept = entry(knowledge.registry)
        assert (kept["validated_digest"], kept["validated_suite"], kept["validated_rates"]) == (
            sha(1),
            "quick",
            {"native": 0.9},
        )
        server.models["able"] = model("completion", "tools", template=TOOLS, digest=sha(9))
        await refreshed(url, sandbox, knowledge=knowledge)
        assert not [name for name in entry(knowledge.registry) if name.startswith("validated")]
