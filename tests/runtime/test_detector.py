import asyncio
import json
import logging
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from callgate.detect import TemplateSandbox
from callgate.runtime import AsyncDetector
from callgate.runtime.queueing import AT_ONCE
from callgate.vocabulary import Answer, BadStatus, HeaderError, ModelRef, NotFound, Unreachable, UsageError
from tests.runtime.played import (
    NOBODY,
    PLAIN,
    TOOLS,
    WITH_TOOLS,
    WITHOUT,
    PlayedOllama,
    hangs,
    knows_nothing,
    model,
    refuses,
    sends_a_list,
    settings,
    talks_garbage,
)
from tests.wire.server import Handler, serving

# One look for many


async def test_a_model_is_looked_at_once(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        first = await detector.capabilities("able")
        assert (first.tools, first.native_route, first.guess) == (Answer.YES, Answer.YES, False)
        assert await detector.capabilities(ModelRef.parse("able")) == first
        assert set(ollama.asked.values()) == {1}


async def test_many_who_ask_at_once_make_one_request(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        answers = await asyncio.gather(*(detector.capabilities("able") for _ in range(100)))
        assert {answer.tools for answer in answers} == {Answer.YES}
        assert ollama.asked["/api/show"] == 1


async def test_an_asker_who_is_cancelled_takes_nothing_from_the_others(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    ollama.gate = asyncio.Event()
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        first, second = (asyncio.create_task(detector.capabilities("able")) for _ in range(2))
        await ollama.until_asked("/api/show")
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        ollama.gate.set()
        assert (await second).tools is Answer.YES
        assert ollama.asked["/api/show"] == 1


async def test_models_and_endpoints_are_kept_apart(sandbox: TemplateSandbox) -> None:
    here, there = PlayedOllama(one=WITH_TOOLS, two=WITHOUT), PlayedOllama(one=WITHOUT)
    async with (
        serving(*here.routes) as url,
        serving(*there.routes) as other,
        AsyncDetector(settings(url), sandbox=sandbox) as detector,
    ):
        refs = ["one", "two", f"ollama+{other}#one"]
        answers = [(await detector.capabilities(ref)).tools for ref in refs]
        assert answers == [Answer.YES, Answer.NO, Answer.NO]


# What is remembered, and for how long


async def test_what_was_found_out_is_believed_for_ten_minutes(sandbox: TemplateSandbox, clock: SimpleNamespace) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        await detector.capabilities("able")
        clock.now += 599
        await detector.capabilities("able")
        assert ollama.asked["/api/show"] == 1
        clock.now += 2
        await detector.capabilities("able")
        assert ollama.asked["/api/show"] == 2


async def test_the_setting_says_how_long_it_is_believed(sandbox: TemplateSandbox, clock: SimpleNamespace) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    wanted = {"detect__cache_ttl": 7.0}
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url, **wanted), sandbox=sandbox) as detector:
        for passed in (0, 6.9, 7.1):
            clock.now = 1000 + passed
            await detector.capabilities("able")
        assert ollama.asked["/api/show"] == 2


async def test_a_guess_is_believed_for_half_a_minute(sandbox: TemplateSandbox, clock: SimpleNamespace) -> None:
    ollama = PlayedOllama(qwen3=model("completion"))
    ollama.fault = refuses
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        guessed = await detector.capabilities("qwen3")
        assert (guessed.tools, guessed.guess) == (Answer.YES, True)
        ollama.fault = None
        clock.now += 29
        assert (await detector.capabilities("qwen3")).guess
        assert ollama.asked["/api/show"] == 1
        clock.now += 2
        seen = await detector.capabilities("qwen3")
        assert (seen.tools, seen.guess) == (Answer.NO, False)


async def test_a_model_of_another_digest_is_looked_at_anew(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(changes=WITHOUT, other=WITHOUT)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        finding = await detector.find("changes")
        assert (finding.facts.digest, finding.capabilities.tools) == ("d1", Answer.NO)
        ollama.models["changes"] = {**WITH_TOOLS, "digest": "d2"}
        assert (await detector.capabilities("changes")).tools is Answer.NO  # nobody has seen the new digest yet
        assert [str(ref) for ref in await detector.models()] == ["ollama:changes:latest", "ollama:other:latest"]
        finding = await detector.find("changes")
        assert (finding.facts.digest, finding.capabilities.tools) == ("d2", Answer.YES)
        assert ollama.asked["/api/show"] == 2


async def test_a_file_that_changed_is_read_again(sandbox: TemplateSandbox, tmp_path: Path) -> None:
    path = tmp_path / "chat.jinja"
    path.write_text(PLAIN)
    async with AsyncDetector(settings(), sandbox=sandbox) as detector:
        assert not await detector.can_use_tools(str(path))
        first = await detector.find(str(path))
        assert await detector.find(str(path)) is first
        path.write_text(TOOLS)
        assert await detector.can_use_tools(str(path))


async def test_a_template_beside_a_configuration_counts_as_its_change(sandbox: TemplateSandbox, tmp_path: Path) -> None:
    path = tmp_path / "tokenizer_config.json"
    path.write_text(json.dumps({"chat_template": PLAIN}))
    async with AsyncDetector(settings(), sandbox=sandbox) as detector:
        assert not await detector.can_use_tools(str(path))
        (tmp_path / "chat_template.jinja").write_text(TOOLS)
        assert await detector.can_use_tools(str(path))


async def test_clearing_forgets_findings_and_what_is_under_way(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(able=WITHOUT)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        await detector.capabilities("able")
        detector.clear()
        ollama.gate = asyncio.Event()
        waiting = asyncio.create_task(detector.capabilities("able"))
        await ollama.until_asked("/api/show", times=2)
        detector.clear()
        another = asyncio.create_task(detector.capabilities("able"))
        await ollama.until_asked("/api/show", times=3)
        ollama.gate.set()
        assert {(await waiting).tools, (await another).tools} == {Answer.NO}
        await detector.capabilities("able")
        assert ollama.asked["/api/show"] == 3


async def test_it_says_when_it_looked(sandbox: TemplateSandbox) -> None:
    before = time.time()
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        for ref in ("tiny", "qwen3:8b"):
            known = await detector.capabilities(ref)
            assert known.cached_at is not None
            assert before <= known.cached_at <= time.time()
            assert (await detector.capabilities(ref)).cached_at == known.cached_at


# Servers that fail


@pytest.mark.parametrize("fault", [refuses, knows_nothing, talks_garbage, sends_a_list, hangs])
async def test_a_server_that_fails_makes_a_guess_and_no_error(sandbox: TemplateSandbox, fault: Handler) -> None:
    ollama = PlayedOllama()
    ollama.fault = fault
    patience = {"detect__server_timeout": 0.2 if fault is hangs else 5.0}
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url, **patience), sandbox=sandbox) as detector:
        for ref in ("qwen3:8b", f"{url}/v1#qwen3:8b"):
            known = await detector.capabilities(ref)
            assert (known.family, known.tools, known.guess) == ("qwen3", Answer.YES, True)
            assert (await detector.find(ref)).failure is not None


async def test_hundreds_of_models_wait_for_a_sleeping_server_but_once(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama()
    ollama.fault = hangs
    wanted = {"detect__server_timeout": 0.2}
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url, **wanted), sandbox=sandbox) as detector:
        found = await asyncio.gather(*(detector.capabilities(f"qwen3:{number}b") for number in range(1, 301)))
        assert {(known.tools, known.guess) for known in found} == {(Answer.YES, True)}
        assert 1 <= ollama.asked.pop("/api/show") <= AT_ONCE
        assert ollama.asked == {"/api/tags": 1, "/api/ps": 1, "/api/version": 1}


async def test_nobody_at_all_makes_a_guess(sandbox: TemplateSandbox) -> None:
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        known = await detector.capabilities("qwen3:8b")
        assert (known.family, known.tools, known.guess) == ("qwen3", Answer.YES, True)
        assert (known.native_route, known.parameter_size) == (Answer.UNKNOWN, "8B")
        assert isinstance((await detector.find("qwen3:8b")).failure, Unreachable)


async def test_a_name_that_says_nothing_leaves_everything_open(sandbox: TemplateSandbox) -> None:
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        known = await detector.capabilities("custom-model:latest")
        assert (known.family, known.tools, known.context_length) == ("unknown", Answer.UNKNOWN, 4096)
        assert await detector.effective_context("custom-model:latest") == 3276


@pytest.mark.parametrize("name", ["nomic-embed-text", "mxbai-embed-large:latest", "someone/bge-m3:q8_0", "all-minilm"])
async def test_an_embedding_model_by_name_has_little_context_and_no_tools(sandbox: TemplateSandbox, name: str) -> None:
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        known = await detector.capabilities(name)
        assert (known.is_embedding, known.tools, known.context_length) == (True, Answer.NO, 512)


async def test_a_model_that_an_ollama_lacks_is_a_guess_with_the_reason(sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(qwen3__4b=WITH_TOOLS)
    async with serving(*ollama.routes) as url, AsyncDetector(settings(url), sandbox=sandbox) as detector:
        finding = await detector.find("qwen3:8b")
        assert finding.capabilities.guess
        assert isinstance(finding.failure, NotFound)
        assert finding.failure.hint == "did you mean 'qwen3:4b'? it has: qwen3:4b"


async def test_the_cause_is_logged_once(sandbox: TemplateSandbox, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "callgate"):
        async with AsyncDetector(settings(NOBODY, detect__guess_ttl=0.0), sandbox=sandbox) as detector:
            for name in ("qwen3:8b", "llama3.2", "qwen3:8b"):
                await detector.capabilities(name)
    (record,) = caplog.records
    assert record.levelname == "WARNING"
    assert record.getMessage().startswith("Ollama at http://127.0.0.1:1 can't be reached: Connection refused")


async def test_a_remote_file_that_cannot_be_had_is_a_guess_by_its_name(sandbox: TemplateSandbox) -> None:
    async with serving() as url, AsyncDetector(settings(), sandbox=sandbox) as detector:
        finding = await detector.find(f"{url}/models/Qwen3-8B-Q4_K_M.gguf?token=secret")
        assert isinstance(finding.failure, BadStatus)
        known = finding.capabilities
        assert (known.name, known.family, known.guess) == ("Qwen3-8B-Q4_K_M.gguf", "qwen3", True)
        assert (known.tools, known.quantization) == (Answer.YES, "Q4_K_M")
        assert isinstance((await detector.find(f"{NOBODY}/x.gguf")).failure, Unreachable)


async def test_a_server_without_a_models_name_is_called_by_its_place(sandbox: TemplateSandbox) -> None:
    async with AsyncDetector(settings(), sandbox=sandbox) as detector:
        known = await detector.capabilities("http://me:secret@127.0.0.1:1/v1")
        assert (known.name, known.guess, known.tools) == ("127.0.0.1:1/v1", True, Answer.UNKNOWN)


async def test_a_file_that_is_no_good_is_an_error(sandbox: TemplateSandbox, tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"GGUF" + bytes(3))
    async with AsyncDetector(settings(), sandbox=sandbox) as detector:
        with pytest.raises(HeaderError, match="truncated"):
            await detector.capabilities(str(tmp_path / "bad.gguf"))
        with pytest.raises(NotFound, match="there is no file"):
            await detector.capabilities(str(tmp_path / "missing.gguf"))
        with pytest.raises(UsageError, match="is not a file"):
            await detector.capabilities(str(tmp_path))


@pytest.mark.parametrize("name", ["ollama:\udcffabc", "ollama:a\x1b[31mb", "http://127.0.0.1:1/v1#\udcff"])
async def test_a_name_that_cannot_be_sent_is_an_error(sandbox: TemplateSandbox, name: str) -> None:
    async with AsyncDetector(settings(NOBODY), sandbox=sandbox) as detector:
        with pytest.raises(UsageError, match="can't be the name of a model"):
            await detector.capabilities(name)


async def test_what_nobody_can_look_at_is_an_error(sandbox: TemplateSandbox) -> None:
    async with AsyncDetector(settings(), sandbox=sandbox) as detector:
        with pytest.raises(UsageError, match="'elsewhere'"):
            await detector.capabilities("elsewhere://model")
