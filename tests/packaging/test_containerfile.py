"""The Containerfile names what is there. Building it needs a container engine, which not everybody has."""

from __future__ import annotations

import json
import re
from pathlib import Path

from callgate.gateway import PORT
from callgate.settings import load_settings

ROOT = Path(__file__).parents[2]
FILE = re.sub(r"\\\n", " ", (ROOT / "Containerfile").read_text("utf-8"))


def said(word: str) -> list[str]:
    return re.findall(rf"^ *{word} +(.*)$", FILE, re.MULTILINE)


def test_what_it_copies_is_there_and_not_ignored() -> None:
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = {source.rstrip("/") for words in said("COPY") if "--from" not in words for source in words.split()[:-1]}
    assert copied == kept
    assert all((ROOT / name).exists() for name in copied)


def test_what_it_installs_is_pinned() -> None:
    (names,) = re.findall(r'WITH="(.*)"', "\n".join(said("ARG")))
    assert all((ROOT / "requirements" / f"{name}.txt").is_file() for name in (*names.split(), "build"))
    assert all(
        "--require-hashes" in words or "--no-index" in words for words in re.findall(r"pip .*?install[^&]*", FILE)
    )


def test_it_runs_as_nobody_in_particular_and_is_looked_after() -> None:
    (user,) = said("USER")
    assert user == "10001:10001"
    (check,) = said("HEALTHCHECK")
    assert f"127.0.0.1:{PORT}/health" in check
    assert said("EXPOSE") == [str(PORT)]
    (entry,), (command,) = said("ENTRYPOINT"), said("CMD")[-1:]
    assert [*json.loads(entry), *json.loads(command)] == ["callgate", "serve", "--host", "0.0.0.0"]


def test_its_settings_are_settings() -> None:
    (_, words) = said("ENV")
    environ = dict(re.findall(r"(CALLGATE_\w+)=(\S+)", words))
    settings = load_settings(environ=environ)
    assert (settings.storage.home, settings.models.dir) == ("/var/lib/callgate", "/models")
    assert {json.loads(volumes)[0] for volumes in said("VOLUME")} == {"/var/lib/callgate"}
