from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.hub_choice import Candidate, candidates_in, narrowed, projector_in, stays_inside


def chosen(files: list[str], quant: str | None = None) -> list[str]:
    return [candidate.name for candidate in narrowed(candidates_in(files), quant)]


@pytest.mark.parametrize(
    ("files", "quant", "name"),
    [
        (["m-Q2_K.gguf", "m-Q4_K_M.gguf", "m-Q8_0.gguf"], None, "m-Q4_K_M.gguf"),
        (["m-q2_k.gguf", "m-q5_k_m.gguf", "m-q4_0.gguf"], None, "m-q5_k_m.gguf"),
        (["m-Q8_0.gguf", "m-f16.gguf"], None, "m-Q8_0.gguf"),
        (["m-Q3_K_M.gguf", "m-Q6_K.gguf", "m-Q2_K.gguf"], None, "m-Q6_K.gguf"),
        (["m-bf16.gguf"], None, "m-bf16.gguf"),
        (["m-IQ4_XS.gguf", "m-Q4_K_S.gguf"], "q4_k_s", "m-Q4_K_S.gguf"),
        (["m-UD-Q4_K_XL.gguf"], "Q4_K_XL", "m-UD-Q4_K_XL.gguf"),
        (["m-UD-Q4_K_M.gguf", "m-Q4_K_M.gguf"], None, "m-Q4_K_M.gguf"),
        (["m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf"], None, "m-Q8_0-00001-of-00002.gguf"),
        (["mmproj-model-Q8_0.gguf", "m-f16.gguf", "m.imatrix.gguf"], None, "m-f16.gguf"),
        (["Q4_K_M/m-00001-of-00003.gguf", "BF16/m-00001-of-00009.gguf"], "Q4_K_M", "Q4_K_M/m-00001-of-00003.gguf"),
        (["m-Q4_K_M-00001-of-00002.gguf", "m-Q8_0.gguf"], None, "m-Q8_0.gguf"),
    ],
)
def test_the_file_that_people_mostly_take_is_chosen(files: list[str], quant: str | None, name: str) -> None:
    assert chosen(files, quant) == [name]


@pytest.mark.parametrize(
    ("files", "quant"),
    [
        (["m-Q4_K_S.gguf"], "Q4_K"),
        (["m-Q8_0-00002-of-00002.gguf"], None),
        (["mmproj-f16.gguf"], None),
        (["README.md", "m.safetensors"], None),
        ([], None),
    ],
)
def test_what_is_not_there_is_not_chosen(files: list[str], quant: str | None) -> None:
    assert chosen(files, quant) == []


@pytest.mark.parametrize(
    "files", [["m-bf16.gguf", "m-f16.gguf"], ["a-3b-Q4_K_M.gguf", "a-7b-Q4_K_M.gguf"], ["a.gguf", "b.gguf"]]
)
def test_what_is_not_clear_is_not_guessed(files: list[str]) -> None:
    assert chosen(files) == files


def test_shards_are_one_model_and_tell_what_is_missing() -> None:
    files = [f"q/m-Q4_K_M-{number:05}-of-00003.gguf" for number in (3, 1)]
    assert candidates_in(files) == [Candidate((files[1], files[0]), "Q4_K_M", 1)]


@pytest.mark.parametrize(
    ("files", "projector"),
    [
        (["m.gguf", "mmproj-BF16.gguf", "mmproj-F32.gguf", "mmproj-F16.gguf"], "mmproj-F16.gguf"),
        (["m.gguf", "m-mmproj-q8_0.gguf", "mmproj-f32.gguf"], "m-mmproj-q8_0.gguf"),
        (["m.gguf", "mmproj.gguf"], "mmproj.gguf"),
        (["m.gguf"], None),
    ],
)
def test_the_projector_is_recognised(files: list[str], projector: str | None) -> None:
    assert projector_in(files) == projector


NAMES = st.lists(
    st.from_regex(r"([a-z]{0,3}/)?[a-z]{0,2}(-(Q4_K_M|f16|mmproj))?(-0000[0-4]-of-0000[0-3])?\.gguf", fullmatch=True)
    | st.text(max_size=20)
)


@given(NAMES, st.none() | st.sampled_from(["Q4_K_M", "f16", "x"]))
def test_whatever_a_repository_has_each_file_is_in_one_model_at_most(names: list[str], quant: str | None) -> None:
    found = candidates_in(names)
    files = [file for candidate in found for file in candidate.files]
    assert len(files) == len(set(files))
    assert set(files) <= set(names)
    assert all(candidate.missing >= 0 for candidate in found)
    assert set(narrowed(found, quant)) <= set(found)


@given(st.text(max_size=600))
def test_a_name_that_stays_inside_has_no_way_out(name: str) -> None:
    if stays_inside(name):
        assert not name.startswith("/")
        assert ".." not in name.split("/")
        assert "\0" not in name
        assert len(name) <= 512
