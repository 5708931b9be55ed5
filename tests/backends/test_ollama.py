import asyncio
import json
import urllib.request

import pytest
from aiohttp import web

from callgate.backends import OllamaBackend
from callgate.detect import TemplateSandbox, find_in
from callgate.vocabulary import (
    Answer,
    BackendError,
    BadAnswer,
    BadStatus,
    Capabilities,
    Facts,
    NotFound,
    ServerKind,
    Unreachable,
)
from callgate.wire import HttpClient
from tests.runtime.played import NOBODY, TOOLS, WITH_TOOLS, WITHOUT, PlayedOllama, hangs, model, refuses, talks_garbage
from tests.wire.server import Handler, serving

# A real one


@pytest.fixture
async def real(http: HttpClient, ollama_url: str) -> Facts:
    return await OllamaBackend(ollama_url, http, timeout=30).facts("tiny")


@pytest.fixture
def known(real: Facts, sandbox: TemplateSandbox) -> Capabilities:
    return find_in(real, sandbox).capabilities


@pytest.mark.ollama
async def test_a_real_ollama_tells_all_it_knows(real: Facts, ollama_url: str) -> None:
    assert (real.name, real.server, real.endpoint) == ("tiny", ServerKind.OLLAMA, ollama_url)
    assert real.server_version
    assert real.digest
    assert len(real.digest) == 64
    assert real.templates
    assert "tool_call" in real.templates["default"]


@pytest.mark.ollama
async def test_a_real_ollamas_template_is_rendered(known: Capabilities) -> None:
    assert (known.tools, known.native_route, known.guess) == (Answer.YES, Answer.YES, False)
    assert (known.supports_tools, known.supports_tool_calls, known.supports_parallel_tool_calls) == (True, True, True)
    assert (known.context_length, known.architecture, known.is_embedding) == (4096, "llama", False)
    assert (known.quantization, known.parameter_count) == ("Q8_0", 10808352)
    assert known.evidence[0].source == "template"


@pytest.mark.ollama
async def test_that_its_list_knows_of_no_tools_is_not_a_no(real: Facts, known: Capabilities) -> None:
    assert real.listing
    assert "tools" not in real.listing["capabilities"]
    assert known.tools is Answer.YES
    assert not [found for found in known.evidence if found.claim == "tools" and found.answer == Answer.NO]


@pytest.mark.ollama
@pytest.mark.parametrize("name", ["tiny:latest", "library/tiny", "registry.ollama.ai/library/tiny:latest", "TINY"])
async def test_its_names_have_many_spellings(http: HttpClient, ollama_url: str, name: str, real: Facts) -> None:
    facts = await OllamaBackend(ollama_url, http, timeout=30).facts(name)
    assert (facts.name, facts.digest) == (name, real.digest)


@pytest.mark.ollama
async def test_a_model_that_it_lacks_is_not_found(http: HttpClient, ollama_url: str) -> None:
    with pytest.raises(NotFound, match=r"has no model 'tinny'") as caught:
        await OllamaBackend(ollama_url, http, timeout=30).facts("tinny")
    assert "did you mean 'tiny:latest'?" in str(caught.value.hint)


@pytest.mark.ollama
async def test_it_lists_its_models(http: HttpClient, ollama_url: str) -> None:
    backend = OllamaBackend(ollama_url, http, timeout=30)
    assert backend.digest_of("tiny") is None
    assert "tiny:latest" in await backend.models()
    assert backend.digest_of("tiny") == backend.digest_of("library/Tiny:latest") is not None


@pytest.mark.ollama
@pytest.mark.engine
async def test_a_loaded_model_shows_what_it_runs_with(
    http: HttpClient, ollama_url: str, sandbox: TemplateSandbox, require_engine: None
) -> None:
    def generate() -> None:
        body = {"model": "tiny", "prompt": "hi", "stream": False, "options": {"num_ctx": 512, "num_predict": 1}}
        asked = urllib.request.Request(f"{ollama_url}/api/generate", json.dumps(body).encode())
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(asked, timeout=60) as answer:
            answer.read()

    await asyncio.to_thread(generate)
    facts = await OllamaBackend(ollama_url, http, timeout=30).facts("tiny")
    found = find_in(facts, sandbox).capabilities
    assert (found.loaded_context, found.context_length) == (512, 4096)


# One that plays a part


async def facts_of(http: HttpClient, ollama: PlayedOllama, name: str, *, patience: float = 5) -> Facts:
    async with serving(*ollama.routes) as url:
        return await OllamaBackend(url, http, timeout=patience).facts(name)


async def test_what_it_says_of_a_model_is_put_together(http: HttpClient, sandbox: TemplateSandbox) -> None:
    ollama = PlayedOllama(
        m__8b=model("completion", "tools", "vision", template=TOOLS, digest="abc", parameters="num_ctx    16384"),
        m__latest=WITHOUT,
    )
    ollama.running = {"m:8b": 2048}
    facts = await facts_of(http, ollama, "m:8b")
    assert (facts.digest, facts.server_version) == ("abc", "0.32.1")
    known = find_in(facts, sandbox).capabilities
    assert (known.context_length, known.loaded_context) == (16384, 2048)
    assert (known.supports_vision, known.family, known.parameter_size) == (True, "llama", "8B")
    assert set(ollama.asked.values()) == {1}


@pytest.mark.parametrize("path", ["/api/tags", "/api/ps", "/api/version"])
@pytest.mark.parametrize("fault", [refuses, talks_garbage, hangs])
async def test_only_its_main_answer_is_needed(http: HttpClient, path: str, fault: Handler) -> None:
    ollama = PlayedOllama(m=WITH_TOOLS)

    async def faulty(request: web.Request) -> web.StreamResponse:
        if request.path == path:
            return await fault(request)
        ollama.fault = None
        response = await ollama._answer(request)
        ollama.fault = faulty
        return response

    ollama.fault = faulty
    facts = await facts_of(http, ollama, "m", patience=0.2 if fault is hangs else 5)
    assert facts.templates == {"default": TOOLS}
    assert (facts.digest is None) is (path == "/api/tags")
    assert (facts.server_version is None) is (path == "/api/version")


@pytest.mark.parametrize(("fault", "error"), [(refuses, BadStatus), (talks_garbage, BadAnswer), (hangs, Unreachable)])
async def test_a_failure_says_which(http: HttpClient, fault: Handler, error: type[BackendError]) -> None:
    ollama = PlayedOllama()
    ollama.fault = fault
    with pytest.raises(error):
        await facts_of(http, ollama, "m", patience=0.2 if fault is hangs else 5)


async def test_nobody_there_is_said_in_plain_words(http: HttpClient) -> None:
    with pytest.raises(
        Unreachable, match=r"Ollama at http://127.0.0.1:1 can't be reached: Connection refused"
    ) as caught:
        await OllamaBackend(NOBODY, http, timeout=5).facts("m")
    assert "ollama serve" in str(caught.value.hint)


async def test_an_ollama_without_models_says_how_to_get_one(http: HttpClient) -> None:
    with pytest.raises(NotFound) as caught:
        await facts_of(http, PlayedOllama(), "qwen3:8b")
    assert caught.value.hint == "`ollama pull qwen3:8b` fetches it"


@pytest.mark.parametrize(
    "tags",
    [
        None,
        [],
        {"models": None},
        {"models": {"name": "m"}},
        {"models": [None, 3, "m", {}, {"name": None, "digest": 5}, {"name": "m:latest", "digest": {"a": 1}}]},
        {"models": [{"name": ["m"], "model": {"m": 1}}] * 1000},
    ],
)
async def test_a_list_may_hold_anything(http: HttpClient, tags: object) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        return web.json_response({"capabilities": [1, None]} if request.path == "/api/show" else tags)

    async with serving(("*", "/{path:.*}", answer)) as url:
        facts = await OllamaBackend(url, http, timeout=5).facts("m")
        assert facts.digest is None
        assert set(await OllamaBackend(url, http, timeout=5).models()) <= {"m:latest"}


async def test_a_password_in_its_address_is_in_no_message(http: HttpClient) -> None:
    ollama = PlayedOllama(able=WITH_TOOLS)
    async with serving(*ollama.routes) as url:
        secret = url.replace("://", "://user:verysecret@")
        with pytest.raises(NotFound) as unknown:
            await OllamaBackend(secret, http, timeout=5).facts("nope")
    with pytest.raises(Unreachable) as down:
        await OllamaBackend("http://user:verysecret@127.0.0.1:1", http, timeout=5).facts("nope")
    for caught in (unknown, down):
        assert "verysecret" not in f"{caught.value} {caught.value.hint}"
        assert "Ollama at http://127.0.0.1" in str(caught.value)
