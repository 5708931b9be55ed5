"""Whatever a hub sends, it is understood or refused in our words."""

from __future__ import annotations

from typing import Any

import pytest
from huggingface_hub import ModelInfo
from hypothesis import given
from hypothesis import strategies as st

from callgate.hub.answers import expected_of, read_repository, read_summary
from callgate.hub.records import HubFile
from callgate.hub.refusals import Asked, refusal
from callgate.hub.retrying import asked_to_wait
from callgate.runtime import stays_inside
from callgate.vocabulary import BadAnswer, CallgateError, HubRef
from tests.vocabulary.strategies import json_values

ASKED = Asked(repo="o/n", page="https://hub/o/n")
HEADERS = st.dictionaries(
    st.sampled_from(["X-Error-Code", "x-error-message", "Retry-After", "RateLimit", "ETag"]),
    st.text(max_size=40) | st.sampled_from(["GatedRepo", "RepoNotFound", "EntryNotFound", "RevisionNotFound"]),
)


def told(**more: Any) -> ModelInfo:
    return ModelInfo(**{"id": "o/n", "sha": "c0ffee", "siblings": [], **more})  # type: ignore[no-untyped-call]


@given(
    st.lists(
        st.fixed_dictionaries(
            {"rfilename": st.text(max_size=30)},
            optional={
                "size": json_values,
                "blobId": json_values,
                "lfs": st.fixed_dictionaries({"size": json_values, "sha256": json_values, "pointerSize": json_values}),
            },
        ),
        max_size=5,
    ),
    json_values,
    json_values,
)
def test_a_repository_has_only_files_that_stay_in_it(siblings: list[Any], gated: Any, private: Any) -> None:
    repository = read_repository(told(siblings=siblings, gated=gated, private=private), HubRef("o/n"))
    assert repository.left_out + len(repository.files) == len(siblings)
    for file in repository.files:
        assert stays_inside(file.name)
        assert file.size is None or file.size >= 0
        assert file.sha256 is None or len(file.sha256) == 64
    assert repository.gated in (None, "auto", "manual")


@pytest.mark.parametrize("sha", [None, "", "../x", "a" * 100, 5, ["c0ffee"]])
def test_a_repository_without_a_commit_is_refused(sha: object) -> None:
    with pytest.raises(BadAnswer):
        read_repository(told(sha=sha), HubRef("o/n"))


@pytest.mark.parametrize("name", [5, None, ["m.gguf"], {}])
def test_a_file_without_a_name_is_refused(name: object) -> None:
    with pytest.raises(BadAnswer):
        read_repository(told(siblings=[{"rfilename": "m.gguf"}, {"rfilename": name}]), HubRef("o/n"))


@pytest.mark.parametrize("size", ["9" * 5000, str(1 << 50)])
def test_a_file_larger_than_any_is_refused(size: str) -> None:
    with pytest.raises(BadAnswer, match="larger than any file"):
        expected_of(HubFile("m.gguf"), '"abc"', size, None)


@given(json_values)
def test_any_summary_can_be_read(summary: Any) -> None:
    found = read_summary(summary)
    assert found is None or isinstance(found.chat_template, str | None)


@given(st.none() | st.text(max_size=50), st.none() | st.text(max_size=20), st.none() | st.integers(0, 100))
def test_what_a_file_is_called_can_be_a_files_name(tag: str | None, linked: str | None, size: int | None) -> None:
    try:
        expected, name = expected_of(HubFile("m.gguf", 7), tag, linked, size)
    except BadAnswer:
        return
    assert expected.size == 7
    assert name
    assert not {"/", "\\", "\0"} & set(name)
    assert not name.startswith(".")


@pytest.mark.parametrize(
    ("tag", "file", "algorithm", "name"),
    [
        ('"' + "a" * 64 + '"', HubFile("m", 7), "sha256", "a" * 64),
        ('W/"' + "a" * 64 + '"', HubFile("m", 7), "sha256", "a" * 64),
        ('"' + "b" * 40 + '"', HubFile("m", 7, None, "b" * 40), "git", "b" * 40),
        ('"' + "b" * 40 + '"', HubFile("m", 7, None, "c" * 40), None, "b" * 40),
        ('"abc-1"', HubFile("m", 7, "a" * 64), "sha256", "abc-1"),
        ('"abc-1"', HubFile("m", 7), None, "abc-1"),
        (None, HubFile("m", 7, "a" * 64), "sha256", "a" * 64),
    ],
)
def test_the_hash_is_found_wherever_the_hub_put_it(
    tag: str | None, file: HubFile, algorithm: str | None, name: str
) -> None:
    expected, called = expected_of(file, tag, "7", None)
    assert (expected.algorithm, called) == (algorithm, name)


@given(st.integers(100, 599), HEADERS, st.booleans(), st.none() | st.just("m.gguf"))
def test_every_refusal_has_a_name_and_says_nothing_that_a_terminal_obeys(
    status: int, headers: dict[str, str], with_token: bool, file: str | None
) -> None:
    error = refusal(status, headers, Asked(repo="o/n", page="p", with_token=with_token, file=file))
    assert isinstance(error, CallgateError)
    assert error.message.isprintable()


@given(HEADERS)
def test_a_wait_is_a_number_of_seconds_or_nothing(headers: dict[str, str]) -> None:
    wait = asked_to_wait(headers)
    assert wait is None or wait >= 0


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        ({"Retry-After": "17"}, 17.0),
        ({"retry-after": "0"}, 0.0),
        ({"RateLimit": '"api";r=0;t=55'}, 55.0),
        ({"RateLimit": '"api";r=3;t=55'}, None),
        ({"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"Retry-After": "-5"}, None),
        ({}, None),
    ],
)
def test_a_hub_says_how_long_to_wait_in_several_ways(headers: dict[str, str], wait: float | None) -> None:
    assert asked_to_wait(headers) == wait
