from __future__ import annotations

from collections.abc import Sequence

import pytest

from callgate.hub.choosing import Choice, choose, does_not_fit
from callgate.hub.records import HubFile, Repository
from callgate.runtime import Candidate
from callgate.vocabulary import HubRef, NotFound, UsageError


def repository(**sizes: int) -> Repository:
    files = tuple(HubFile(name.replace("__", "-") + ".gguf", size) for name, size in sizes.items())
    return Repository(id="o/n", revision="main", commit="c", files=files)


def chosen(files: Repository, ref: str, answer: int | None = None) -> Choice:
    def ask(several: Sequence[Candidate]) -> Candidate | None:
        return None if answer is None else several[answer]

    return choose(files, HubRef.parse(ref), ask)


def test_what_is_clear_is_chosen_without_asking() -> None:
    files = repository(m__Q4_K_M=5, m__Q8_0=9)
    assert (chosen(files, "o/n").candidate.name, chosen(files, "o/n").size) == ("m-Q4_K_M.gguf", 5)
    assert chosen(files, "o/n:q8_0").candidate.name == "m-Q8_0.gguf"
    assert chosen(files, "o/n/m-Q8_0.gguf").candidate.name == "m-Q8_0.gguf"


def test_what_is_not_clear_is_asked_and_not_guessed() -> None:
    files = repository(m__f16=5, m__bf16=9)
    assert chosen(files, "o/n", answer=1).candidate.name == "m-f16.gguf"
    with pytest.raises(UsageError, match=r"m-bf16\.gguf, m-f16\.gguf") as caught:
        chosen(files, "o/n")
    assert caught.value.hint == "name one: callgate pull o/n/m-bf16.gguf"


@pytest.mark.parametrize(
    ("files", "ref", "said"),
    [
        (repository(m__Q4_0=1), "o/n:Q2_K", "no GGUF file of quantisation 'Q2_K'"),
        (repository(m__Q4_0=1), "o/n/m-Q4_1.gguf", "no file 'm-Q4_1.gguf'"),
        (repository(m__00001__of__00002=1), "o/n", "1 of its parts aren't in"),
        (repository(), "o/n", "has no GGUF files"),
    ],
)
def test_what_is_not_there_is_not_found(files: Repository, ref: str, said: str) -> None:
    with pytest.raises(NotFound, match=said) as caught:
        chosen(files, ref)
    assert caught.value.hint


def test_a_projector_comes_with_a_model_and_is_none() -> None:
    files = repository(m__Q4_0=5, mmproj__f16=2)
    choice = chosen(files, "o/n")
    assert [file.name for file in choice.files] == ["m-Q4_0.gguf", "mmproj-f16.gguf"]
    assert ([file.name for file in choice.model_files], choice.size) == (["m-Q4_0.gguf"], 5)
    assert choice.total_size == 7
    with pytest.raises(UsageError, match="goes with a model, and is none"):
        chosen(files, "o/n/mmproj-f16.gguf")


def test_whoever_chose_too_much_is_told_what_would_fit() -> None:
    files = repository(m__Q8_0=8 * 10**9, m__Q4_K_M=4 * 10**9, m__Q2_K=2 * 10**9)
    assert does_not_fit(files, 10 * 10**9, 5 * 10**9) == (
        "it takes about 10.0 GB of memory, and 5.0 GB are free; Q4_K_M would fit"
    )
    assert does_not_fit(files, 10 * 10**9, 10**9) == "it takes about 10.0 GB of memory, and 1.0 GB are free"
