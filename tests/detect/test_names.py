from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect.name_parts import split_name
from callgate.detect.names import (
    KnownFamily,
    NamePattern,
    default_evidence,
    family_of,
    known_names,
    name_evidence,
)
from callgate.vocabulary import Answer, Evidence, Source

KNOWN = known_names()
PATTERNS = {
    "families": KNOWN.families,
    "vision": KNOWN.vision,
    "thinking": KNOWN.thinking,
    "embedding": KNOWN.embedding,
}


def said(name: str) -> dict[str, Evidence]:
    return {each.claim: each for each in name_evidence(name, 5.0)}


@pytest.mark.parametrize(("which", "pattern"), [(which, each) for which, all_ in PATTERNS.items() for each in all_])
def test_each_pattern_is_the_first_to_fit_its_own_example(which: str, pattern: NamePattern) -> None:
    parts = split_name(pattern.example)
    assert next(each for each in PATTERNS[which] if each.fits(parts)) is pattern


def test_marks_of_reliability_are_few() -> None:
    assert {each.reliability for each in KNOWN.families} == {None, "steady", "fair", "unsteady"}


@pytest.mark.parametrize("family", [each for each in KNOWN.families if each.reliability is None])
def test_only_those_that_call_tools_are_called_reliable(family: KnownFamily) -> None:
    assert family.tools != Answer.YES


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("qwen3:8b", "qwen3"),
        ("library/qwen3", "qwen3"),
        ("Qwen3-4B-Instruct-2507-GGUF", "qwen3"),
        ("qwen3-coder:30b", "qwen3-coder"),
        ("qwen3.5:9b", "qwen3.5"),
        ("hf.co/bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M", "qwen2.5"),
        ("qwen2.5vl:7b", "qwen2.5vl"),
        ("Qwen2.5-VL-7B-Instruct", "qwen2.5vl"),
        ("Meta-Llama-3.1-8B-Instruct", "llama3.1"),
        ("Hermes-3-Llama-3.1-8B", "hermes"),
        ("DeepSeek-R1-Distill-Llama-8B", "deepseek-r1"),
        ("phi-4-mini-instruct", "phi4-mini"),
        ("custom-model:latest", "unknown"),
        ("notqwen3x", "unknown"),
        ("qwen3x:8b", "unknown"),
        ("qwen3.9:8b", "unknown"),
        ("qwen3/something", "unknown"),
        ("", "unknown"),
    ],
)
def test_families(name: str, family: str) -> None:
    assert family_of(name) == family


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("qwen3:8b", Answer.YES),
        ("llama3.2:3b", Answer.YES),
        ("mistral:7b", Answer.YES),
        ("mistral:7b-instruct-v0.2-q4_0", Answer.NO),
        ("mixtral:8x22b", Answer.YES),
        ("mixtral:8x7b", Answer.NO),
        ("command-r", Answer.YES),
        ("firefunction-v2", Answer.YES),
        ("nemotron", Answer.YES),
        ("deepseek-coder:6.7b", Answer.NO),
        ("deepscaler", Answer.NO),
        ("llama2:7b", Answer.NO),
        ("codellama:7b", Answer.NO),
        ("tinyllama", Answer.NO),
        ("llama3:8b", Answer.NO),
        ("deepseek-r1:7b", Answer.UNKNOWN),
        ("DeepSeek-R1-0528-Qwen3-8B", Answer.YES),
    ],
)
def test_tools_by_name(name: str, answer: Answer) -> None:
    found = said(name)["tools"]
    assert (found.answer, found.source, found.at) == (answer, Source.NAME, 5.0)


def test_a_name_that_says_nothing_says_nothing() -> None:
    assert said("custom-model:latest") == {}


def test_the_mark_of_reliability_comes_with_its_reason() -> None:
    assert said("llama3.2:3b")["reliability"].answer == "steady"
    assert "answers in text" in said("mistral:7b")["reliability"].detail


@pytest.mark.parametrize(
    ("name", "able"),
    [
        ("llava:7b", True),
        ("bakllava", True),
        ("moondream", True),
        ("llama3.2-vision:11b", True),
        ("Qwen3-VL-8B", True),
        ("gemma3:4b", True),
        ("gemma3", True),
        ("gemma3:1b", False),
        ("gemma-3-270m-it", False),
        ("qwen3:8b", False),
        ("television-model", False),
    ],
)
def test_pictures_by_name(name: str, able: bool) -> None:
    assert ("supports_vision" in said(name)) is able


@pytest.mark.parametrize(
    ("name", "embeds"),
    [
        ("nomic-embed-text:latest", True),
        ("mxbai-embed-large", True),
        ("all-minilm:33m", True),
        ("snowflake-arctic-embed2", True),
        ("hf.co/BAAI/bge-m3", True),
        ("text-embedding-3-small", True),
        ("Qwen3-Embedding-0.6B", True),
        ("hf.co/bge/foo", False),
        ("nomic-ai/gpt4all-j", False),
        ("economic-llm", False),
        ("qwen3:8b", False),
    ],
)
def test_only_the_model_part_of_a_name_makes_an_embedding_model(name: str, embeds: bool) -> None:
    assert ("is_embedding" in said(name)) is embeds
    context = next(each for each in default_evidence(name, 5.0) if each.claim == "context_length")
    assert (context.answer, context.source) == (512 if embeds else 4096, Source.DEFAULT)


def test_the_default_context_follows_what_is_known_better_than_the_name() -> None:
    assert next(default_evidence("custom", 0, is_embedding=True)).answer == 512
    assert next(default_evidence("bge-m3", 0, is_embedding=False)).answer == 4096


def test_an_unknown_family_is_said_to_be_unknown() -> None:
    assert [each.answer for each in default_evidence("custom-model:latest", 0) if each.claim == "family"] == ["unknown"]
    assert [each for each in default_evidence("qwen3:8b", 0) if each.claim == "family"] == []


def test_size_and_quantisation_are_passed_on() -> None:
    found = said("llama3.1:8b-instruct-q4_K_M")
    assert (found["parameter_size"].answer, found["quantization"].answer) == ("8B", "Q4_K_M")


@given(st.text(max_size=100))
def test_any_name_gets_an_answer(name: str) -> None:
    assert all(each.source is Source.NAME and each.detail.isprintable() for each in name_evidence(name, 0))
    assert family_of(name) in {each.name for each in KNOWN.families} | {"unknown"}


@given(st.sampled_from(KNOWN.families), st.sampled_from(["x", "9", "z9"]))
def test_a_family_isnt_found_within_a_longer_word(family: KnownFamily, letters: str) -> None:
    stem = family.stem.rstrip("*")
    assert not family.fits(split_name(f"{letters}{stem}"))
    if not family.stem.endswith("*"):
        assert not NamePattern(family.stem, "").fits(split_name(f"{stem}{letters}"))
