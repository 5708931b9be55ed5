import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from aiohttp import web

from callgate.backends import OpenAIBackend
from callgate.detect import TemplateSandbox, find_in
from callgate.vocabulary import Answer, BadAnswer, BadStatus, Capabilities, Facts, NotFound, ServerKind, Unreachable
from callgate.wire import HttpClient
from tests.backends import llama_server
from tests.backends.conftest import LOADED_CONTEXT
from tests.runtime.played import NOBODY, PLAIN, TOOLS, WITH_TOOLS, PlayedOllama, hangs
from tests.wire.server import serving

# A real llama-server


@pytest.mark.engine
@pytest.mark.parametrize("name", ["my-tiny", "", "another"])
@pytest.mark.parametrize("path", ["", "/v1", "/v1/chat/completions"])
async def test_a_real_llama_server_tells_all_it_knows(
    http: HttpClient, sandbox: TemplateSandbox, llama_server_url: str, name: str, path: str
) -> None:
    facts = await OpenAIBackend(f"{llama_server_url}{path}", http, timeout=30).facts(name)
    assert (facts.name, facts.server) == (name or "my-tiny", ServerKind.LLAMA_SERVER)
    assert facts.endpoint == f"{llama_server_url}/v1"
    assert facts.server_version
    assert facts.tokens.keys() == {"bos_token", "eos_token"}
    known = find_in(facts, sandbox).capabilities
    assert (known.tools, known.native_route, known.guess) == (Answer.YES, Answer.YES, False)
    assert (known.loaded_context, known.context_length) == (LOADED_CONTEXT, 4096)
    assert (known.parameter_count, known.supports_vision, known.supports_audio) == (10808352, False, False)
    assert (known.evidence[0].claim, known.evidence[0].source) == ("tools", "template")


@pytest.mark.engine
async def test_a_real_llama_server_with_another_template(
    http: HttpClient, sandbox: TemplateSandbox, require_engine: None, tiny_gguf: Path
) -> None:
    with llama_server.running(tiny_gguf, context=512, template=PLAIN) as url:
        facts = await OpenAIBackend(url, http, timeout=30).facts("")
    known = find_in(facts, sandbox).capabilities
    assert (known.tools, known.supports_tools, known.supports_tool_calls) == (Answer.NO, False, False)
    assert known.loaded_context == 512


# A real Ollama, through its other door


@pytest.mark.ollama
@pytest.mark.parametrize("name", ["tiny", "tiny:latest", "Tiny"])
async def test_a_real_ollama_is_recognised(
    http: HttpClient, sandbox: TemplateSandbox, ollama_url: str, name: str
) -> None:
    facts = await OpenAIBackend(f"{ollama_url}/v1", http, timeout=30).facts(name)
    assert (facts.server, facts.endpoint) == (ServerKind.OLLAMA, ollama_url)
    assert facts.digest
    known = find_in(facts, sandbox).capabilities
    assert (known.tools, known.native_route) == (Answer.YES, Answer.YES)


@pytest.mark.ollama
async def test_a_real_ollama_lacks_a_model_at_this_door_too(http: HttpClient, ollama_url: str) -> None:
    with pytest.raises(NotFound, match="has no model 'nope'"):
        await OpenAIBackend(f"{ollama_url}/v1", http, timeout=30).facts("nope")


# Servers that play a part, as their documentation says


class Played:
    """Answers each path with what it is given for it; `else_` is for all other paths."""

    def __init__(self, answers: Mapping[str, object], else_: object = None) -> None:
        self.answers = answers
        self.else_ = else_
        self.asked: list[str] = []

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.asked.append(str(request.rel_url))
        answer = self.answers.get(request.path, self.else_)
        return web.Response(status=404) if answer is None else web.json_response(answer)


async def look(http: HttpClient, server: Played, name: str = "", path: str = "/v1") -> Facts:
    async with serving(("GET", "/{path:.*}", server.answer)) as url:
        return await OpenAIBackend(f"{url}{path}", http, timeout=5).facts(name)


def listing(*names: str, **more: object) -> dict[str, object]:
    return {"object": "list", "data": [{"id": name, "object": "model", **more} for name in names]}


LM_STUDIO_ERROR = {"error": "Unexpected endpoint or method. (GET /x)"}
LM_STUDIO_NEW = {
    "models": [
        {
            "type": "llm",
            "publisher": "qwen",
            "key": "qwen/qwen3-8b",
            "architecture": "qwen3",
            "quantization": {"name": "Q4_K_M", "bits_per_weight": 4},
            "params_string": "8B",
            "loaded_instances": [{"id": "qwen/qwen3-8b", "config": {"context_length": 8192}}],
            "max_context_length": 40960,
            "capabilities": {"vision": False, "trained_for_tool_use": True},
        },
        {"type": "embedding", "key": "text-embedding-nomic", "loaded_instances": [], "max_context_length": 2048},
    ]
}
LM_STUDIO_OLD = {
    "object": "list",
    "data": [
        {
            "id": "qwen/qwen3-8b",
            "object": "model",
            "type": "llm",
            "arch": "qwen3",
            "compatibility_type": "gguf",
            "quantization": "Q4_K_M",
            "state": "loaded",
            "max_context_length": 40960,
            "loaded_context_length": 8192,
            "capabilities": ["tool_use"],
        }
    ],
}


def check_lm_studio(known: Capabilities) -> None:
    assert (known.tools, known.native_route, known.is_embedding) == (Answer.YES, Answer.YES, False)
    assert (known.context_length, known.loaded_context) == (40960, 8192)
    assert (known.architecture, known.quantization) == ("qwen3", "Q4_K_M")


@pytest.mark.parametrize("owner", ["organization_owner", "somebody"])
@pytest.mark.parametrize(
    "own",
    [
        {"/api/v1/models": LM_STUDIO_NEW, "/api/v0/models": LM_STUDIO_OLD},
        {"/api/v1/models": LM_STUDIO_NEW},
        {"/api/v0/models": LM_STUDIO_OLD},
    ],
)
async def test_lm_studio_is_asked_in_both_its_ways(
    http: HttpClient, sandbox: TemplateSandbox, owner: str, own: dict[str, object]
) -> None:
    models = listing("qwen/qwen3-8b", "text-embedding-nomic", owned_by=owner)
    # It answers 200 with an error to paths that it doesn't know.
    server = Played({"/v1/models": models, **own}, else_=LM_STUDIO_ERROR)
    facts = await look(http, server, "qwen/qwen3-8b")
    assert facts.server is ServerKind.LM_STUDIO
    check_lm_studio(find_in(facts, sandbox).capabilities)


async def test_lm_studio_says_what_is_for_embedding(http: HttpClient, sandbox: TemplateSandbox) -> None:
    models = listing("qwen/qwen3-8b", "text-embedding-nomic", owned_by="organization_owner")
    server = Played({"/v1/models": models, "/api/v1/models": LM_STUDIO_NEW}, else_=LM_STUDIO_ERROR)
    known = find_in(await look(http, server, "text-embedding-nomic"), sandbox).capabilities
    assert (known.is_embedding, known.tools, known.context_length) == (True, Answer.NO, 2048)


async def test_vllm_says_how_long_a_context_it_runs(http: HttpClient, sandbox: TemplateSandbox) -> None:
    server = Played(
        {"/v1/models": listing("Qwen/Qwen3-8B", owned_by="vllm", root="Qwen/Qwen3-8B", max_model_len=32768)}
    )
    facts = await look(http, server)
    assert (facts.name, facts.server, server.asked) == ("Qwen/Qwen3-8B", ServerKind.VLLM, ["/v1/models"])
    known = find_in(facts, sandbox).capabilities
    assert (known.tools, known.native_route, known.context_length) == (Answer.YES, Answer.UNKNOWN, 32768)
    assert known.family == "qwen3"


@pytest.mark.parametrize("path", ["/model_info", "/get_model_info"])
@pytest.mark.parametrize(("parser", "route"), [("qwen25", Answer.YES), (None, Answer.NO)])
async def test_sglang_says_whether_it_parses_calls(
    http: HttpClient, sandbox: TemplateSandbox, path: str, parser: str | None, route: Answer
) -> None:
    info = {"model_path": "Qwen/Qwen3-8B", "is_generation": True, "tool_call_parser": parser, "model_type": "qwen3"}
    models = listing("Qwen/Qwen3-8B", owned_by="sglang", max_model_len=40960)
    known = find_in(await look(http, Played({"/v1/models": models, path: info})), sandbox).capabilities
    assert (known.native_route, known.context_length, known.architecture) == (route, 40960, "qwen3")


async def test_an_ollama_without_its_own_models_is_recognised_by_its_version(
    http: HttpClient, sandbox: TemplateSandbox
) -> None:
    ollama = PlayedOllama(mine=WITH_TOOLS)
    own = ollama._answer

    async def both(request: web.Request) -> web.StreamResponse:
        return web.json_response(listing("mine", owned_by="me")) if request.path == "/v1/models" else await own(request)

    async with serving(("*", "/{path:.*}", both)) as url:
        facts = await OpenAIBackend(f"{url}/v1", http, timeout=5).facts("mine")
    assert (facts.server, facts.digest) == (ServerKind.OLLAMA, "d1")
    assert find_in(facts, sandbox).capabilities.tools is Answer.YES


async def test_a_llama_server_with_several_models_is_told_which_and_loads_none(
    http: HttpClient, sandbox: TemplateSandbox
) -> None:
    props = {"default_generation_settings": {"n_ctx": 2048}, "chat_template": TOOLS, "build_info": "b7700-abc"}
    server = Played({"/v1/models": listing("org/a:Q4", "b", owned_by="llamacpp"), "/props": props})
    known = find_in(await look(http, server, "org/a:Q4"), sandbox).capabilities
    assert server.asked == ["/v1/models", "/props?model=org/a:Q4&autoload=false"]
    assert (known.tools, known.native_route, known.loaded_context) == (Answer.YES, Answer.YES, 2048)


async def test_a_llama_server_by_another_name_is_recognised_by_its_props(http: HttpClient) -> None:
    props = {"default_generation_settings": {"n_ctx": 2048}, "chat_template": TOOLS}
    facts = await look(http, Played({"/v1/models": listing("m", owned_by="acme"), "/props": props}))
    assert (facts.server, facts.templates) == (ServerKind.LLAMA_SERVER, {"default": TOOLS})


async def test_a_llama_server_that_hides_its_props_goes_by_name(http: HttpClient, sandbox: TemplateSandbox) -> None:
    facts = await look(http, Played({"/v1/models": listing("Qwen3-8B", owned_by="llamacpp")}))
    known = find_in(facts, sandbox).capabilities
    assert (facts.templates, known.tools, known.native_route) == (None, Answer.YES, Answer.UNKNOWN)


async def test_any_other_server_is_just_that(http: HttpClient, sandbox: TemplateSandbox) -> None:
    server = Played({"/v1/models": listing("acme-1", context_length=9000, supported_parameters=["tools", "top_p"])})
    facts = await look(http, server, "acme-1")
    assert (facts.server, facts.answer) == (ServerKind.OPENAI, None)
    known = find_in(facts, sandbox).capabilities
    assert (known.tools, known.native_route, known.context_length) == (Answer.UNKNOWN, Answer.YES, 9000)


async def test_a_server_on_a_path_is_asked_there(http: HttpClient) -> None:
    server = Played({"/proxy/v1/models": listing("m"), "/proxy/props": {"default_generation_settings": {"n_ctx": 64}}})
    facts = await look(http, server, path="/proxy/v1")
    assert facts.server is ServerKind.LLAMA_SERVER


@pytest.mark.parametrize(
    ("models", "name", "message", "hint"),
    [
        (listing("a", "b"), "", "has several models", "name one: "),
        (listing("a", "b"), "c", "has no model 'c'", "it has: a, b"),
        (listing(*"abcdefgh"), "z", "has no model 'z'", "it has: a, b, c, d, e …"),
        (listing(), "", "has no models", "load one"),
        ({"object": "list", "data": None}, "a", "has no models", "load one"),
        ({"data": [{"id": 5}, None, 7]}, "a", "has no models", "load one"),
    ],
)
async def test_a_model_that_it_lacks_is_not_found(
    http: HttpClient, models: object, name: str, message: str, hint: str
) -> None:
    with pytest.raises(NotFound, match=message) as caught:
        await look(http, Played({"/v1/models": models}), name)
    assert hint in str(caught.value.hint)


@pytest.mark.parametrize("models", [[], "text", 5])
async def test_a_list_that_is_none_is_a_bad_answer(http: HttpClient, models: object) -> None:
    with pytest.raises(BadAnswer, match="sent no object"):
        await look(http, Played({"/v1/models": models}))


async def test_a_failure_says_which(http: HttpClient) -> None:
    with pytest.raises(BadStatus):
        await look(http, Played({}))
    with pytest.raises(Unreachable, match="Connection refused"):
        await OpenAIBackend(f"{NOBODY}/v1", http, timeout=5).facts("m")


async def test_a_side_door_that_hangs_is_not_waited_for_long(http: HttpClient) -> None:
    async def props(request: web.Request) -> web.StreamResponse:
        if request.path == "/props":
            return await hangs(request)
        return web.Response(text=json.dumps(listing("Qwen3-8B", owned_by="llamacpp")))

    async with serving(("GET", "/{path:.*}", props)) as url:
        facts = await OpenAIBackend(url, http, timeout=0.2).facts("Qwen3-8B")
    assert (facts.server, facts.answer) == (ServerKind.LLAMA_SERVER, None)
