"""The model that comes with callgate has seen none of the tools and wordings that the suite tries it with."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from callgate.validate import KnownCase, own_cases
from callgate.validate.filling import Filled, combinations, filled

TRAINED_ON = Path(__file__).parents[2] / "models" / "tiny" / "domains_train.txt"


@cache
def lines() -> tuple[str, ...]:
    if not TRAINED_ON.exists():
        pytest.skip("what the model was trained on isn't in this checkout")
    return tuple(TRAINED_ON.read_text("utf-8").splitlines())


def trained_names() -> set[str]:
    return {name for line in lines() if line.startswith("t ") for name in line.split()[1:]}


@cache
def trained_wordings() -> frozenset[str]:
    """With `*` for every value; with all optional parts, and with none."""
    requests = [line[2:] for line in lines() if line.startswith("r ")]
    some = [wording for each in requests for wording in (re.sub(r"\[.*?\]", "", each), re.sub(r"[\[\]]", "", each))]
    return frozenset(plain(re.sub(r"\{[^}]*\}", "*", each)) for each in some)


def plain(wording: str) -> str:
    return " ".join(re.findall(r"\w+|\*", wording.lower().removeprefix("please ")))


def wording_of(case: Filled) -> str:
    """With `*` for every value that has to be in the call."""
    wording = case.question
    given = [value for call in case.expect.calls or () for value in values_in(call.arguments)]
    for value in sorted(map(str, given), key=len, reverse=True):
        wording = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", "*", wording)
    return plain(wording)


def values_in(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return [each for inner in value.values() for each in values_in(inner)]
    if isinstance(value, list):
        return [each for inner in value for each in values_in(inner)]
    return [value]


@pytest.mark.parametrize("known", own_cases(), ids=lambda known: known.case.name)
def test_neither_a_tool_nor_a_wording_of_a_case_is_in_the_training_data(known: KnownCase) -> None:
    assert not trained_names() & {tool.name for tool in known.tools}
    if known.case.expect.calls:  # else it is about no tool, and said everywhere: Hello!
        wordings = {wording_of(filled(known.case, trial)) for trial in range(combinations(known.case))}
        assert not wordings & trained_wordings()


def test_what_is_in_the_training_data_would_be_found() -> None:
    assert "get_weather" in trained_names()
    assert {plain("What's the weather in *?"), plain("Please tell me the weather in *.")} <= trained_wordings()
