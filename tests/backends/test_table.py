from __future__ import annotations

import importlib.metadata
from pathlib import Path

import pytest

from callgate.backends import backend_for, place_of
from callgate.settings import load_settings
from callgate.vocabulary import ModelRef, UsageError
from callgate.wire import HttpClient

MODULE = """
def make(ref, settings, http):
    return ("a backend of somebody else's", ref.name)
"""


def make(text: str) -> object:
    return backend_for(ModelRef.parse(text), load_settings(environ={}), HttpClient())


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("qwen3:8b", "OllamaBackend"),
        ("ollama+http://127.0.0.1:9#m", "OllamaBackend"),
        ("http://127.0.0.1:9/v1#m", "OpenAIBackend"),
        ("model.gguf", "LlamaCppBackend"),
        ("tiny", "LlamaCppBackend"),
        ("tiny-plain", "LlamaCppBackend"),
    ],
)
def test_the_scheme_says_who_runs_it(text: str, kind: str) -> None:
    assert type(make(text)).__name__ == kind


def test_another_package_adds_a_backend_by_an_entry_point(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "somebodys_backend.py").write_text(MODULE)
    about = tmp_path / "somebodys_backend-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: somebodys-backend\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[callgate.backends]\nelsewhere = somebodys_backend:make\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert make("elsewhere://host/m") == ("a backend of somebody else's", "host/m")


def test_entry_points_are_read_only_for_an_unknown_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_: str) -> None:
        pytest.fail("they were read")

    monkeypatch.setattr(importlib.metadata, "entry_points", fail)
    make("qwen3:8b")


@pytest.mark.parametrize(("text", "says"), [("elsewhere://m", "'elsewhere'"), ("hf:owner/name", "fetched")])
def test_what_nobody_runs_is_refused(text: str, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        make(text)


def test_models_of_one_server_and_all_local_files_share_a_backend() -> None:
    assert place_of(ModelRef.parse("a")) == place_of(ModelRef.parse("b"))
    assert place_of(ModelRef.parse("tiny")) == place_of(ModelRef.parse("x.gguf"))
    assert place_of(ModelRef.parse("http://a/v1#m")) != place_of(ModelRef.parse("http://b/v1#m"))
    assert place_of(ModelRef.parse("scripted:a")) != place_of(ModelRef.parse("scripted:b"))
