import asyncio
import math
from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect import TemplateSandbox
from callgate.runtime import AsyncDetector, Detector
from callgate.vocabulary import Answer, Capabilities, Evidence, Facts, ModelRef, Source
from tests.runtime.played import (
    EMBEDDING,
    NOBODY,
    TOOLS,
    WITH_TOOLS,
    WITHOUT,
    PlayedOllama,
    model,
    refuses,
    settings,
    talks_garbage,
)
from tests.wire.server import Handler, serving


class Said:
    """What somebody knows of models beforehand."""

    def __init__(self, *evidence: Evidence) -> None:
        self.known = evidence
        self.asked: list[ModelRef] = []

    def evidence(self, ref: ModelRef, facts: Facts) -> Iterable[Evidence]:
        assert facts.at
        self.asked.append(ref)
        return self.known

    def believed(self, evidence: Iterable[Evidence]) -> tuple[Evidence, ...]:
        return tuple(evidence)


def said(claim: str, answer: Answer | int | str, source: Source, at: float = 0) -> Evidence:
    return Evidence(claim, answer, source, "said so", at)


class Box(Detector):
    """The model in the box, with a context that somebody says it has."""

    def context_of(self, length: int) -> int:
        self._detector._knowledge = Said(said("context_length", length, Source.SESSION))
        return self.effective_context("tiny")


@pytest.fixture(scope="module")
def box(sandbox: TemplateSandbox) -> Iterator[Box]:
    with Box(settings(), sandbox=sandbox) as box:
        yield box


@given(length=st.integers(1, 2**53) | st.integers(1, 300_000))
def test_four_fifths_of_a_context_can_be_used(box: Box, length: int) -> None:
    assert box.context_of(length) == math.floor(Fraction(4, 5) * length)


async def test_only_yes_means_that_tools_can_be_used(sandbox: TemplateSandbox) -> None:
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        wanted = {"tiny": True, "tiny-plain": False, "custom-model:latest": False}
        assert {name: await detector.can_use_tools(name) for name in wanted} == wanted


async def test_the_best_is_the_first_that_suits(sandbox: TemplateSandbox) -> None:
    seeing = model("completion", "tools", "vision", template=TOOLS, context=32768)
    ollama = PlayedOllama(embed=EMBEDDING, plain=WITHOUT, able=WITH_TOOLS, seeing=seeing)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        order = ["embed", "plain", "able", "seeing"]
        assert await detector.find_best(order) == "plain"
        assert await detector.find_best(order, tools=True) == "able"
        assert await detector.find_best(order, vision=True) == "seeing"
        assert await detector.find_best(order, min_context=8193) == "seeing"
        assert await detector.find_best(order[::-1], tools=True) == "seeing"
        assert await detector.find_best(order, tools=True, min_context=40_000) is None
        assert await detector.find_best(["embed"]) is None
        assert await detector.find_best([]) is None
        ref = ModelRef.parse("able")
        assert await detector.find_best([ref, "plain"], tools=True) is ref
        assert ollama.asked["/api/show"] == 4


async def test_what_cannot_be_looked_at_is_never_the_best(sandbox: TemplateSandbox, tmp_path: Path) -> None:
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        models = [str(tmp_path / "missing.gguf"), "", "scripted:x", "tiny"]
        assert await detector.find_best(models, tools=True) == "tiny"


# The user's word


@pytest.mark.parametrize(
    ("known", "tools"),
    [
        ((said("tools", Answer.NO, Source.USER_CONFIRMED),), Answer.NO),
        ((said("tools", Answer.NO, Source.OBSERVED),), Answer.NO),
        ((said("tools", Answer.UNKNOWN, Source.USER_CONFIRMED),), Answer.YES),
        (
            (said("tools", Answer.NO, Source.USER_CONFIRMED, at=9e9), said("tools", Answer.YES, Source.SESSION)),
            Answer.YES,
        ),
        (
            (said("tools", Answer.YES, Source.OBSERVED, at=2), said("tools", Answer.NO, Source.OBSERVED, at=1)),
            Answer.YES,
        ),
        ((said("is_embedding", Answer.YES, Source.SESSION),), Answer.NO),
    ],
)
async def test_what_is_known_beforehand_overrules(
    sandbox: TemplateSandbox, known: tuple[Evidence, ...], tools: Answer
) -> None:
    knowledge = Said(*known)
    async with AsyncDetector(settings(), knowledge=knowledge, sandbox=sandbox) as detector:
        found = await detector.capabilities("tiny")
        assert found.tools is tools
        assert set(known) <= set(found.evidence)
        assert knowledge.asked == [ModelRef.parse("tiny")]


async def test_the_users_word_counts_at_once(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(plain=WITHOUT)
    knowledge = Said()
    async with (
        serving(*ollama.routes) as url,
        AsyncDetector(settings(url), knowledge=knowledge, sandbox=sandbox) as detector,
    ):
        assert not await detector.can_use_tools("plain")
        knowledge.known = (said("tools", Answer.YES, Source.SESSION),)
        assert await detector.can_use_tools("plain")
        knowledge.known = ()
        assert not await detector.can_use_tools("plain")
        assert ollama.asked["/api/show"] == 1


async def test_the_users_word_overrules_a_server_on_embedding(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(embed=EMBEDDING)
    knowledge = Said(said("is_embedding", Answer.NO, Source.USER_CONFIRMED))
    async with (
        serving(*ollama.routes) as url,
        AsyncDetector(settings(url), knowledge=knowledge, sandbox=sandbox) as detector,
    ):
        assert (await detector.capabilities("embed")).is_embedding is False
        assert await detector.find_best(["embed"]) == "embed"


# `auto`


@pytest.fixture(autouse=True)
def nobody_else_listens(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever runs on the machine of whoever runs the tests."""
    monkeypatch.setattr("callgate.runtime.places._KNOWN", {})


@pytest.mark.parametrize(
    ("models", "chosen"),
    [
        ({"embed": EMBEDDING, "plain": WITHOUT, "able": WITH_TOOLS, "second": WITH_TOOLS}, "ollama:able:latest"),
        ({"embed": EMBEDDING, "plain": WITHOUT}, "tiny"),
        ({"embed": EMBEDDING}, "tiny"),
        ({}, "tiny"),
    ],
)
async def test_auto_is_the_best_there_is(
    sandbox: TemplateSandbox, models: dict[str, dict[str, object]], chosen: str
) -> None:
    ollama = PlayedOllama(**models)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        answers = await asyncio.gather(*(detector.capabilities("auto") for _ in range(20)))
        assert ollama.asked["/api/show"] == len(models)
        ref = await detector.resolve("auto")
        assert str(ref) == chosen
        assert {answer.name for answer in answers} == {ref.name}
        assert answers[0] == await detector.capabilities(ref)


async def test_auto_sees_soon_what_is_new(sandbox: TemplateSandbox, clock: SimpleNamespace) -> None:
    ollama = PlayedOllama(plain=WITHOUT)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        assert str(await detector.resolve("auto")) == "tiny"
        ollama.models["able"] = WITH_TOOLS
        assert str(await detector.resolve("auto")) == "tiny"
        clock.now += 31
        assert str(await detector.resolve("auto")) == "ollama:able:latest"


@pytest.mark.parametrize("fault", [refuses, talks_garbage])
async def test_auto_without_an_ollama_is_the_model_in_the_box(sandbox: TemplateSandbox, fault: Handler) -> None:
    ollama = PlayedOllama()
    ollama.fault = fault
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        known: Capabilities = await detector.capabilities("auto")
        assert (known.name, known.tools, known.guess) == ("tiny", Answer.YES, False)


async def test_auto_takes_no_guesses(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(qwen3=model("completion", broken=True), plain=WITHOUT)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        assert (await detector.capabilities("qwen3")).tools is Answer.YES
        assert str(await detector.resolve("auto")) == "tiny"
