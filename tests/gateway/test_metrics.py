from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway import metrics
from callgate.gateway.metrics import Counter, Histogram, Metrics

LINE = re.compile(r'[a-z_]+(\{[a-z]+="(?:[^"\\\n]|\\["\\n])*"(?:,[a-z]+="(?:[^"\\\n]|\\["\\n])*")*\})? -?[0-9.e+]+')


@given(st.text(), st.text(), st.floats(min_value=0, max_value=1e6))
def test_whatever_a_model_is_called_the_lines_stay_lines(model: str, rule: str, seconds: float) -> None:
    seen = Metrics()
    seen.repairs.add(model, rule)
    seen.first_token.observe(seconds, model)
    written = seen.written().decode()
    for line in written.removesuffix("\n").split("\n"):
        assert line.startswith("# ") or LINE.fullmatch(line), line


def test_a_histogram_counts_from_the_shortest_up() -> None:
    times = Histogram("seconds", "Some.", ("model",))
    for seconds in (0.01, 0.3, 1000):
        times.observe(seconds, "m")
    lines = list(times.lines())
    assert 'seconds_bucket{model="m",le="0.01"} 1' in lines
    assert 'seconds_bucket{model="m",le="0.5"} 2' in lines
    assert 'seconds_bucket{model="m",le="+Inf"} 3' in lines
    assert 'seconds_count{model="m"} 3' in lines


def test_there_are_only_so_many_series() -> None:
    counter = Counter("things", "Some.", ("name",))
    for number in range(metrics.MOST_SERIES + 5):
        counter.add(str(number))
    lines = list(counter.lines())
    assert len(lines) <= metrics.MOST_SERIES + 3
    assert 'things{name=""} 5' in lines
