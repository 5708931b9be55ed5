"""The real command against a hub on loopback: what it says, what it refuses, and that what came can be run."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sys
from pathlib import Path

import pytest

from callgate.cli.pull_view import PullView, chosen_by
from callgate.hub import STALE_DAYS, leftovers
from callgate.runtime import Candidate
from tests.backends.gguf_edit import with_templates
from tests.cli.command import CALLGATE, environ
from tests.cli.pulling import NO_ENGINE, callgate, pull
from tests.hub.played_hub import TOKEN, PlayedHub, Repo
from tests.hub.test_unfinished import begun
from tests.hub.watching import content_of, files_in
from tests.runtime.played import PLAIN, TOOLS, settings


@pytest.fixture
def tiny(tiny_gguf: Path) -> bytes:
    return tiny_gguf.read_bytes()


# For people and for programs


async def test_json_has_all_that_a_program_wants_to_know(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"tiny-Q8_0.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, "--json", "owner/name")
    assert done.status == 0
    assert [line.partition(":")[0] for line in done.err.splitlines()] == ["note"]  # it wasn't loaded
    (told,) = done.objects
    assert {name: told[name] for name in ("repo", "revision", "file", "size", "sha256", "verdict")} == {
        "repo": "owner/name",
        "revision": hub.repos["owner/name"].commit,
        "file": "tiny-Q8_0.gguf",
        "size": len(tiny),
        "sha256": hashlib.sha256(tiny).hexdigest(),
        "verdict": "yes",
    }
    assert (told["header_bytes"], told["bytes_fetched"], told["bytes_resumed"]) == (2_000_000, len(tiny), 0)
    assert content_of(told["path"]) == tiny
    deciding = [piece for piece in told["evidence"] if piece["claim"] == "tools" and piece["decisive"]]
    assert [(piece["answer"], piece["source"]) for piece in deciding] == [("yes", "template")]


async def test_a_person_sees_the_verdict_first_and_the_path_last(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"tiny-Q8_0.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, f"{hub.url}/owner/name")
    assert done.status == 0
    lines = done.err.splitlines()
    assert "owner/name at main" in lines[0]
    for label in ("file", "tools      yes", "context    4,096 tokens", "memory", "looked at", "verified"):
        assert any(line.startswith(label) for line in lines), label
    assert done.out.strip().endswith("tiny-Q8_0.gguf")
    assert content_of(done.out.strip()) == tiny


async def test_a_dry_run_fetches_nothing(tiny: bytes, home: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, "--dry-run", "--json", "owner/name")
    (told,) = done.objects
    assert (done.status, told["verdict"], told["path"], told["bytes_fetched"]) == (0, "yes", None, 0)
    assert hub.sent == told["header_bytes"]
    assert files_in(home) == []


async def test_unfinished_downloads_are_told_of_and_go_in_the_end(tiny: bytes, tmp_path: Path) -> None:
    kept = settings(hub__cache=str(tmp_path))
    begun(kept, "young", days_ago=2)
    begun(kept, "old", days_ago=STALE_DAYS + 1)
    hub = PlayedHub(owner__other=Repo({"tiny-Q8_0.gguf": tiny}))
    async with hub.open():
        told = await callgate(hub, "models", HF_HUB_CACHE=str(tmp_path))
        assert "note: 2 unfinished downloads (owner/name, 4." in told.err
        await pull(hub, "--dry-run", "owner/other", HF_HUB_CACHE=str(tmp_path))
        assert len(leftovers(kept)) == 2
        done = await pull(hub, "owner/other", HF_HUB_CACHE=str(tmp_path))
    assert "note: a download that nobody had gone on with for 30 days went: 2." in done.err
    assert [Path(each.path).name for each in leftovers(kept)] == ["young.callgate.incomplete"]


async def test_all_models_of_a_repository_are_listed(tiny: bytes) -> None:
    shards = {f"big-Q8_0-0000{number}-of-00002.gguf": tiny for number in (1, 2)}
    hub = PlayedHub(owner__name=Repo({"m-Q4_K_M.gguf": tiny, **shards, "mmproj-f16.gguf": b"p", "x.bin": b""}))
    async with hub.open():
        shown = await pull(hub, "--list", "owner/name")
        told = await pull(hub, "--list", "--json", "owner/name")
    assert [line.split()[:4] for line in shown.out.splitlines()[:2]] == [
        ["QUANT", "SIZE", "FITS", "FILE"],
        ["Q8_0", "23.3", "MB", "yes"],
    ]
    assert "big-Q8_0-00001-of-00002.gguf (in 2 parts)" in shown.out
    assert "projector, mmproj-f16.gguf" in shown.out
    assert "mmproj-f16.gguf (a projector, for pictures)" in shown.out
    assert [(entry["quant"], entry["size"], entry["fits"], entry["kind"]) for entry in told.objects] == [
        ("Q8_0", 2 * len(tiny), True, "model"),
        ("Q4_K_M", len(tiny), True, "model"),
        (None, 1, None, "projector"),
    ]


@pytest.mark.parametrize(
    ("words", "status", "kind"),
    [
        (["owner/two"], 2, "UsageError"),
        (["owner/plain"], 3, "ModelRejected"),
        (["owner/gated"], 1, "NoToken"),
        (["owner/nmae"], 1, "NoSuchRepo"),
        (["owner/private"], 1, "NoSuchRepo"),
        (["owner/name:Q2_K"], 1, "NotFound"),
        (["nonsense"], 2, "UsageError"),
        (["owner/html"], 1, "HeaderError"),
        (["owner/lying"], 1, "WrongHash"),
    ],
)
async def test_each_failure_has_its_type_and_its_status(
    tiny: bytes, tiny_gguf: Path, tmp_path: Path, words: list[str], status: int, kind: str
) -> None:
    plain = with_templates(tiny_gguf, tmp_path / "plain.gguf", PLAIN).read_bytes()
    hub = PlayedHub(
        owner__name=Repo({"m.gguf": tiny}),
        owner__two=Repo({"a-f16.gguf": tiny, "b-bf16.gguf": tiny}),
        owner__plain=Repo({"m.gguf": plain}),
        owner__gated=Repo({"m.gguf": tiny}, gated="auto"),
        owner__private=Repo({"m.gguf": tiny}, private=True),
        owner__html=Repo({"m.gguf": b"<!DOCTYPE html>" * 100}),
        owner__lying=Repo({"m.gguf": tiny}, lies={"m.gguf": {"sha256": "a" * 64}}),
    )
    async with hub.open():
        done = await pull(hub, "--json", *words)
    assert done.status == status
    (told,) = done.objects
    assert told["error"]["type"] == kind
    assert told["error"]["hint"]
    assert TOKEN not in done.out + done.err


async def test_the_rest_is_done_if_one_fails(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, "--json", "owner/missing", "owner/name")
    assert (done.status, list(done.objects[0])) == (1, ["error"])
    assert done.objects[1]["verdict"] == "yes"


async def test_no_hub_is_status_4() -> None:
    hub = PlayedHub()
    hub.url = "http://127.0.0.1:1"
    done = await pull(hub, "--json", "owner/name")
    assert (done.status, done.objects[0]["error"]["type"]) == (4, "Unreachable")


async def test_offline_nobody_is_asked(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, "--json", "owner/name", HF_HUB_OFFLINE="1")
    assert (done.status, hub.requests) == (4, [])
    assert "HF_HUB_OFFLINE" in done.objects[0]["error"]["message"]


async def test_offline_a_model_that_is_here_is_told_of(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        (told,) = (await pull(hub, "--json", "owner/name")).objects
        done = await pull(hub, "--json", "owner/name", HF_HUB_OFFLINE="1")
    assert done.status == 4
    assert told["path"] in done.objects[0]["error"]["hint"]


async def test_sizes_are_of_the_file_and_of_all(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny, "MMPROJ-F16.GGUF": b"p" * 10}))
    async with hub.open():
        before = (await pull(hub, "--json", "--dry-run", "owner/name")).objects[0]
        after = (await pull(hub, "--json", "owner/name")).objects[0]
    for told in (before, after):
        assert (told["size"], told["total_size"]) == (len(tiny), len(tiny) + 10)
    assert (before["hash_checked"], after["hash_checked"]) == (False, True)


async def test_a_place_without_a_disk_is_not_a_full_one(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, "--json", "owner/name", HF_HUB_CACHE="/proc/nope")
    assert (done.status, done.objects[0]["error"]["type"]) == (1, "FetchFailed")


async def test_what_cannot_be_probed_here_is_status_3(tiny: bytes) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}))
    async with hub.open():
        done = await pull(hub, "--json", "--probe", "owner/name", CALLGATE_LLAMACPP_CONTEXT="100000000")
        listed = await callgate(hub, "quarantine", "list", "--json")
    assert (done.status, done.objects[0]["error"]["type"], listed.objects) == (3, "NotTested", [])


async def test_the_token_of_a_login_is_used_and_never_shown(tiny: bytes, home: Path) -> None:
    log_in(home / "hf")
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny}, gated="auto", private=True))
    async with hub.open():
        done = await pull(hub, "owner/name", HF_HOME=str(home / "hf"), HF_DEBUG="1")
    assert done.status == 0, done.err
    assert TOKEN not in done.out + done.err


def log_in(folder: Path) -> None:
    folder.mkdir()
    (folder / "token").write_text(TOKEN)


# The real engine


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
async def test_what_was_pulled_runs_calls_tools_and_is_listed(tiny: bytes, tmp_path: Path) -> None:
    hub = PlayedHub(owner__name=Repo({"tiny-Q8_0.gguf": tiny}))
    async with hub.open():
        done = await callgate(hub, "pull", "--probe", "--json", "owner/name")
        assert done.status == 0, done.err + done.out
        answer = await callgate(hub, "ask", "hf:owner/name", "Hello!")
        listed = await callgate(hub, "models", "--json")
    (told,) = done.objects
    sources = {piece["source"] for piece in told["evidence"] if piece["claim"] == "tools"}
    assert {"observed", "template", "engine"} <= sources
    assert answer.out.strip()
    (model,) = [entry for entry in listed.objects if entry["ref"] == f"file:{told['path']}"]
    assert (model["tools"], model["source"]) == ("yes", "observed")


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
async def test_the_engines_word_stands_beside_ours(tiny_gguf: Path, tmp_path: Path) -> None:
    both = with_templates(tiny_gguf, tmp_path / "m.gguf", PLAIN, tool_use=TOOLS).read_bytes()
    hub = PlayedHub(owner__name=Repo({"m.gguf": both}, gguf={"chat_template": PLAIN}))
    async with hub.open():
        done = await callgate(hub, "pull", "owner/name")
        told = (await callgate(hub, "pull", "--json", "owner/name")).objects[0]
    assert "llama.cpp  loads it; llama.cpp's chat_template_caps say tools=" in done.err
    answers = {piece["source"]: piece["answer"] for piece in told["evidence"] if piece["claim"] == "tools"}
    assert (answers["template"], told["verdict"], told["hint"]) == ("yes", "yes", "perhaps")
    assert answers["engine"] in ("yes", "no")


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
@pytest.mark.parametrize("own", [False, True])
async def test_a_model_that_does_not_load_goes_to_quarantine_and_may_return(
    tiny: bytes, tmp_path: Path, own: bool
) -> None:
    hub = PlayedHub(owner__name=Repo({"m.gguf": tiny[:8_000_000]}))
    more = {"CALLGATE_MODELS_DIR": str(tmp_path / "own")} if own else {}
    async with hub.open():
        done = await callgate(hub, "pull", "--json", "owner/name", **more)
        assert (done.status, done.objects[0]["error"]["type"]) == (1, "EngineFailed")
        (entry,) = (await callgate(hub, "quarantine", "list", "--json", **more)).objects
        assert (entry["repo"], entry["type"], entry["moved"]) == ("owner/name", "EngineFailed", own)
        assert is_there(entry["path"]) is not own
        refused = await callgate(hub, "ask", "hf:owner/name", "Hello!", **more)
        assert refused.status == 2
        assert "in quarantine" in refused.err
        shown = await callgate(hub, "quarantine", "list", **more)
        assert entry["id"] in shown.out
        restored = await callgate(hub, "quarantine", "restore", "--json", entry["id"][:5], **more)
        assert restored.objects[0]["restored"] is True
        assert is_there(entry["path"])
        again = await callgate(hub, "pull", "owner/name", **more)
        assert again.status == 1
        deleted = await callgate(hub, "quarantine", "delete", entry["id"], **more)
        assert "8.0 MB are free again" in deleted.out
        assert not is_there(entry["path"])


def is_there(path: str) -> bool:
    return os.path.lexists(path)


# In a terminal


@pytest.fixture
def big(tiny: bytes) -> bytes:
    return tiny + bytes(40_000_000 - len(tiny))


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
async def test_a_person_sees_progress_and_is_asked_to_choose(big: bytes) -> None:
    import pty

    hub = PlayedHub(owner__name=Repo({"a-f16.gguf": big, "b-bf16.gguf": big}))
    hub.slow = 0.001
    async with hub.open():
        leader, follower = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(*CALLGATE, "pull", "owner/name"),
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environ(HF_ENDPOINT=hub.url, TERM="xterm", **NO_ENGINE),
        )
        os.close(follower)
        os.write(leader, b"7\n2\n")
        written = await asyncio.to_thread(everything_from, leader)
        assert await asyncio.wait_for(process.wait(), 60) == 0
    assert written.count("which one?") == 2
    assert "MB/s" in written
    assert " left" in written
    assert "b-bf16.gguf" in written.splitlines()[-1]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
async def test_who_is_asked_may_interrupt(tiny: bytes) -> None:
    import pty
    import signal

    hub = PlayedHub(owner__name=Repo({"a-f16.gguf": tiny, "b-bf16.gguf": tiny}))
    async with hub.open():
        leader, follower = pty.openpty()
        process = await asyncio.create_subprocess_exec(
            *(*CALLGATE, "pull", "owner/name"),
            stdin=follower,
            stdout=follower,
            stderr=follower,
            env=environ(HF_ENDPOINT=hub.url, TERM="xterm", **NO_ENGINE),
        )
        os.close(follower)
        written = ""
        while "which one?" not in written:
            written += (await asyncio.to_thread(os.read, leader, 65536)).decode()
        process.send_signal(signal.SIGINT)
        rest = await asyncio.to_thread(everything_from, leader)
        assert await asyncio.wait_for(process.wait(), 60) == 130
    assert "Error" not in rest
    assert "Traceback" not in rest


MODELS = [Candidate(("a-f16.gguf",), "F16"), Candidate(("b-bf16.gguf",), "BF16"), Candidate(("c-bf16.gguf",), "BF16")]


@pytest.mark.parametrize(
    ("answer", "number"),
    [
        *(("1", 0), ("3", 2), ("b-bf16.gguf", 1), ("A-F16.gguf", 0), ("f16", 0)),
        *((wrong, None) for wrong in ("bf16", "²", "4", "0", "-1", "9" * 5000, "x")),
    ],
)
def test_a_model_is_chosen_by_number_or_name(answer: str, number: int | None) -> None:
    assert chosen_by(answer, MODELS) == (None if number is None else MODELS[number])


def test_where_no_line_can_change_there_is_one_now_and_then(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    view = PullView(quiet=False)
    for _ in range(25):
        now += 1
        view.fetching("m.gguf", int(now * 1e6), 10**9, int(now * 1e6))
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(",")[0] for line in lines] == [
        "fetching   m.gguf: 110.0 MB of 1.0 GB",
        "fetching   m.gguf: 120.0 MB of 1.0 GB",
    ]
    assert "1.0 MB/s, 14 min 50 s left" in lines[0]


def everything_from(leader: int) -> str:
    written = b""
    try:
        while piece := os.read(leader, 65536):
            written += piece
    except OSError:  # how a terminal says on Linux that nobody writes to it any more
        pass
    os.close(leader)
    return written.decode()
