from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from callgate.detect import TemplateSandbox, find_in
from callgate.runtime import AsyncDetector, derivations
from callgate.runtime.derivations import Derivations, detector_version, lasting_version
from callgate.runtime.files import file_facts
from callgate.vocabulary import Answer, CallgateError, Capabilities, ModelRef, Unreachable
from tests.detect.gguf.writer import Gguf
from tests.runtime.played import TOOLS, PlayedOllama, hangs, model, refuses, settings
from tests.wire.server import serving

SHA = "sha256:" + "1" * 64
OTHER_SHA = "2" * 64


def gguf(path: Path, template: str = TOOLS, context: int = 77) -> ModelRef:
    told = {"general.architecture": "llama", "llama.context_length": context, "tokenizer.chat_template": template}
    path.write_bytes(Gguf(told).to_bytes())
    return ModelRef("file", str(path))


def played(**more: Any) -> PlayedOllama:
    return PlayedOllama(able=model("completion", "tools", template=TOOLS, digest=SHA, **more))


def emptied(file: Path) -> None:
    """Of all that it says, without a sign of it."""
    stat = file.stat()
    file.write_bytes(b"\0" * stat.st_size)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))


def cache_files(home: Path) -> list[Path]:
    return list(home.rglob("derived.json"))


async def looked_at(url: str, sandbox: TemplateSandbox, name: str = "able", **more: object) -> Capabilities:
    """By a detector that knows nothing but what is on disk."""
    async with AsyncDetector(settings(url, **more), sandbox=sandbox) as detector:
        return await detector.capabilities(name)


def test_a_file_that_hasnt_changed_is_recalled(tmp_path: Path, sandbox: TemplateSandbox) -> None:
    ref = gguf(tmp_path / "m.gguf")
    first = Derivations(settings())
    finding = find_in(file_facts(ref.name), sandbox)
    first.keep(ref, lasting_version(ref), finding)
    first.flush()
    again = Derivations(settings()).recall(ref, lasting_version(ref))
    assert again
    assert again.capabilities == finding.capabilities
    assert again.facts.templates == finding.facts.templates
    assert again.facts.header
    gguf(tmp_path / "m.gguf", context=7777)
    assert Derivations(settings()).recall(ref, lasting_version(ref)) is None


async def test_a_detector_recalls_a_file_without_opening_it(tmp_path: Path, sandbox: TemplateSandbox) -> None:
    ref = gguf(tmp_path / "m.gguf")
    first = await looked_at("", sandbox, str(ref))
    emptied(Path(ref.name))
    assert await looked_at("", sandbox, str(ref)) == first
    with pytest.raises(CallgateError):
        await looked_at("", sandbox, str(ref), detect__cache_ttl=0)


async def test_an_ollamas_model_isnt_asked_for_twice(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        first = await looked_at(url, sandbox)
        assert server.asked["/api/show"] == 1
        assert await looked_at(url, sandbox) == first
        assert server.asked["/api/show"] == 1


async def test_what_is_loaded_is_never_recalled(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        server.running = {"able:latest": 2048}
        assert (await looked_at(url, sandbox)).loaded_context == 2048
        server.running = {"able:latest": 4096}
        assert (await looked_at(url, sandbox)).loaded_context == 4096
        server.running = {}
        assert (await looked_at(url, sandbox)).loaded_context is None
        assert server.asked["/api/show"] == 1


async def test_a_model_that_has_changed_is_looked_at_again(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        assert (await looked_at(url, sandbox)).tools is Answer.YES
        server.models["able"] = model("completion", digest=OTHER_SHA)
        assert (await looked_at(url, sandbox)).tools is Answer.NO


async def test_a_digest_that_is_none_proves_nothing(sandbox: TemplateSandbox) -> None:
    server = PlayedOllama(able=model("completion", "tools", template=TOOLS, digest="d1"))
    async with serving(*server.routes) as url:
        assert (await looked_at(url, sandbox)).tools is Answer.YES
        server.models["able"] = model("completion", digest="d1")
        assert (await looked_at(url, sandbox)).tools is Answer.NO


async def test_one_servers_answer_is_never_taken_for_anothers(sandbox: TemplateSandbox) -> None:
    async with serving(*played().routes) as url:
        assert (await looked_at(url, sandbox)).tools is Answer.YES
    liar = PlayedOllama(able=model("completion", digest=SHA))
    async with serving(*liar.routes) as url:
        assert (await looked_at(url, sandbox)).tools is Answer.NO


async def test_a_guess_is_never_kept(sandbox: TemplateSandbox, home: Path) -> None:
    server = played()
    server.fault = refuses
    async with serving(*server.routes) as url:
        assert (await looked_at(url, sandbox, "qwen3:8b")).guess
    assert cache_files(home) == []


async def test_a_server_that_has_gone_makes_a_guess_and_not_a_memory(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        assert not (await looked_at(url, sandbox)).guess
        server.fault = hangs
        known = await looked_at(url, sandbox, detect__server_timeout=0.1)
        assert known.guess
    async with AsyncDetector(settings(url), sandbox=sandbox) as detector:
        assert isinstance((await detector.find("able")).failure, Unreachable)


async def test_a_model_that_was_deleted_isnt_recalled(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        await looked_at(url, sandbox)
        server.models.clear()
        assert (await looked_at(url, sandbox)).guess


async def test_clearing_a_detector_looks_at_each_model_anew(sandbox: TemplateSandbox) -> None:
    server = played()
    async with serving(*server.routes) as url:
        await looked_at(url, sandbox)
        async with AsyncDetector(settings(url), sandbox=sandbox) as detector:
            detector.clear()
            await detector.capabilities("able")
        assert server.asked["/api/show"] == 2


async def test_a_cache_that_somebody_damaged_or_deleted_costs_a_look(sandbox: TemplateSandbox, home: Path) -> None:
    server = played()
    async with serving(*server.routes) as url:
        first = await looked_at(url, sandbox)
        (file,) = cache_files(home)
        file.write_text("{")
        assert (await looked_at(url, sandbox)).tools is first.tools
        file.unlink()
        assert (await looked_at(url, sandbox)).tools is first.tools
        assert server.asked["/api/show"] == 3


async def test_another_detector_version_looks_again(sandbox: TemplateSandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    server = played()
    async with serving(*server.routes) as url:
        await looked_at(url, sandbox)
        monkeypatch.setattr(derivations, "detector_version", lambda: "another")
        await looked_at(url, sandbox)
        assert server.asked["/api/show"] == 2


def test_the_detectors_version_has_the_release_in_it() -> None:
    import callgate

    assert detector_version().startswith(callgate.__version__ + "-")


async def test_no_password_and_no_answer_is_kept(sandbox: TemplateSandbox, home: Path) -> None:
    server = played(license="a long text")
    async with serving(*server.routes) as url:
        secret = url.replace("://", "://me:secret@")
        known = await looked_at(url, sandbox, f"ollama+{secret}#able")
        assert known.tools is Answer.YES
    (file,) = cache_files(home)
    text = file.read_text()
    assert "secret" not in text
    assert "a long text" not in text
    assert json.loads(text)["findings"]
