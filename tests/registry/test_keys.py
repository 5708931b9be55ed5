from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.registry.keys import id_of, key_of, key_of_id
from callgate.vocabulary import ModelRef

_names = st.from_regex(r"[A-Za-z0-9][A-Za-z0-9._-]{0,20}(:[A-Za-z0-9._-]{1,10})?", fullmatch=True)
refs = st.one_of(
    st.builds(ModelRef, st.just("ollama"), _names),
    st.builds(
        ModelRef, st.just("ollama"), _names, st.sampled_from(["http://lab:1234", "https://lab/x", "http://[::1]:1"])
    ),
    st.builds(ModelRef, st.just("openai"), _names, st.sampled_from(["http://lab/v1", "https://u:p@lab/v1"])),
    st.builds(ModelRef, st.just("file"), st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1)),
)


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("llama3.2", "ollama:llama3.2:latest"),
        ("qwen3:8b", "ollama:QWEN3:8B"),
        ("library/qwen3:8b", "registry.ollama.ai/library/qwen3:8b"),
        ("ollama+http://lab:80#qwen3", "ollama+http://lab#qwen3:latest"),
        ("http://lab:8080#big", "http://lab:8080/v1#big"),
        ("http://me:secret@lab:8080/v1#big", "http://lab:8080/v1#big"),
        ("file:some.gguf", "./some.gguf"),
    ],
)
def test_two_spellings_of_one_model_are_the_same(one: str, another: str) -> None:
    assert key_of(ModelRef.parse(one)) == key_of(ModelRef.parse(another))


@pytest.mark.parametrize(
    ("one", "another"),
    [
        ("qwen3:8b", "qwen3:4b"),
        ("qwen3:8b", "ollama+http://lab#qwen3:8b"),
        ("http://lab/v1#big", "http://lab/v1#Big"),
        ("tiny", "ollama:tiny"),
        ("tiny", "tiny-plain"),
    ],
)
def test_two_models_are_two(one: str, another: str) -> None:
    assert key_of(ModelRef.parse(one)) != key_of(ModelRef.parse(another))


@given(refs)
def test_an_id_leads_back_to_its_model(ref: ModelRef) -> None:
    assert key_of_id(id_of(ref)) == key_of(ref)


def test_no_password_is_in_an_id() -> None:
    assert "secret" not in id_of(ModelRef.parse("http://me:secret@lab:8080/v1#big"))
    assert "secret" not in id_of(ModelRef.parse("https://lab/m.gguf?token=secret"))


def test_a_bare_name_is_ollamas_whatever_lies_about(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "llama3").touch()
    monkeypatch.chdir(tmp_path)
    assert key_of_id("llama3") == "ollama:llama3:latest"
    assert key_of_id("m.gguf") == f"file:{tmp_path}{os.sep}m.gguf"


@given(st.text())
def test_any_text_is_some_models_or_nobodys(text: str) -> None:
    key = key_of_id(text)
    assert key is None or key


def test_what_names_no_model_has_no_key() -> None:
    assert key_of_id("") is None
    assert key_of_id("hf:nonsense") is None
    assert key_of_id("x" * 5000) is None
