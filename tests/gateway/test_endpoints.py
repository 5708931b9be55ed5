from __future__ import annotations

import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway import endpoints as module
from callgate.gateway.endpoints import Endpoint, Endpoints, Lease
from callgate.vocabulary import BadStatus, CallgateError, CannotChat, ModelRef, StreamCut, Unreachable, UsageError

REFS = [ModelRef("openai", "m", f"http://{host}/v1") for host in ("a", "b", "c")]
GONE = Unreachable("nobody listens")
BUSY = BadStatus("too much to do", status=429)


def hosts(*leases: Lease) -> str:
    return "".join((lease.endpoint.ref.endpoint or "")[7] for lease in leases)


def test_the_least_busy_is_asked_and_of_those_alike_the_one_that_waited_longest() -> None:
    known = Endpoints()
    leases = [known.lease(REFS) for _ in range(6)]
    assert hosts(*leases) == "abcabc"
    leases[1].end()
    leases[4].end()
    assert hosts(known.lease(REFS), known.lease(REFS), known.lease(REFS)) == "bba"


def test_what_other_models_ask_of_a_server_counts() -> None:
    known = Endpoints()
    other = ModelRef("openai", "n", "http://a/v1")
    known.lease([other])
    assert hosts(known.lease(REFS), known.lease(REFS), known.lease(REFS)) == "bca"


def test_one_that_failed_is_asked_last() -> None:
    known = Endpoints()
    known.lease(REFS).end(GONE)
    assert hosts(*(known.lease(REFS) for _ in range(4))) == "bcbc"
    assert hosts(known.lease(REFS, REFS[1:])) == "a"


@pytest.mark.parametrize("error", [UsageError("wrong"), CannotChat("no chat model"), BadStatus("no", status=400), None])
def test_what_isnt_the_servers_fault_takes_nobody_out(error: CallgateError | None) -> None:
    known = Endpoints()
    known.lease(REFS).end(error)
    assert known.of(REFS[0]).state == "up"


def test_many_that_fail_together_count_once() -> None:
    failed: list[Endpoint] = []
    known = Endpoints(failed.append)
    leases = [known.lease(REFS[:1]) for _ in range(50)]
    for lease in leases:
        lease.end(StreamCut("cut off"))
    assert len(failed) == 1


def test_pauses_grow_and_are_remembered_over_a_short_recovery(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(time, "monotonic", lambda: now)
    monkeypatch.setattr(random, "uniform", lambda *_: 1.0)
    endpoint = Endpoint(REFS[0])
    pauses = []
    for _ in range(8):
        endpoint.fail(began=now)
        pauses.append(endpoint.out_until - now)
        now = endpoint.out_until + 1
        endpoint.let_in()
        endpoint.succeed(began=now)
        assert endpoint.state == "up"
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    now += module.STEADY_SECONDS + module.LONGEST_PAUSE
    endpoint.fail(began=now)
    assert endpoint.out_until - now == 1
    endpoint.fail(began=now, is_busy=True)
    assert endpoint.out_until - now == module.BUSY_PAUSE


def test_one_that_is_let_in_again_gets_one_request_until_it_has_answered() -> None:
    known = Endpoints()
    known.lease(REFS).end(GONE)
    known.of(REFS[0]).let_in()
    leases = [known.lease(REFS) for _ in range(7)]
    assert hosts(*leases) == "bcabcbc"
    leases[2].answered()
    assert hosts(known.lease(REFS), known.lease(REFS)) == "aa"


def test_an_answer_from_before_a_failure_proves_nothing() -> None:
    known = Endpoints()
    early = known.lease(REFS[:1])
    known.lease(REFS[:1]).end(GONE)
    early.answered()
    assert known.of(REFS[0]).state == "out"


def test_only_so_many_that_are_out_are_tried() -> None:
    known = Endpoints()
    refs = [ModelRef("openai", "m", f"http://{number}/v1") for number in range(10)]
    for ref in refs:
        known.lease([ref]).end(GONE)
    assert known.has_more(refs, refs[:2])
    assert not known.has_more(refs, refs[: module.LAST_RESORTS])
    known.of(refs[9]).let_in()
    assert known.has_more(refs, refs[: module.LAST_RESORTS])
    assert not known.has_more(refs, refs)


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([None, GONE, BUSY, "answered", "let in"])), max_size=60))
def test_whatever_happens_the_books_balance(steps: list[tuple[int, CallgateError | str | None]]) -> None:
    known = Endpoints()
    leases: list[Lease] = []
    for which, step in steps:
        if step == "let in":
            known.of(REFS[which]).let_in()
            continue
        leases.append(known.lease(REFS, REFS[:which]))
        if step == "answered":
            leases[-1].answered()
        elif isinstance(step, CallgateError):
            leases.pop(0).end(step)
    assert sum(each.in_flight for each in known) == len(leases) == known.at_place.total()
    for lease in leases:
        lease.end()
        lease.end(GONE)
    assert all(each.in_flight == 0 and not each.is_tried for each in known)
    assert known.at_place.total() == 0


def test_a_password_for_a_server_is_shown_to_nobody() -> None:
    ref = ModelRef("openai", "m", "http://me:secret@lab/v1")
    assert Endpoint(ref).label == "http://lab/v1"
