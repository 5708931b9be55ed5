"""Models at several servers: which of them is asked next, and which is left alone for a while.

An endpoint is one model at one server. The least busy server is asked, by the requests that it has from here; of those
that are alike, the one that has waited longest. One that fails is out, for a pause that grows with each failure in
a row and isn't forgotten at once, so that a server that comes and goes is asked less and less. When it is let in again
it gets one request at a time until it has answered one, so that nobody runs it over.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Literal

from callgate.backends import place_of
from callgate.runtime import is_recoverable
from callgate.vocabulary import BadStatus, CallgateError, CannotChat, ModelFileError, ModelRef, ModelRejected
from callgate.wire import shown

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0
BUSY_PAUSE = 1.0
"""For a server that says that it has too much to do, which is no fault."""
STEADY_SECONDS = 60.0
"""After so long without a failure the earlier ones are forgotten."""
LAST_RESORTS = 3
"""How many that are out a request tries, where there are no others."""
_TOO_MUCH = (429, 503)

State = Literal["up", "trial", "out"]


def _nothing(_: Endpoint) -> None:
    pass


class Endpoint:
    """One model at one server, and how it has done."""

    def __init__(self, ref: ModelRef) -> None:
        self.ref = ref
        self.place = place_of(ref)
        self.state: State = "up"
        self.in_flight = 0
        self.out_until = 0.0
        self.used = 0
        """The number of the last request that it got."""
        self.wanted_at = -1e9
        """When somebody last asked for its model."""
        self.has_siblings = False
        """The same model is at other servers, too."""
        self.is_tried = False
        """A request is on its way that shows whether it is up again."""
        self.failures = 0
        """In a row."""
        self.is_hearsay = False
        """That it is out was found by others."""
        self._failed_at = -1e9

    @property
    def label(self) -> str:
        """Its server, as it may be shown."""
        return shown(self.ref.endpoint) if self.ref.endpoint else self.place[0]

    @property
    def is_free(self) -> bool:
        return self.state == "up" or (self.state == "trial" and not self.is_tried)

    def fail(self, *, began: float, is_busy: bool = False) -> bool:
        """Whether that is news: of many requests that fail together the first one counts."""
        if began < self._failed_at:
            return False
        now = time.monotonic()
        pause = BUSY_PAUSE
        if not is_busy:
            self.failures = self.failures + 1 if now - self._failed_at < STEADY_SECONDS + LONGEST_PAUSE else 1
            pause = min(FIRST_PAUSE * 2 ** min(self.failures - 1, 16), LONGEST_PAUSE)
        self._failed_at = now
        # Spread, so that several who look after the same server don't do so at the same moment.
        self.out_until = now + pause * random.uniform(0.8, 1.2)  # noqa: S311
        self.state = "out"
        self.is_hearsay = False
        return True

    def let_in(self) -> None:
        if self.state == "out":
            self.state = "trial"

    def hear_out(self, seconds: float, *, failures: int) -> bool:
        """Somebody else found that it fails; whether that is news. They may have lost their way to it, and we not: so
        we soon look ourselves.
        """
        now = time.monotonic()
        is_news = self.state != "out"
        if is_news:
            self._failed_at, self.is_hearsay = now, True
            self.out_until = now + min(seconds, FIRST_PAUSE)
        self.failures = max(self.failures, failures)
        self.state = "out"
        return is_news

    def succeed(self, *, began: float) -> bool:
        """Whether it was out until now. What was asked before it failed proves nothing."""
        if began < self._failed_at:
            return False
        was_out = self.state == "out"
        self.state = "up"
        return was_out


class Lease:
    """One request at an endpoint, from when it is sent to when its answer has ended."""

    __slots__ = ("_began", "_endpoints", "_is_over", "_is_trial", "endpoint")

    def __init__(self, endpoint: Endpoint, endpoints: Endpoints) -> None:
        self.endpoint = endpoint
        self._endpoints = endpoints
        self._began = time.monotonic()
        self._is_over = False
        self._is_trial = endpoint.state == "trial" and not endpoint.is_tried
        endpoint.is_tried = endpoint.is_tried or self._is_trial
        endpoint.in_flight += 1
        endpoints.at_place[endpoint.place] += 1

    def answered(self) -> None:
        """It said something."""
        if self.endpoint.succeed(began=self._began):
            self._endpoints.on_change(self.endpoint)

    def end(self, error: CallgateError | None = None) -> None:
        """What comes after the first time changes nothing."""
        if self._is_over:
            return
        self._is_over = True
        self.endpoint.in_flight -= 1
        self._endpoints.at_place[self.endpoint.place] -= 1
        if self._is_trial:
            self.endpoint.is_tried = False
        if error and is_servers_fault(error):
            is_busy = isinstance(error, BadStatus) and error.status in _TOO_MUCH
            if self.endpoint.fail(began=self._began, is_busy=is_busy):
                self._endpoints.on_fail(self.endpoint)
                self._endpoints.on_change(self.endpoint)


class Endpoints:
    """All that are known. `on_fail` hears of each that goes out, `look_after` of each that is out and was wanted, and
    `on_change` whatever other servers of ours may want to know of one.
    """

    def __init__(
        self, on_fail: Callable[[Endpoint], None] = _nothing, look_after: Callable[[Endpoint], None] = _nothing
    ) -> None:
        self.on_fail = on_fail
        self.look_after = look_after
        self.on_change: Callable[[Endpoint], None] = _nothing
        self.at_place: Counter[tuple[str, str]] = Counter()
        """Requests that are under way, by server."""
        self._known: dict[ModelRef, Endpoint] = {}
        self._turns = count(1)

    def __iter__(self) -> Iterator[Endpoint]:
        return iter(tuple(self._known.values()))

    def of(self, ref: ModelRef) -> Endpoint:
        if (known := self._known.get(ref)) is None:
            known = self._known[ref] = Endpoint(ref)
        return known

    def expect(self, refs: Sequence[ModelRef]) -> None:
        """Those of one model, before anybody asks for it."""
        for ref in refs:
            self.of(ref).has_siblings = len(refs) > 1

    def lease(self, refs: Sequence[ModelRef], tried: Sequence[ModelRef] = ()) -> Lease:
        """At the best of `refs` that aren't `tried`, of which there must be one."""
        chosen = self._best_of(refs, tried) if len(refs) > 1 else self.of(refs[0])
        chosen.used = next(self._turns)
        return Lease(chosen, self)

    def _best_of(self, refs: Sequence[ModelRef], tried: Sequence[ModelRef]) -> Endpoint:
        candidates = [self.of(ref) for ref in refs if ref not in tried]
        for each in candidates:
            each.has_siblings, each.wanted_at = True, time.monotonic()
            if each.state == "out":
                self.look_after(each)
        return min(candidates, key=self._rank)

    def has_more(self, refs: Sequence[ModelRef], tried: Sequence[ModelRef]) -> bool:
        """Whether another of them is worth a try."""
        left = [self.of(ref) for ref in refs if ref not in tried]
        return any(each.is_free for each in left) or (bool(left) and len(set(tried) & set(refs)) < LAST_RESORTS)

    def best(self, refs: Sequence[ModelRef]) -> ModelRef:
        """Whom to ask about the model itself."""
        known = self._known
        return next((ref for ref in refs if ref not in known or known[ref].is_free), refs[0])

    def _rank(self, endpoint: Endpoint) -> tuple[int, float, float]:
        if endpoint.is_free:
            return 0, self.at_place[endpoint.place], endpoint.used
        return (1, 0.0, endpoint.used) if endpoint.state == "trial" else (2, endpoint.out_until, endpoint.used)


def is_servers_fault(error: CallgateError) -> bool:
    """Whether the same model may do better at another server."""
    return is_recoverable(error) and not isinstance(error, CannotChat | ModelRejected | ModelFileError)
