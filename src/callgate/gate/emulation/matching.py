"""Whether a text is spelt as an expression says, in bounded time: patterns are other people's, and some explode."""

from __future__ import annotations

from callgate.gate.emulation.expressions import Characters, Either, Expression, Repeated, Sequel

MOST_STEPS = 50_000


def is_spelt(expression: Expression, text: str) -> bool:
    """Also false where it would take too long to find out."""
    try:
        return len(text) in _Walk(text).ends(expression, {0})
    except TimeoutError:
        return False


class _Walk:
    def __init__(self, text: str) -> None:
        self._text = text
        self._steps = 0

    def ends(self, expression: Expression, starts: set[int]) -> set[int]:
        """The places that are reached from any of `starts`."""
        self._steps += 1 + len(starts)
        if self._steps > MOST_STEPS:
            raise TimeoutError
        match expression:
            case Characters(ranges):
                return {at + 1 for at in starts if self._is_one_of(ranges, at)}
            case Sequel(parts):
                for part in parts:
                    starts = self.ends(part, starts)
                return starts
            case Either(options):
                return set().union(*(self.ends(option, starts) for option in options))
            case Repeated(part, fewest, most):
                return self._repeated(part, fewest, most, starts)

    def _repeated(self, part: Expression, fewest: int, most: int | None, starts: set[int]) -> set[int]:
        for _ in range(fewest):
            starts = self.ends(part, starts)
        reached = set(starts)
        count = fewest
        while starts and (most is None or count < most):
            starts = self.ends(part, starts) - reached
            reached |= starts
            count += 1
        return reached

    def _is_one_of(self, ranges: tuple[tuple[int, int], ...], at: int) -> bool:
        return at < len(self._text) and any(low <= ord(self._text[at]) <= high for low, high in ranges)
