from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.listing import moment_in

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    "told",
    ["2026-03-04T12:00:00Z", "2026-03-04T14:00:00.000000123+02:00", int(NOON), NOON, "2026-03-04T12:00:00+00:00"],
)
def test_a_time_is_read_however_a_server_writes_it(told: object) -> None:
    assert moment_in(told) == NOON


@pytest.mark.parametrize(
    "told",
    [None, 0, -1, True, 1e300, float("nan"), float("inf"), 10**400, "", "yesterday", "0001-01-01T00:00:00Z", {}, []],
)
def test_a_time_that_cannot_be_right_is_none(told: object) -> None:
    assert moment_in(told) is None


@given(
    st.one_of(
        st.text(max_size=80),
        st.datetimes().map(datetime.isoformat),
        st.datetimes(timezones=st.timezones()).map(datetime.isoformat),
        st.floats(),
        st.integers(),
    )
)
def test_whatever_is_told_can_be_written_as_a_date(told: object) -> None:
    moment = moment_in(told)
    assert moment is None or datetime.fromtimestamp(moment, UTC).year >= 1970
