from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.registry import as_moment, moment_of
from callgate.registry.records import record_of


def test_a_time_is_written_as_people_and_programs_read_it() -> None:
    assert moment_of(1_794_720_896.9) == "2026-11-15T05:34:56Z"


@given(st.integers(0, 4_000_000_000))
def test_a_time_that_was_written_is_read_again(at: int) -> None:
    assert as_moment(moment_of(at)) == at


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2026-11-15T05:34:56+00:00", 1_794_720_896),
        ("2026-11-15T06:34:56+01:00", 1_794_720_896),
        ("2026-11-15T05:34:56", 1_794_720_896),
        ("2026-11-15", 1_794_700_800),
        ("yesterday", None),
        ("", None),
        (None, None),
        ("9999-99-99T00:00:00Z", None),
    ],
)
def test_other_ways_to_write_a_time(written: str | None, at: float | None) -> None:
    assert as_moment(written) == at


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ('{"native": 0.5, "emulated": 1}', {"native": 0.5, "emulated": 1.0}),
        ('{"native": 2, "off": true, "emulated": "1"}', {}),
        ("[0.5]", {}),
        ("null", {}),
    ],
)
def test_rates_that_are_none_are_not_there(written: str, read: dict[str, float]) -> None:
    record = record_of({"id": msgspec.Raw(b'"m"'), "validated_rates": msgspec.Raw(written.encode())})
    assert record
    assert record.validated_rates == read
