"""Our repair: what it costs where there is nothing to do, to read malformed JSON, and to mend by the schema."""

from bench.measure import emit, timed
from bench.sides.repair_cases import (
    CALLS,
    DAMAGED,
    FLAT,
    FLAT_ARGUMENTS,
    MALFORMED,
    NESTED,
    NESTED_ARGUMENTS,
    ROUNDS,
)
from callgate import repair
from callgate.tools import read_loosely


def fitting(arguments: object, schema: dict[str, object]) -> None:
    for _ in range(CALLS):
        repair(arguments, schema)


def malformed() -> None:
    for _ in range(CALLS):
        for text in MALFORMED:
            read_loosely(text)


def damaged() -> None:
    for _ in range(CALLS):
        for text in DAMAGED:
            repair(text, FLAT)


assert all(repair(text, FLAT).arguments == FLAT_ARGUMENTS for text in DAMAGED)
assert all(read_loosely(text) for text in MALFORMED)
emit("arguments that fit, flat", timed(lambda: fitting(FLAT_ARGUMENTS, FLAT), ROUNDS, 1) / CALLS * 1e6, "µs")
emit("arguments that fit, nested", timed(lambda: fitting(NESTED_ARGUMENTS, NESTED), ROUNDS, 1) / CALLS * 1e6, "µs")
emit("malformed JSON, read", timed(malformed, ROUNDS, 1) / CALLS / len(MALFORMED) * 1e6, "µs")
emit("damaged arguments, made to fit", timed(damaged, ROUNDS, 1) / CALLS / len(DAMAGED) * 1e6, "µs")
