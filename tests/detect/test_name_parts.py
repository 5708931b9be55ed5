from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect.name_parts import split_name


@pytest.mark.parametrize(
    ("name", "size", "billions"),
    [
        ("qwen3:8b", "8B", 8),
        ("llama3.1:70b-instruct-q4_K_M", "70B", 70),
        ("Qwen2.5-1.5B-Instruct", "1.5B", 1.5),
        ("smollm:135m", "135M", 0.135),
        ("mixtral:8x7b", "8x7B", 56),
        ("Qwen3-30B-A3B-Instruct-2507", "30B-A3B", 30),
        ("gemma3n:e4b", "E4B", 4),
        ("kimi-k2:1t", "1T", 1000),
        ("mistral-7b.Q4_K_M.gguf", "7B", 7),
        ("command-r7b", None, None),
        ("model-4bit", None, None),
        ("Qwen2.5-14B-Instruct-1M", "14B", 14),
        ("some-context-1m", None, None),
        ("custom-model:latest", None, None),
    ],
)
def test_sizes(name: str, size: str | None, billions: float | None) -> None:
    parts = split_name(name)
    assert (parts.size, parts.billions) == (size, billions)


@pytest.mark.parametrize(
    ("name", "quantization"),
    [
        ("llama3:8b-instruct-q4_K_M", "Q4_K_M"),
        ("Model-Q8_0.gguf", "Q8_0"),
        ("model:fp16", "F16"),
        ("model-BF16-00001-of-00002.gguf", "BF16"),
        ("model.IQ4_XS.gguf", "IQ4_XS"),
        ("Qwen3-4B-UD-Q4_K_XL.gguf", "UD-Q4_K_XL"),
        ("gpt-oss-20b-MXFP4", "MXFP4"),
        ("gemma4:e2b-nvfp4", "NVFP4"),
        ("hf.co/a/b-GGUF:Q6_K", "Q6_K"),
        ("mlx-community/model-4bit", "4bit"),
        ("owner/model@q4_k_m", "Q4_K_M"),
        ("q4", "Q4"),
        ("iq4_xsomething", None),
        ("custom-model:latest", None),
    ],
)
def test_quantisations(name: str, quantization: str | None) -> None:
    assert split_name(name).quantization == quantization


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("hf.co/bartowski/Qwen2.5-7B-Instruct-GGUF:Q4_K_M", "qwen2.5-instruct-gguf"),
        ("localhost:5000/me/llama3.2:3b", "llama3.2"),
        (r"C:\models\Meta-Llama-3.1-8B.Q4_K_M.gguf", "meta-llama3.1"),
        ("gemma-3-4b-it", "gemma3-it"),
        ("Mistral-Large-Instruct-2411", "mistral-large-instruct-2411"),
        ("command-r-08-2024", "command-r-08-2024"),
        ("GLM-4-9B-0414", "glm4-0414"),
        ("Phi_4_mini", "phi4-mini"),
        ("big-model-00001-of-00003.gguf", "big-model"),
    ],
)
def test_models_are_called_the_same_however_they_are_written(name: str, model: str) -> None:
    assert split_name(name).model == model


@pytest.mark.parametrize("name", ["8b" * 100_000, "-" * 300_000, "q4_" * 100_000, "1." * 100_000, "a" * 257])
@pytest.mark.timeout(10)
def test_a_name_that_is_too_long_has_no_parts(name: str) -> None:
    assert split_name(name).model == ""


@given(st.text(max_size=300) | st.from_regex(r"[a-z0-9:._/@-]{0,80}"))
def test_any_name_can_be_taken_apart(name: str) -> None:
    parts = split_name(name)
    assert "/" not in parts.model
    assert (parts.size is None) == (parts.billions is None)


@given(st.sampled_from(["0.6", "1.7", "4", "8", "32"]), st.sampled_from(["q4_0", "q5_k_s", "q8_0", "bf16", "iq3_xxs"]))
def test_size_and_quantisation_are_found_in_tags_and_in_file_names(size: str, quantization: str) -> None:
    for name in (f"model:{size}b-{quantization}", f"folder/model-{size}B-{quantization.upper()}.gguf"):
        parts = split_name(name)
        assert (parts.model, parts.size, parts.quantization) == ("model", f"{size}B", quantization.upper())
