from __future__ import annotations

import asyncio
from pathlib import Path

import huggingface_hub
import pytest

from callgate.hub import Wishes
from callgate.runtime import Quarantine, fetched_file
from callgate.vocabulary import Answer, HeaderError, HubRef, ModelRejected, NoSpace
from tests.backends.gguf_edit import with_templates
from tests.detect.template.samples import SAMPLES
from tests.hub.played_hub import COMMIT, PlayedHub, Repo
from tests.hub.watching import Watching, content_of, files_in, hub_settings, pulled
from tests.runtime.played import PLAIN, TOOLS

STUB = (
    "{% for message in messages %}"
    "{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
HALF = SAMPLES["tools without calls"].source


# The whole way


async def test_a_model_is_fetched_verified_and_found(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"README.md": b"#", "tiny-Q8_0.gguf": tiny}))
    watching = Watching()
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, watching=watching)
        settings = hub_settings(hub, tmp_path)
    assert done.fetched
    assert done.verified
    assert content_of(done.fetched.path) == tiny
    assert (done.verdict, done.repository.commit) == ("yes", COMMIT)
    (file,) = done.fetched.all
    assert (file.size, file.bytes_fetched, file.bytes_resumed) == (len(tiny), len(tiny), 0)
    assert file.sha256 == hub.sha256("owner/name", "tiny-Q8_0.gguf")
    assert hub.sent == len(tiny)  # what the look fetched isn't fetched again
    assert done.looked.header_bytes == 2_000_000
    assert watching.progress[-1][:2] == (len(tiny), len(tiny))
    assert "it wasn't loaded" in watching.notes[0]
    assert fetched_file(HubRef("owner/name"), settings) == done.fetched.path


async def test_the_hubs_own_library_finds_it_where_it_would_have_put_it(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"sub/tiny-Q8_0.gguf": tiny}))
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path)
        before = hub.sent
        cache = tmp_path / "cache"
        fetch = huggingface_hub.hf_hub_download
        again = await asyncio.to_thread(
            lambda: fetch("owner/name", "sub/tiny-Q8_0.gguf", endpoint=hub.url, cache_dir=cache, token=False)
        )
    assert done.fetched
    assert again == done.fetched.path
    assert hub.sent == before
    assert huggingface_hub.try_to_load_from_cache("owner/name", "sub/tiny-Q8_0.gguf", cache_dir=cache) == again
    report = huggingface_hub.scan_cache_dir(cache)
    (repo,) = report.repos
    assert (repo.repo_id, repo.size_on_disk, len(report.warnings)) == ("owner/name", len(tiny), 0)
    tag = hub.sha256("owner/name", "sub/tiny-Q8_0.gguf")
    assert files_in(cache) == [
        f".locks/models--owner--name/{tag}.lock",
        f"models--owner--name/blobs/{tag}",
        "models--owner--name/refs/main",
        f"models--owner--name/snapshots/{COMMIT}/sub/tiny-Q8_0.gguf",
    ]


async def test_what_the_hubs_library_fetched_is_not_fetched_again(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"tiny.gguf": tiny}))
    async with hub.open():
        fetch = huggingface_hub.hf_hub_download
        cache = tmp_path / "cache"
        path = await asyncio.to_thread(
            lambda: fetch("owner/name", "tiny.gguf", endpoint=hub.url, cache_dir=cache, token=False)
        )
        before = hub.sent
        done = await pulled(hub, "owner/name", tmp_path)
    assert done.fetched
    assert done.fetched.path == path
    assert (done.fetched.all[0].bytes_fetched, done.looked.header_bytes, hub.sent) == (0, 0, before)


async def test_a_folder_of_ones_own_takes_its_place(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"a-Q8_0.gguf": tiny}))
    own = tmp_path / "models"
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, models__dir=str(own))
        again = await pulled(hub, "owner/name", tmp_path, models__dir=str(own))
        settings = hub_settings(hub, tmp_path, models__dir=str(own))
    assert done.fetched
    assert again.fetched
    assert done.fetched.path == again.fetched.path == str(own / "owner" / "name" / COMMIT / "a-Q8_0.gguf")
    assert again.fetched.all[0].bytes_fetched == 0
    assert fetched_file(HubRef("owner/name"), settings) == done.fetched.path
    assert not (tmp_path / "cache").exists()


async def test_files_are_kept_by_repository_and_revision(tiny: bytes, tmp_path: Path) -> None:
    other = tiny + b"more"
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}), owner__other=Repo({"m.gguf": other}))
    async with hub.open():
        await pulled(hub, "owner/name@refs/pr/1", tmp_path)
        await pulled(hub, "owner/other", tmp_path)
        settings = hub_settings(hub, tmp_path)
        hub.repos["owner/name"] = Repo({"m.gguf": other}, commit="f" * 40)
        await pulled(hub, "owner/name", tmp_path)
    found = {}
    for name in ("owner/name", "owner/name@refs/pr/1", "owner/other", f"owner/name@{COMMIT}"):
        found[name] = content_of(fetched_file(HubRef.parse(name), settings)) == tiny
    assert found == {
        "owner/name": False,
        "owner/name@refs/pr/1": True,
        "owner/other": False,
        f"owner/name@{COMMIT}": True,
    }


async def test_a_dry_run_leaves_nothing_behind(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny + bytes(9_000_000)}))
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path, wishes=Wishes(dry_run=True))
    assert (done.verdict, done.fetched, hub.sent) == ("yes", None, 2_000_000)
    assert files_in(tmp_path) == []


async def test_a_model_in_parts_is_taken_whole_with_its_projector(tiny: bytes, tmp_path: Path) -> None:
    parts = {f"m-Q4_K_M-0000{number}-of-00003.gguf": tiny[:5000] if number > 1 else tiny for number in (1, 2, 3)}
    beside = {"mmproj-BF16.gguf": b"p" * 100, "mmproj-F16.gguf": b"q" * 200, "m.imatrix.gguf": b"i"}
    hub = PlayedHub(owner__name=Repo({**parts, **beside}))
    async with hub.open():
        done = await pulled(hub, "owner/name/m-Q4_K_M-00002-of-00003.gguf", tmp_path)
    assert done.fetched
    assert [file.name for file in done.fetched.files] == sorted(parts)
    assert done.fetched.path.endswith("m-Q4_K_M-00001-of-00003.gguf")
    assert done.fetched.projector
    assert done.fetched.projector.name == "mmproj-F16.gguf"
    folder = Path(done.fetched.path).parent
    assert {path.name for path in folder.iterdir()} == {*parts, "mmproj-F16.gguf"}


async def test_a_small_file_that_git_keeps_is_verified_as_git_does(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}, plain=True))
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path)
    assert done.fetched
    assert done.verdict == "yes"


# Can it call tools?


def with_template(tiny_gguf: Path, tmp_path: Path, default: str, **variants: str) -> bytes:
    return with_templates(tiny_gguf, tmp_path / "edited.gguf", default, **variants).read_bytes()


HARD_CASES = {
    # name: default template, variants, the hub's hint, by the header
    "tools and calls": (TOOLS, {}, "likely", "yes"),
    "tools without calls": (HALF, {}, "likely", "no"),
    "tools in the variant only": (STUB, {"tool_use": TOOLS}, "perhaps", "yes"),
    "no tools at all": (PLAIN, {}, "perhaps", "no"),
}


@pytest.mark.parametrize("case", HARD_CASES)
async def test_the_header_decides_and_the_summary_is_a_hint(case: str, tiny_gguf: Path, tmp_path: Path) -> None:
    default, variants, hint, verdict = HARD_CASES[case]
    content = with_template(tiny_gguf, tmp_path, default, **variants)
    hub = PlayedHub(owner__name=Repo({"m.gguf": content}, gguf={"chat_template": default}))
    watching = Watching()
    async with hub.open():
        if verdict == "yes":
            done = await pulled(hub, "owner/name", tmp_path / "home", watching=watching)
            assert done.fetched
        else:
            with pytest.raises(ModelRejected, match="can't call tools") as caught:
                await pulled(hub, "owner/name", tmp_path / "home", watching=watching)
            assert "--allow-no-tools" in str(caught.value.hint)
            assert files_in(tmp_path / "home") == []
    assert watching.seen
    assert (watching.seen.hint.word, watching.seen.verdict) == (hint, verdict)


@pytest.mark.parametrize("case", HARD_CASES)
async def test_without_ranges_the_hint_never_rejects_but_the_header_does(
    case: str, tiny_gguf: Path, tmp_path: Path
) -> None:
    default, variants, hint, verdict = HARD_CASES[case]
    content = with_template(tiny_gguf, tmp_path, default, **variants)
    hub = PlayedHub(owner__name=Repo({"m.gguf": content}, gguf={"chat_template": default}))
    hub.ranges = False
    watching = Watching()
    async with hub.open():
        settings = hub_settings(hub, tmp_path / "home")
        if verdict == "yes":
            done = await pulled(hub, "owner/name", tmp_path / "home", watching=watching)
            assert done.verdict == "yes"
        else:
            with pytest.raises(ModelRejected, match="can't call tools") as caught:
                await pulled(hub, "owner/name", tmp_path / "home", watching=watching)
            assert "--allow-no-tools" in str(caught.value.hint)
            assert Quarantine(settings).entries() == []
    assert watching.seen
    assert watching.seen.finding is None
    assert watching.seen.verdict == hint


async def test_a_model_without_tools_comes_if_that_is_allowed(tiny_gguf: Path, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": with_template(tiny_gguf, tmp_path, PLAIN)}))
    async with hub.open():
        done = await pulled(hub, "owner/name", tmp_path / "home", wishes=Wishes(allow_no_tools=True))
    assert done.fetched
    assert done.verified
    assert done.verified.finding.capabilities.tools is Answer.NO


# What isn't a model


@pytest.mark.parametrize("content", [b"<!DOCTYPE html><html>Sign in</html>" * 100, b"", b"GGUF", b"\0" * 5000])
async def test_what_is_no_model_is_seen_before_it_is_fetched(content: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": content}))
    async with hub.open():
        with pytest.raises(HeaderError):
            await pulled(hub, "owner/name", tmp_path)
    assert files_in(tmp_path) == []


async def test_without_ranges_what_is_no_model_goes_to_quarantine(tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": b"<html>" * 1_000_000}))
    hub.ranges = False
    async with hub.open():
        settings = hub_settings(hub, tmp_path)
        with pytest.raises(HeaderError) as caught:
            await pulled(hub, "owner/name", tmp_path)
    (entry,) = Quarantine(settings).entries()
    assert entry.kind == "HeaderError"
    assert entry.id in str(caught.value.hint)


async def test_a_full_disk_is_seen_before_anything_moves(tiny: bytes, tmp_path: Path) -> None:
    file = tmp_path / "sparse.gguf"
    with file.open("wb") as opened:
        opened.write(tiny)
        opened.truncate(1 << 43)
    hub = PlayedHub(owner__name=Repo({"m.gguf": file}))
    hub.hashes[id(file)] = "a" * 64
    async with hub.open():
        with pytest.raises(NoSpace, match="too little room"):
            await pulled(hub, "owner/name", tmp_path / "home")
    assert hub.sent == 2_000_000
