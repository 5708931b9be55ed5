import asyncio

from callgate.gateway.serving.deadline import Deadline


class Clock:
    """An event loop's, moved by hand."""

    def __init__(self) -> None:
        self.now = 0.0
        self.timers: list[tuple[float, asyncio.TimerHandle]] = []
        self._loop = asyncio.new_event_loop()

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, called: object) -> asyncio.TimerHandle:
        handle = asyncio.TimerHandle(when, called, (), self._loop)  # type: ignore[arg-type]
        self.timers.append((when, handle))
        return handle

    def go_to(self, when: float) -> None:
        for at, handle in list(self.timers):
            if at <= when and not handle.cancelled():
                self.now = at
                self.timers.remove((at, handle))
                handle._run()
        self.now = when

    def close(self) -> None:
        self._loop.close()


def watched() -> tuple[Clock, Deadline, list[float]]:
    clock, passed = Clock(), list[float]()
    return clock, Deadline(clock, lambda: passed.append(clock.now)), passed  # type: ignore[arg-type]


def test_it_passes_once_when_it_was_set_to() -> None:
    clock, deadline, passed = watched()
    deadline.set(5)
    for when in (4.0, 5.0, 50.0):
        clock.go_to(when)
    assert passed == [5]
    clock.close()


def test_it_can_be_moved_both_ways_and_taken_back() -> None:
    clock, deadline, passed = watched()
    deadline.set(5)
    clock.go_to(3)
    deadline.set(5)
    assert len(clock.timers) == 1  # the first is used once more
    clock.go_to(7)
    assert passed == []
    deadline.set(0.5)
    clock.go_to(9)
    assert passed == [7.5]
    deadline.set(3)
    deadline.clear()
    clock.go_to(20)
    deadline.set(3)
    deadline.set(0)
    clock.go_to(30)
    assert passed == [7.5]
    clock.close()


def test_stopped_it_leaves_nothing_behind() -> None:
    clock, deadline, passed = watched()
    deadline.set(5)
    deadline.end()
    assert all(handle.cancelled() for _, handle in clock.timers)
    clock.go_to(9)
    assert passed == []
    clock.close()
