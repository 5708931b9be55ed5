"""The hub that the other tests play is one to the hub's own library too."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path

import huggingface_hub
import pytest
from huggingface_hub.errors import GatedRepoError, HfHubHTTPError, RepositoryNotFoundError, RevisionNotFoundError

from tests.hub.played_hub import COMMIT, TOKEN, PlayedHub, Repo
from tests.hub.watching import content_of, files_in


async def test_the_library_reads_a_repository(tiny: bytes) -> None:
    summary = {"architecture": "llama", "chat_template": "{{ messages }}", "context_length": 4096}
    hub = PlayedHub(owner__name=Repo({"a.gguf": tiny, "README.md": b"#"}, gated="manual", gguf=summary))
    async with hub.open():
        api = huggingface_hub.HfApi(endpoint=hub.url, token=False)
        info = await asyncio.to_thread(partial(api.model_info, "owner/name", files_metadata=True))
        about = await asyncio.to_thread(partial(api.model_info, "owner/name", expand=["gguf"]))
        found = await asyncio.to_thread(lambda: [model.id for model in api.list_models(author="owner")])
    assert (info.sha, info.gated, info.private) == (COMMIT, "manual", False)
    assert info.siblings
    assert [(file.rfilename, file.size) for file in info.siblings] == [("a.gguf", len(tiny)), ("README.md", 1)]
    assert info.siblings[0].lfs
    assert info.siblings[0].lfs.sha256 == hub.sha256("owner/name", "a.gguf")
    assert about.gguf == summary
    assert about.siblings is None
    assert found == ["owner/name"]


@pytest.mark.parametrize("redirects", [True, False])
async def test_the_library_fetches_a_file(tiny: bytes, tmp_path: Path, redirects: bool) -> None:
    hub = PlayedHub(owner__name=Repo({"a.gguf": tiny}))
    hub.redirects = redirects
    async with hub.open():
        fetch = partial(huggingface_hub.hf_hub_download, endpoint=hub.url, cache_dir=tmp_path, token=TOKEN)
        path = await asyncio.to_thread(fetch, "owner/name", "a.gguf")
    assert content_of(path) == tiny
    assert f"models--owner--name/blobs/{hub.sha256('owner/name', 'a.gguf')}" in files_in(tmp_path)
    assert all("Authorization" not in request.headers for request in hub.stored)


@pytest.mark.parametrize(
    ("name", "revision", "token", "kind"),
    [
        ("owner/missing", "main", False, RepositoryNotFoundError),
        ("owner/missing", "main", TOKEN, RepositoryNotFoundError),
        ("owner/private", "main", False, RepositoryNotFoundError),
        ("owner/gated", "main", False, GatedRepoError),
        ("owner/gated", "main", TOKEN, GatedRepoError),
        ("owner/name", "nope", False, RevisionNotFoundError),
        ("owner/name", "main", "hf_wrong", HfHubHTTPError),
    ],
)
async def test_the_library_understands_what_it_refuses(
    tiny: bytes, tmp_path: Path, name: str, revision: str, token: str | bool, kind: type[Exception]
) -> None:
    hub = PlayedHub(
        owner__name=Repo({"a.gguf": tiny}),
        owner__private=Repo({"a.gguf": tiny}, private=True),
        owner__gated=Repo({"a.gguf": tiny}, gated="auto", accepted=False),
    )
    async with hub.open():
        fetch = partial(huggingface_hub.hf_hub_download, endpoint=hub.url, cache_dir=tmp_path, token=token)
        with pytest.raises(kind) as caught:
            await asyncio.to_thread(partial(fetch, name, "a.gguf", revision=revision))
    assert kind is not HfHubHTTPError or type(caught.value) is HfHubHTTPError
