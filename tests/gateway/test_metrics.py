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


def test_each_rule_is_counted_by_itself() -> None:
    seen, all_ = Metrics(), Metrics()
    seen.repairs.add("m", "malformed-json: single-quotes, trailing-comma")
    seen.repairs.add("m", "malformed-json: trailing-comma")
    seen.repairs.add("m", "name-case")
    all_.add(seen.snapshot())
    lines = [line for line in all_.written().decode().splitlines() if line.startswith("callgate_repairs_total{")]
    assert lines == [
        'callgate_repairs_total{model="m",rule="malformed-json: single-quotes"} 1',
        'callgate_repairs_total{model="m",rule="malformed-json: trailing-comma"} 2',
        'callgate_repairs_total{model="m",rule="name-case"} 1',
    ]


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


def test_counts_of_several_workers_add_up() -> None:
    one, other, total = Metrics(), Metrics(), Metrics()
    for seen, times in ((one, 3), (other, 1_234_567)):
        seen.tokens.add("m", "prompt", by=times)
        seen.first_token.observe(0.3, "m")
        seen.under_way.add(by=2)
        seen.endpoint_up.set("http://a", "m", to=seen is one)
    total.add(one.snapshot())
    total.add(other.snapshot())
    written = total.written().decode()
    assert 'callgate_tokens_total{model="m",kind="prompt"} 1234570\n' in written
    assert 'callgate_first_token_seconds_bucket{model="m",le="0.5"} 2\n' in written
    assert 'callgate_first_token_seconds_sum{model="m"} 0.600000\n' in written
    assert "callgate_requests_in_flight 4\n" in written
    assert 'callgate_endpoint_up{endpoint="http://a",model="m"} 0\n' in written


def test_of_a_worker_that_has_ended_only_what_lasts_is_kept() -> None:
    gone, total = Metrics(), Metrics()
    gone.tokens.add("m", "prompt", by=3)
    gone.under_way.add(by=2)
    gone.endpoint_busy.set("http://a", "m", to=2)
    total.add(gone.snapshot(), is_over=True)
    written = total.written().decode()
    assert 'callgate_tokens_total{model="m",kind="prompt"} 3\n' in written
    assert "callgate_requests_in_flight 2" not in written
    assert "http://a" not in written


@given(st.lists(st.tuples(st.text(), st.text(), st.floats(min_value=0, max_value=1e6)), max_size=20))
def test_whatever_is_counted_survives_the_way_to_another_worker(seen: list[tuple[str, str, float]]) -> None:
    one, total = Metrics(), Metrics()
    for model, rule, seconds in seen:
        one.repairs.add(model, rule)
        one.first_token.observe(seconds, model)
    total.add(one.snapshot())
    assert sorted(total.written().splitlines()) == sorted(one.written().splitlines())
