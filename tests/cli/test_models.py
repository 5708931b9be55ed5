from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.command import Done, callgate, environ
from tests.detect.gguf.writer import Gguf
from tests.runtime.played import (
    EMBEDDING,
    NOBODY,
    PLAIN,
    TOOLS,
    WITH_TOOLS,
    WITHOUT,
    PlayedOllama,
    hangs,
    in_thread,
    model,
    talks_garbage,
)

FIELDS = [
    "ref",
    "backend",
    "endpoint",
    "tools",
    "guess",
    "native_route",
    "mode",
    "vision",
    "context_length",
    "size",
    "quant",
    "source",
]
SEES = model("completion", "vision", context=32768)


@pytest.fixture
def ollama() -> Iterator[str]:
    played = PlayedOllama(
        plain=WITHOUT,
        embedder=EMBEDDING,
        seer=SEES,
        able=WITH_TOOLS,
        long=model("completion", "tools", template=TOOLS, context=131072),
    )
    with in_thread(*played.routes) as url:
        yield url


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    told = {"general.architecture": "llama", "llama.context_length": 77, "tokenizer.chat_template": PLAIN}
    (tmp_path / "some.gguf").write_bytes(Gguf(told).to_bytes())
    return tmp_path


def models(*words: str, ollama: str = NOBODY, folder: Path | None = None, **more: str) -> Done:
    """Whatever else listens on this machine: what is tested is what these tests have made."""
    elsewhere = {
        "OLLAMA_HOST": ollama,
        "OLLAMA_MODELS": "/nowhere",
        "CALLGATE_DISCOVERY_TIMEOUT": "10",
        **({"CALLGATE_MODELS_DIR": str(folder)} if folder else {}),
    }
    return callgate("models", *words, given=b"", **{**elsewhere, **more})


def ours(done: Done) -> list[str]:
    """The names of the models in its JSON that are the tests'."""
    listed = [shown["ref"] for shown in done.objects if not shown["ref"].startswith("http")]
    return [Path(ref).name if ref.startswith("file:") else ref.removeprefix("ollama:") for ref in listed]


def test_help_has_examples() -> None:
    done = callgate("models", "--help")
    assert (done.status, done.err) == (0, "")
    assert "callgate models --best --tools" in done.out
    assert "exit status:" in done.out


def test_the_model_in_the_box_is_always_there_and_says_what_it_is_for() -> None:
    done = models()
    assert done.status == 0
    heading, *_, tiny = done.out.splitlines()
    assert heading.split() == ["TOOLS", "MODE", "MODEL", "ALSO", "CONTEXT", "SIZE", "DISK", "WHERE"]
    assert tiny.split()[:3] == ["yes", "native", "tiny"]
    assert "11.6 MB" in tiny
    assert "for demonstrations and tests" in tiny


def test_each_model_is_an_object_with_these_fields(ollama: str, folder: Path) -> None:
    done = models("--json", ollama=ollama, folder=folder)
    assert (done.status, done.err) == (0, "")
    shown = {entry["ref"]: entry for entry in done.objects}
    assert all(list(entry) == FIELDS for entry in shown.values())
    able = shown["ollama:able:latest"]
    assert (able["tools"], able["native_route"], able["mode"], able["source"]) == ("yes", "yes", "native", "template")
    assert (able["backend"], able["endpoint"], able["context_length"]) == ("ollama", ollama, 8192)
    assert (able["quant"], able["guess"]) == ("Q4_K_M", False)
    assert shown["ollama:seer:latest"]["vision"] == "yes"
    assert shown["ollama:embedder:latest"]["mode"] == "off"
    assert shown[f"file:{folder}/some.gguf"]["tools"] == "no"
    assert ours(done)[-2:] == ["some.gguf", "tiny"]


def test_the_table_shows_what_a_model_can_do_and_where_it_is(ollama: str, folder: Path) -> None:
    done = models(ollama=ollama, folder=folder, HOME=str(folder.parent))
    rows = {line.split()[2]: line for line in done.out.splitlines()}
    assert rows["seer:latest"].split()[3:] == ["vision", "32,768", "8B", "Q4_K_M", "Ollama"]
    assert rows["embedder:latest"].startswith("no")
    assert f"models folder, ~/{folder.name}/some.gguf" in rows["some.gguf"]


@pytest.mark.parametrize(
    ("words", "names"),
    [
        (["--tools"], ["able:latest", "long:latest", "tiny"]),
        (["--vision"], ["seer:latest"]),
        (["--min-context", "32_768"], ["seer:latest", "long:latest"]),
        (["--tools", "--min-context", "100000"], ["long:latest"]),
        (["--tools", "--vision"], []),
    ],
)
def test_only_models_that_surely_can_are_left(ollama: str, words: list[str], names: list[str]) -> None:
    done = models("--json", *words, ollama=ollama)
    assert (done.status, ours(done)) == (0, names)


@pytest.mark.parametrize(
    ("by", "names"),
    [
        ("name", ["able", "embedder", "long", "plain", "seer"]),
        ("context", ["long", "seer", "plain", "able", "embedder"]),
        ("tools", ["able", "long", "plain", "embedder", "seer"]),
        ("backend", ["plain", "embedder", "seer", "able", "long"]),
        ("size", ["plain", "embedder", "seer", "able", "long"]),
    ],
)
def test_models_are_sorted_and_the_one_in_the_box_stays_last(ollama: str, by: str, names: list[str]) -> None:
    expected = [f"{name}:latest" for name in names]
    assert ours(models("--json", "--sort", by, ollama=ollama)) == [*expected, "tiny"]
    assert ours(models("--json", "--sort", by, "--reverse", ollama=ollama)) == [*expected[::-1], "tiny"]


def test_the_best_is_printed_alone(ollama: str) -> None:
    def best(*words: str) -> Done:
        return models("--best", *words, ollama=ollama)

    assert best() == (0, "ollama:able:latest\n", "")
    assert best("--vision").out == "ollama:seer:latest\n"
    assert best("--tools", "--min-context", "10000").out == "ollama:long:latest\n"
    assert best("--json").objects[0]["ref"] == "ollama:able:latest"


def test_a_server_without_models_has_no_best() -> None:
    with in_thread(*PlayedOllama().routes) as url:
        assert models("--best", "--endpoint", f"ollama+{url}").status == 1


def test_where_none_is_good_enough_the_status_is_one() -> None:
    done = models("--best", "--min-context", "99999999999")
    assert (done.status, done.out) == (1, "")
    assert "no model in reach" in done.err


def test_servers_that_fail_are_notes_and_no_failure() -> None:
    done = models("--json", CALLGATE_DISCOVERY_ENDPOINTS=f"lab={NOBODY}")
    assert done.status == 0
    assert f"note: nobody listens at {NOBODY}" in done.err
    assert ours(done) == ["tiny"]


def test_an_endpoint_that_was_named_is_all_that_is_asked(ollama: str, folder: Path) -> None:
    done = models("--json", "--endpoint", f"ollama+{ollama}", folder=folder)
    assert done.status == 0
    assert [entry["ref"].partition("#")[2] for entry in done.objects][:2] == ["plain:latest", "embedder:latest"]
    assert len(done.objects) == 5


def test_an_endpoint_that_was_named_and_is_down_is_four() -> None:
    done = models("--json", "--endpoint", NOBODY)
    assert (done.status, done.out) == (4, "")
    assert "nobody listens" in done.err
    assert models("--best", "--endpoint", NOBODY).status == 4


@pytest.mark.parametrize(("fault", "status"), [(hangs, 4), (talks_garbage, 1)])
def test_an_endpoint_that_gives_no_list_is_a_failure(fault: object, status: int) -> None:
    played = PlayedOllama()
    played.fault = fault  # type: ignore[assignment]
    with in_thread(*played.routes) as url:
        assert models("--endpoint", url, CALLGATE_DISCOVERY_TIMEOUT="0.3").status == status


@pytest.mark.parametrize(
    "words", [["--sort", "luck"], ["--min-context", "-1"], ["--min-context", "many"], ["--endpoint", "ftp://x"], ["x"]]
)
def test_wrong_usage_is_two(words: list[str]) -> None:
    done = models(*words)
    assert (done.status, done.out) == (2, "")
    assert "Traceback" not in done.err


def test_a_file_that_is_no_model_is_a_row_and_a_note(folder: Path) -> None:
    (folder / "bad\x1b[31m.gguf").write_bytes(b"hello")
    done = models(folder=folder)
    assert done.status == 0
    assert any(line.startswith("error") and "bad" in line for line in done.out.splitlines())
    assert "note: " in done.err
    assert "\x1b" not in done.out + done.err


def test_nothing_heavy_is_imported_where_no_server_answers() -> None:
    program = (
        "import sys, callgate.cli\n"
        "from callgate.runtime import places\n"
        "places._KNOWN = {}\n"
        "callgate.cli.main(['models', '--json'])\n"
        "print([name for name in ('aiohttp', 'asyncio', 'jinja2', 'minijinja', 'ssl') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=60, check=True, env=environ())
    assert done.stdout.splitlines()[-1] == b"[]"
