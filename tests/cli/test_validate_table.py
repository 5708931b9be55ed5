"""The table fits any screen, leads with what passed in all, and obeys nobody's control characters."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.chat import width_of
from callgate.cli.screen import NARROW, Screen
from callgate.cli.validate_table import show_table
from callgate.validate import Run
from tests.validate.made_runs import outcomes, run


def shown(runs: list[Run], width: int = 120) -> list[str]:
    stream = io.StringIO()
    screen = Screen(stream)
    screen.width = width
    show_table(screen, runs)
    return stream.getvalue().splitlines()


def many(models: int) -> list[Run]:
    return [
        run(
            [
                one
                for mode in ("native", "recovered", "emulated")
                for case in ("one-call", "a-case-with-a-very-long-name-that-nobody-would-type")
                for one in outcomes("ppfp", mode=mode, case=case, model=f"some-models/with-a-long-name-{number}")
            ]
        )
        for number in range(models)
    ]


def test_what_passed_in_all_comes_first_with_how_sure_that_is() -> None:
    _, first, *rest = shown([run([*outcomes("ppppf"), *outcomes("u", case="choice-required")])])
    assert first == "tiny   native  80%     4 of 5; truly 38% to 96%; 1 not supported"
    assert "one-call          80% 4/5" in rest
    assert "choice-required  n/s" in rest
    assert any(line.startswith("n/s: not supported") for line in rest)


def test_a_rate_is_never_rounded_to_all_or_nothing() -> None:
    assert " 99%" in shown([run(outcomes("p" * 999 + "f"))])[1]
    assert "  1%" in shown([run(outcomes("f" * 999 + "p"))])[1]


def test_a_case_stands_only_where_it_was_tried() -> None:
    lines = shown([run(outcomes("p", mode="native") + outcomes("p", mode="off", case="plain-text"))], width=NARROW)
    assert sum("plain-text" in line for line in lines) == 1


def test_models_are_named_where_there_are_several() -> None:
    assert not any("some-models" in line for line in shown(many(1))[5:])
    assert any(line.count("some-models") > 1 for line in shown(many(2))[7:])


@pytest.mark.parametrize("width", [NARROW, 80, 120])
def test_no_line_is_wider_than_the_screen_and_no_column_is_lost(width: int) -> None:
    lines = shown(many(4), width)
    assert max(map(width_of, lines)) <= width
    assert sum(line.count("3/4") for line in lines if "one-call" in line) == 12
    assert sum(line.count("6/8") for line in lines) == 12
    assert sum("6 of 8" in line for line in lines) == 12


@given(st.text(min_size=1), st.text(min_size=1), st.integers(NARROW, 200))
def test_any_names_are_shown_harmlessly(model: str, case: str, width: int) -> None:
    for line in shown([run(outcomes("pf", model=model, case=case))], width):
        assert line.isprintable()


def test_models_of_one_server_are_told_apart_by_the_ends_of_their_names() -> None:
    names = [f"http://127.0.0.1:18099/v1#model-{letter}" for letter in "ab"]
    lines = "\n".join(shown([run(outcomes("pf", model=name), model=name) for name in names]))
    assert "….0.1:18099/v1#model-a" in lines
    assert "….0.1:18099/v1#model-b" in lines


def test_restraint_is_told_apart_from_calling() -> None:
    trials = [*outcomes("ffff"), *outcomes("pp", case="small-talk", check="noToolCall")]
    assert "0% where it had to act, 100% where it must not call" in "\n".join(shown([run(trials)], width=160))
    assert "had to act" not in "\n".join(shown([run(outcomes("pf"))], width=160))
