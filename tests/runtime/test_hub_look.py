import json
import re
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from urllib.parse import unquote

import pytest
from aiohttp import web

from callgate.detect import Finding, TemplateSandbox
from callgate.runtime import AsyncDetector
from callgate.runtime.hub_look import MOST_NAMES, hub_facts
from callgate.vocabulary import (
    Answer,
    BadAnswer,
    BadStatus,
    HubRef,
    HubRefused,
    LicenceNotAccepted,
    NotFound,
    NoToken,
    TemplateError,
    TokenDenied,
    Unreachable,
    UsageError,
)
from callgate.wire import HttpClient
from tests.runtime.played import NOBODY, PLAIN, TOOLS, hangs, settings
from tests.wire.server import serving


class PlayedHub:
    """A hub with one repository, `owner/name`, whose large files lie on another host."""

    def __init__(self, files: Mapping[str, bytes], *, storage: str = "", listed: object = None) -> None:
        self.files = files
        self.storage = storage
        self.listed = [{"rfilename": name} for name in files] if listed is None else listed
        self.needs_token: tuple[str, ...] = ()
        """Parts of paths that nobody sees without one."""
        self.requests: list[web.Request] = []

    @property
    def paths(self) -> list[str]:
        return [request.raw_path for request in self.requests]

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        allowed = request.headers.get("Authorization") == "Bearer hf_secret"
        if not allowed and any(part in request.path for part in self.needs_token):
            return web.json_response({"error": "Repository not found"}, status=401)
        if request.path.startswith("/api/models/owner/name/revision/"):
            return web.json_response({"id": "owner/name", "sha": "0", "siblings": self.listed})
        found = re.fullmatch(r"/owner/name/resolve/[^/]+/(.+)", request.rel_url.raw_path)
        file = unquote(found[1]) if found else ""
        if file not in self.files:
            return web.json_response({"error": "Entry not found"}, status=404)
        if self.storage and file.endswith(".gguf"):
            raise web.HTTPFound(f"{self.storage}/blobs/{file}?signature=abc")
        return ranged(request, self.files[file])


def ranged(request: web.Request, content: bytes) -> web.Response:
    asked = re.fullmatch(r"bytes=(\d+)-(\d+)", request.headers.get("Range", ""))
    if not asked:
        return web.Response(body=content)
    start, end = int(asked[1]), min(int(asked[2]) + 1, len(content))
    headers = {"Content-Range": f"bytes {start}-{end - 1}/{len(content)}"}
    return web.Response(status=206, headers=headers, body=content[start:end])


@pytest.fixture
async def http() -> AsyncIterator[HttpClient]:
    async with HttpClient() as client:
        yield client


async def look(hub: PlayedHub, name: str, sandbox: TemplateSandbox, **overrides: object) -> Finding:
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        wanted = settings(**{"hub__endpoint": url, **overrides})
        async with AsyncDetector(wanted, sandbox=sandbox) as detector:
            return await detector.find(f"hf:{name}")


@pytest.fixture
def tiny(tiny_gguf: Path) -> bytes:
    return tiny_gguf.read_bytes()


# A file


async def test_a_model_is_looked_at_without_fetching_it(tiny: bytes, sandbox: TemplateSandbox) -> None:
    hub = PlayedHub({"README.md": b"#", "tiny-Q8_0.gguf": tiny + bytes(9_000_000)})
    finding = await look(hub, "owner/name", sandbox)
    known = finding.capabilities
    assert (known.name, known.tools, known.guess) == ("owner/name/tiny-Q8_0.gguf", Answer.YES, False)
    assert (known.context_length, known.architecture, known.quantization) == (4096, "llama", "Q8_0")
    assert finding.facts.server is None
    assert hub.paths == ["/api/models/owner/name/revision/main", "/owner/name/resolve/main/tiny-Q8_0.gguf"]


async def test_a_file_and_a_revision_may_be_named(tiny: bytes, sandbox: TemplateSandbox) -> None:
    hub = PlayedHub({"a Q4_K_M.gguf": b"no header", "sub/the one é.gguf": tiny})
    finding = await look(hub, "owner/name/sub/the one é.gguf@refs/pr/1", sandbox)
    assert finding.capabilities.tools is Answer.YES
    assert hub.paths[-1] == "/owner/name/resolve/refs%2Fpr%2F1/sub/the%20one%20%C3%A9.gguf"


async def test_a_quantisation_may_be_named(tiny: bytes, sandbox: TemplateSandbox) -> None:
    hub = PlayedHub({"m-Q4_K_M.gguf": b"no header", "m-q8_0.gguf": tiny})
    assert (await look(hub, "owner/name:Q8_0", sandbox)).capabilities.name == "owner/name/m-q8_0.gguf"
    missing = await look(hub, "owner/name:Q5_K_M", sandbox)
    assert isinstance(missing.failure, NotFound)
    assert "no GGUF file of quantisation 'Q5_K_M'" in missing.failure.message


# A repository without GGUF files


async def test_a_tokenizers_configuration_will_do(sandbox: TemplateSandbox) -> None:
    told = {"chat_template": PLAIN, "bos_token": "<s>"}
    hub = PlayedHub({"model.safetensors": b"", "tokenizer_config.json": json.dumps(told).encode()})
    finding = await look(hub, "owner/name", sandbox)
    assert (finding.capabilities.name, finding.capabilities.tools) == ("owner/name", Answer.NO)
    assert finding.facts.tokens == {"bos_token": "<s>"}
    assert all("safetensors" not in path for path in hub.paths)


async def test_templates_in_files_of_their_own_are_found(sandbox: TemplateSandbox) -> None:
    files = {
        "tokenizer_config.json": json.dumps({"chat_template": "old"}).encode(),
        "chat_template.jinja": PLAIN.encode(),
        "additional_chat_templates/tool_use.jinja": TOOLS.encode(),
    }
    finding = await look(PlayedHub(files), "owner/name", sandbox)
    assert finding.facts.templates == {"default": PLAIN, "tool_use": TOOLS}
    assert finding.capabilities.tools is Answer.YES
    assert finding.capabilities.has_tool_use_template


async def test_only_so_many_variants_are_fetched(http: HttpClient) -> None:
    files = {f"additional_chat_templates/{number:05}.jinja": b"x" for number in range(1000)}
    hub = PlayedHub({"tokenizer_config.json": b"{}", **files})
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        facts = await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))
    assert len(facts.templates or {}) == 16
    assert len(hub.paths) == 18


async def test_a_repository_with_nothing_for_us_is_not_found(http: HttpClient) -> None:
    hub = PlayedHub({"README.md": b""})
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        with pytest.raises(NotFound, match="neither GGUF files nor a tokenizer configuration"):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))


# Who may see it


@pytest.mark.parametrize("guarded", ["/api/", "tiny.gguf"])
async def test_what_is_gated_says_so(tiny: bytes, http: HttpClient, guarded: str) -> None:
    hub = PlayedHub({"tiny.gguf": tiny})
    hub.needs_token = (guarded,)
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        with pytest.raises(NotFound, match="no such repository, or it is private or gated") as caught:
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))
        assert "HF_TOKEN" in str(caught.value.hint)
        facts = await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url, hub__token="hf_secret"))
        assert facts.header is not None


@pytest.mark.parametrize(
    ("token", "status", "kind"),
    [(None, 401, NoToken), ("hf_other", 401, TokenDenied), ("hf_other", 403, LicenceNotAccepted)],
)
async def test_why_a_gated_one_is_not_shown_has_a_name(
    tiny: bytes, http: HttpClient, token: str | None, status: int, kind: type[HubRefused]
) -> None:
    hub = PlayedHub({"tiny.gguf": tiny})

    async def gated(request: web.Request) -> web.StreamResponse:
        if "/resolve/" in request.path:
            return web.Response(status=status)
        return web.json_response({"id": "owner/name", "gated": "auto", "siblings": hub.listed})

    async with serving(("GET", "/{path:.*}", gated)) as url:
        with pytest.raises(kind):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url, hub__token=token))


async def test_offline_nobody_is_asked(tiny: bytes, http: HttpClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    hub = PlayedHub({"tiny.gguf": tiny})
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        with pytest.raises(Unreachable, match="HF_HUB_OFFLINE"):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))
    assert hub.requests == []


async def test_a_gated_configuration_says_so(http: HttpClient) -> None:
    hub = PlayedHub({"tokenizer_config.json": b"{}"})
    hub.needs_token = ("tokenizer_config.json",)
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        with pytest.raises(NotFound, match="private or gated"):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))


async def test_a_repository_that_is_not_there_is_not_found(http: HttpClient) -> None:
    hub = PlayedHub({})
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        for ref in (HubRef("owner/other"), HubRef("owner/name", file="missing.gguf")):
            with pytest.raises(NotFound, match="the hub has no owner/"):
                await hub_facts(ref, http, settings(hub__endpoint=url))


async def test_the_token_stays_with_the_hub(tiny: bytes, sandbox: TemplateSandbox) -> None:
    seen: list[web.Request] = []

    async def storage(request: web.Request) -> web.StreamResponse:
        seen.append(request)
        return ranged(request, tiny)

    async with serving(("GET", "/blobs/{name}", storage)) as elsewhere:
        hub = PlayedHub({"tiny.gguf": tiny}, storage=elsewhere)
        finding = await look(hub, "owner/name", sandbox, hub__token="hf_secret")
    assert finding.capabilities.tools is Answer.YES
    assert [request.headers.get("Authorization") for request in hub.requests] == ["Bearer hf_secret"] * 2
    assert [request.headers.get("Authorization") for request in seen] == [None]
    assert seen[0].query["signature"] == "abc"


async def test_the_token_of_a_login_will_do(tiny: bytes, http: HttpClient, tmp_path: Path) -> None:
    hub = PlayedHub({"tiny.gguf": tiny})
    hub.needs_token = ("tiny.gguf",)
    (tmp_path / "token").write_text("hf_secret\n")
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        facts = await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url, hub__home=str(tmp_path)))
        (tmp_path / "token").write_text("two words")
        with pytest.raises(NotFound):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url, hub__home=str(tmp_path)))
    assert facts.header is not None


async def test_the_token_is_in_no_message(tiny: bytes, sandbox: TemplateSandbox) -> None:
    finding = await look(PlayedHub({}), "owner/other", sandbox, hub__token="hf_secret")
    assert finding.failure
    assert "hf_secret" not in repr(finding) + repr(finding.failure.__dict__)


# A hub that fails, or lies


async def test_a_hub_that_fails_makes_a_guess(sandbox: TemplateSandbox) -> None:
    async def broken(request: web.Request) -> web.StreamResponse:
        return web.Response(status=503)

    async with serving(("GET", "/{path:.*}", broken)) as url, serving(("GET", "/{path:.*}", hangs)) as asleep:
        places = {url: BadStatus, asleep: Unreachable, NOBODY: Unreachable}
        for place, kind in places.items():
            wanted = settings(hub__endpoint=place, detect__server_timeout=0.2)
            async with AsyncDetector(wanted, sandbox=sandbox) as detector:
                finding = await detector.find("hf:Qwen/Qwen3-4B-GGUF:Q8_0")
                assert isinstance(finding.failure, kind)
                known = finding.capabilities
                assert (known.family, known.tools, known.guess) == ("qwen3", Answer.YES, True)
                assert (known.parameter_size, known.quantization) == ("4B", "Q8_0")


@pytest.mark.parametrize("listed", ["no list", {"rfilename": "x.gguf"}, 7])
async def test_an_answer_without_files_is_a_bad_one(http: HttpClient, listed: object) -> None:
    hub = PlayedHub({}, listed=listed)
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        with pytest.raises(BadAnswer, match="doesn't say which files"):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))


HOSTILE = [
    "../../../other/name/resolve/main/Q4_K_M.gguf",
    "/etc/Q4_K_M.gguf",
    "a/../../Q4_K_M.gguf",
    "..\\Q4_K_M.gguf",
    "./Q4_K_M.gguf",
    "a//Q4_K_M.gguf",
    "http://127.0.0.1:1/Q4_K_M.gguf",
    "Q4_K_M\x1b[31m.gguf",
    "Q4_K_M\n.gguf",
    "x" * 100_000 + "-Q4_K_M.gguf",
]


async def test_names_that_lead_astray_are_not_followed(tiny: bytes, http: HttpClient) -> None:
    listed: list[object] = [{"rfilename": name} for name in HOSTILE]
    hub = PlayedHub({"tiny.gguf": tiny}, listed=[*listed, None, 3, {}, {"rfilename": None}, {"rfilename": "tiny.gguf"}])
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        facts = await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))
    assert facts.name == "owner/name/tiny.gguf"
    assert len(hub.paths) == 2


@pytest.mark.parametrize(
    "ref",
    [
        HubRef("../name"),
        HubRef("owner/.."),
        HubRef("owner/name", file="../x.gguf"),
        HubRef("owner/name", file="/x.gguf"),
        HubRef("owner/name", revision=".."),
    ],
)
async def test_a_ref_that_leads_astray_is_refused(http: HttpClient, ref: HubRef) -> None:
    with pytest.raises(UsageError, match="can't be a part of a model's name"):
        await hub_facts(ref, http, settings(hub__endpoint=NOBODY))


async def test_an_endless_list_of_files_is_cut_off(tiny: bytes, http: HttpClient) -> None:
    listed = [{"rfilename": f"{number:06}.txt"} for number in range(MOST_NAMES)]
    hub = PlayedHub({}, listed=[*listed, {"rfilename": "too-late.gguf"}])
    async with serving(("GET", "/{path:.*}", hub.answer)) as url:
        with pytest.raises(NotFound, match="neither"):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))


async def test_a_template_without_end_is_cut_off(http: HttpClient) -> None:
    sent = 0

    async def endless(request: web.Request) -> web.StreamResponse:
        nonlocal sent
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(1000):
            await response.write(b"x" * (1 << 20))
            sent += 1
        return response

    hub = PlayedHub({"tokenizer_config.json": b"{}", "chat_template.jinja": b""})
    routes = (("GET", "/{path:.*}/chat_template.jinja", endless), ("GET", "/{path:.*}", hub.answer))
    async with serving(*routes) as url:
        with pytest.raises(TemplateError, match="longer than 10 MB"):
            await hub_facts(HubRef("owner/name"), http, settings(hub__endpoint=url))
    assert sent < 100
