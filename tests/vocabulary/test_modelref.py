from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.vocabulary import CallgateError, HubRef, ModelRef, UsageError

GRAMMAR = {
    "qwen3:8b": ModelRef("ollama", "qwen3:8b"),
    "ollama:qwen3:8b": ModelRef("ollama", "qwen3:8b"),
    "ollama:tiny": ModelRef("ollama", "tiny"),
    "hf.co/owner/name:Q4_K_M": ModelRef("ollama", "hf.co/owner/name:Q4_K_M"),
    "ollama+http://host:11434#qwen3:8b": ModelRef("ollama", "qwen3:8b", "http://host:11434"),
    "ollama+https://host/#m": ModelRef("ollama", "m", "https://host"),
    "file:a model.gguf": ModelRef("file", "a model.gguf"),
    "file:///models/x.gguf": ModelRef("file", "/models/x.gguf"),
    "model.gguf": ModelRef("file", "model.gguf"),
    "MODEL.GGUF": ModelRef("file", "MODEL.GGUF"),
    r"C:\models\x.gguf": ModelRef("file", r"C:\models\x.gguf"),
    "https://host/x.gguf": ModelRef("file", "https://host/x.gguf"),
    "https://host/x.gguf?download=true": ModelRef("file", "https://host/x.gguf?download=true"),
    "hf:owner/name": ModelRef("hf", "owner/name"),
    "hf:owner/name/sub/x.gguf:Q8_0@v1.0": ModelRef("hf", "owner/name/sub/x.gguf:Q8_0@v1.0"),
    "http://host:8080/v1#name": ModelRef("openai", "name", "http://host:8080/v1"),
    "https://host/v1": ModelRef("openai", "", "https://host/v1"),
    "http://host/v1#owner/name:tag": ModelRef("openai", "owner/name:tag", "http://host/v1"),
    "scripted:talk.jsonl": ModelRef("scripted", "talk.jsonl"),
    "tiny": ModelRef("tiny", "tiny"),
    "tiny-plain": ModelRef("tiny-plain", "tiny-plain"),
    "auto": ModelRef("auto", "auto"),
    "elsewhere://host/model#x": ModelRef("elsewhere", "host/model#x"),
}


@pytest.mark.parametrize("text", GRAMMAR)
def test_every_spelling_is_read_and_its_text_form_comes_back_to_it(text: str) -> None:
    ref = ModelRef.parse(text)
    assert ref == GRAMMAR[text]
    assert ModelRef.parse(str(ref)) == ref


def test_an_existing_path_is_a_file_whatever_it_is_called(tmp_path: Path) -> None:
    path = tmp_path / "weights"
    path.touch()
    assert ModelRef.parse(str(path)) == ModelRef("file", str(path))


@pytest.mark.parametrize(
    "text", ["", "  ", "ollama:", "file:", "hf:", "hf:name", "hf:a/b/c", "hf:../b", "ollama+http://host", "a\0b"]
)
def test_what_names_no_model_is_refused_with_the_next_step(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        ModelRef.parse(text)
    assert caught.value.hint


def test_the_parts_of_a_hub_ref_are_told_apart() -> None:
    assert ModelRef.parse("hf:Qwen/Qwen3-4B-GGUF:Q4_K_M@main").hub == HubRef(
        "Qwen/Qwen3-4B-GGUF", None, "Q4_K_M", "main"
    )
    assert HubRef.parse("a/b/c/d.gguf") == HubRef("a/b", "c/d.gguf")


@given(st.text(max_size=60))
def test_any_text_is_a_ref_that_round_trips_or_is_refused(text: str) -> None:
    try:
        ref = ModelRef.parse(text)
    except CallgateError:
        return
    assert ModelRef.parse(str(ref)) == ref


@given(
    scheme=st.sampled_from(["ollama:", "file:", "hf:", "scripted:", "http://", "ollama+http://", "x://", ""]),
    rest=st.text(alphabet="ab/:#@.?gguf ", max_size=30),
)
def test_any_spelling_of_the_grammar_round_trips_or_is_refused(scheme: str, rest: str) -> None:
    try:
        ref = ModelRef.parse(scheme + rest)
    except CallgateError:
        return
    assert ModelRef.parse(str(ref)) == ref
