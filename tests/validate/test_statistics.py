"""Intervals, paired tests and quantiles agree with what the textbooks print."""

from __future__ import annotations

from math import comb

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate.statistics import Rate, holm, mcnemar, quantile, spread, wilson

COUNTS = st.integers(0, 60)


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"),
    [
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I
        (15, 148, 0.0624, 0.1605),
        (0, 20, 0.0, 0.1611),
        (1, 29, 0.0061, 0.1718),
        (20, 20, 0.8389, 1.0),
        (0, 0, 0.0, 1.0),
    ],
)
def test_wilson_intervals_are_the_published_ones(passed: int, of: int, low: float, high: float) -> None:
    assert wilson(passed, of) == pytest.approx((low, high), abs=5e-5)


@given(st.integers(1, 5000).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of))))
def test_a_wilson_interval_holds_its_rate_and_stays_within_0_and_1(counts: tuple[int, int]) -> None:
    low, high = wilson(*counts)
    assert 0 <= low <= counts[0] / counts[1] <= high <= 1
    assert high - low > 0


@pytest.mark.parametrize(("passed", "of"), [(2, 1), (-1, 5), (0, -1)])
def test_what_is_no_rate_has_no_interval(passed: int, of: int) -> None:
    with pytest.raises(ValueError, match="no rate"):
        wilson(passed, of)


@pytest.mark.parametrize(
    ("worse", "better", "p"),
    [
        (0, 0, 1.0),
        (5, 5, 1.0),
        (5, 6, 1.0),
        (0, 5, 0.0625),
        (6, 0, 0.03125),
        (1, 9, 0.021484375),
        (6, 16, 0.0524787902832),  # scipy.stats.binomtest(6, 22)
        (59, 6, 4.96465e-12),
        (400, 600, 2.7289e-10),
    ],
)
def test_mcnemar_gives_the_exact_binomial_p(worse: int, better: int, p: float) -> None:
    assert mcnemar(worse, better) == pytest.approx(p, rel=1e-3, abs=0)


@given(COUNTS, COUNTS)
def test_mcnemar_is_the_sum_of_both_tails_and_takes_no_side(worse: int, better: int) -> None:
    pairs = worse + better
    tail = sum(comb(pairs, taken) for taken in range(min(worse, better) + 1))
    assert mcnemar(worse, better) == min(1.0, 2 * tail / 2**pairs) == mcnemar(better, worse)


def test_mcnemar_takes_counts_that_no_float_could_hold() -> None:
    assert mcnemar(3000, 3000) == 1.0
    assert 0 <= mcnemar(2000, 4000) < 1e-100


def test_holm_multiplies_the_smallest_most_and_never_turns_the_order_round() -> None:
    assert holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005}) == pytest.approx(
        {"a": 0.03, "b": 0.06, "c": 0.06, "d": 0.02}
    )
    assert holm({"only": 0.04}) == {"only": 0.04}
    assert holm({}) == {}


@given(st.dictionaries(st.integers(), st.floats(0, 1), max_size=30))
def test_holm_only_makes_larger_and_keeps_to_1(p_values: dict[int, float]) -> None:
    adjusted = holm(p_values)
    assert list(adjusted) == list(p_values)
    assert all(p_values[name] <= adjusted[name] <= 1 for name in p_values)
    by_size = sorted(p_values, key=lambda name: p_values[name])
    assert [adjusted[name] for name in by_size] == sorted(adjusted.values())


def test_quantiles_lie_between_neighbours() -> None:
    assert [quantile([1.0, 2.0, 3.0, 4.0], share) for share in (0, 0.25, 0.5, 0.9, 1)] == pytest.approx(
        [1, 1.75, 2.5, 3.7, 4]
    )
    assert quantile([7.0], 0.3) == 7
    with pytest.raises(ValueError, match="no quantile"):
        quantile([], 0.5)


@given(st.lists(st.floats(0, 1e9), min_size=1, max_size=50))
def test_a_spread_is_in_order(values: list[float]) -> None:
    found = spread(values)
    assert found is not None
    assert found.of == len(values)
    assert (found.least, found.most) == (min(values), max(values))
    assert list(found[1:]) == pytest.approx(sorted(found[1:]))


def test_of_nothing_there_is_no_spread_and_no_rate() -> None:
    assert spread([]) is None
    assert Rate(0, 0).value is None
