from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate import Case, Expected, ExpectedCall, own_cases
from callgate.validate.filling import as_written, combinations, filled
from callgate.vocabulary import UsageError

CASE = Case(
    name="bell",
    check="toolCall",
    about="a bell",
    ask=("Ring {times} times, {who}.", "{who}: ring {times} times!"),
    values=({"times": 2}, {"times": 3}, {"times": 4}),
    secrets={"who": "word", "key": "number", "lock": "code"},
    system="The key is {key}.",
    expect=Expected(
        calls=(ExpectedCall(name="ring", arguments={"times": "{times}", "for": "{who}, {key}"}),), mentions=("{key}",)
    ),
)


def test_a_value_that_stands_alone_stays_what_it_is_and_others_become_text() -> None:
    case = filled(CASE, 0)
    key, who = case.values["key"], case.values["who"]
    assert case.expect.calls == (
        ExpectedCall(name="ring", arguments={"times": case.values["times"], "for": f"{who}, {key}"}),
    )
    assert isinstance(case.values["times"], int)
    assert case.expect.mentions == (str(key),)
    assert case.system == f"The key is {key}."


def test_all_combinations_come_before_one_comes_again() -> None:
    assert combinations(CASE) == 6
    asked = [(filled(CASE, trial).question.count(":"), filled(CASE, trial).values["times"]) for trial in range(12)]
    assert len(set(asked[:6])) == 6
    assert asked[6:] == asked[:6]


def test_secrets_are_other_ones_in_each_trial_and_for_each_seed() -> None:
    keys = [filled(CASE, trial, seed).values["key"] for trial in range(10) for seed in range(10)]
    assert len(set(keys)) > 95
    assert all(10_000 <= key < 100_000 for key in keys)


@given(trial=st.integers(0, 1000), seed=st.integers(-1000, 1000))
def test_the_same_trial_of_the_same_seed_is_the_same(trial: int, seed: int) -> None:
    assert filled(CASE, trial, seed) == filled(CASE, trial, seed)


def test_a_seed_means_the_same_everywhere() -> None:
    assert filled(CASE, 0, 7).question == "Ring 4 times, Nomizeb."


def test_a_value_that_is_not_there_is_named() -> None:
    with pytest.raises(UsageError, match=r"'\{nobody\}'"):
        filled(Case(name="x", check="y", about="", ask=("Hello {nobody}",), expect=Expected(calls=())), 0)


def test_words_of_others_are_left_as_they_are() -> None:
    case = Case(name="x", check="y", about="", ask=("What is {this}?",), expect=Expected(calls=()))
    assert as_written(case).question == "What is {this}?"


def test_trials_of_our_own_cases_differ() -> None:
    for known in own_cases():
        asked = [filled(known.case, trial) for trial in range(3)]
        assert len({str((case.question, case.history)) for case in asked}) == 3, known.case.name
