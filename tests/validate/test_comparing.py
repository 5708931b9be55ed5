"""Two runs are compared pair by pair, and nothing is called significant that isn't."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate.comparing import FEWEST, compare, short_digest
from callgate.validate.records import Trial
from callgate.validate.statistics import mcnemar
from tests.validate.made_runs import outcomes, run, trial

PATTERNS = st.text("pfu", max_size=20)


def test_trials_are_paired_and_split() -> None:
    found = compare([run(outcomes("pppfff"))], [run(outcomes("ppfpff"))])
    (overall,) = found.overall
    assert (overall.pairs, overall.before, overall.after) == (6, 3, 3)
    assert (overall.better, overall.worse, overall.p) == (1, 1, 1.0)
    assert overall.verdict == "same"
    assert found.unpaired == (0, 0)
    assert found.significant == ()


def test_a_clear_change_is_significant_and_says_in_which_direction() -> None:
    up = compare([run(outcomes("ffffffff"))], [run(outcomes("pppppppp"))])
    assert [(paired.case, paired.verdict) for paired in up.significant] == [(None, "better"), ("one-call", "better")]
    down = compare([run(outcomes("pppppppp"))], [run(outcomes("ffffffff"))])
    assert down.overall[0].verdict == "worse"
    assert down.overall[0].p == mcnemar(8, 0) < 0.05
    assert any("significantly worse" in sentence for sentence in down.sentences())


def test_five_pairs_are_too_few_for_any_claim() -> None:
    found = compare([run(outcomes("fffff"))], [run(outcomes("ppppp"))])
    assert found.overall[0].p == 0.0625
    assert not found.significant
    assert any("takes 6 trials, and there are 5" in note for note in found.notes)
    assert compare([run(outcomes("f" * FEWEST))], [run(outcomes("p" * FEWEST))]).significant


def test_what_is_significant_alone_may_not_be_among_many_cases() -> None:
    cases = [f"case-{number}" for number in range(10)]
    before = [one for case in cases for one in outcomes("ffffff" if case == "case-3" else "pppppp", case=case)]
    after = [one for case in cases for one in outcomes("pppppp", case=case)]
    found = compare([run(before)], [run(after)])
    changed = next(paired for paired in found.by_case if paired.case == "case-3")
    assert changed.p < 0.05 < changed.adjusted
    assert not changed.significant
    assert any("10 comparisons by case, none of them significant" in sentence for sentence in found.sentences())


def test_cases_of_a_public_suite_are_compared_as_a_group() -> None:
    def answered(pattern: str) -> list[Trial]:
        return [trial(letter == "p", case=f"bfcl/simple/{number}") for number, letter in enumerate(pattern)]

    found = compare([run(answered("ffffffff"))], [run(answered("pppppppp"))])
    assert [(paired.case, paired.pairs, paired.verdict) for paired in found.by_case] == [("bfcl/simple", 8, "better")]


def test_models_and_modes_are_kept_apart() -> None:
    before = [run(outcomes("pp", mode="native") + outcomes("ff", mode="emulated")), run(outcomes("p", model="other"))]
    found = compare(before, before)
    assert [(paired.model, paired.mode, paired.pairs) for paired in found.overall] == [
        ("tiny", "native", 2),
        ("tiny", "emulated", 2),
        ("other", "native", 1),
    ]


def test_two_runs_without_anything_in_common_are_not_compared() -> None:
    found = compare([run(outcomes("pp", case="this"))], [run(outcomes("ppp", case="that"))])
    assert found.overall == found.by_case == ()
    assert found.unpaired == (2, 3)
    assert next(iter(found.sentences())).startswith("Nothing can be compared")
    assert compare([], []).pairs == 0


def test_one_model_against_another_is_compared_and_said_so() -> None:
    found = compare([run(outcomes("ffffffff", model="old"))], [run(outcomes("pppppppp", model="new"))])
    assert [(paired.model, paired.verdict) for paired in found.overall] == [("new", "better")]
    assert "'old' before, 'new' after" in found.notes[0]


def test_what_one_side_could_not_judge_is_no_pair() -> None:
    found = compare([run(outcomes("pup"))], [run(outcomes("upp"))])
    assert found.pairs == 1
    assert found.unpaired == (2, 2)


@pytest.mark.parametrize(
    ("changed", "word"),
    [({"digest": "sha256:def"}, "another file"), ({"seed": 7}, "seed"), ({"suite": "full"}, "suite")],
)
def test_what_makes_runs_unlike_is_said(changed: dict[str, object], word: str) -> None:
    found = compare([run(outcomes("p"))], [run(outcomes("p"), **changed)])
    assert [note for note in found.notes if word in note]


def test_copies_of_one_answer_are_not_taken_for_many() -> None:
    same = [trial(trial=number, got="always this") for number in range(4)]
    assert any("same answer again" in note for note in compare([run(same)], [run(same)]).notes)
    assert not compare([run(outcomes("pppppp"))], [run(outcomes("pppppp"))]).notes


@given(PATTERNS, PATTERNS)
def test_counts_always_add_up_and_json_takes_them(before: str, after: str) -> None:
    found = compare([run(outcomes(before))], [run(outcomes(after))])
    both = [(old, new) for old, new in zip(before, after, strict=False) if "u" not in (old, new)]
    assert found.pairs == len(both)
    for paired in (*found.overall, *found.by_case):
        assert paired.after - paired.before == paired.better - paired.worse
        assert 0 <= paired.p <= paired.adjusted <= 1
    assert json.loads(json.dumps(found.as_json()))["pairs"] == len(both)
    assert list(found.sentences())


def test_digests_are_short_and_still_tell_two_files_apart() -> None:
    assert short_digest("sampled-sha256:" + "0123456789abcdef" * 4) == "sampled-sha256:0123456789ab"
    assert short_digest("0123456789abcdef" * 4) == "0123456789ab"
