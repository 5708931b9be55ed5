"""jsonschema: whether arguments fit, with a validator that was made before."""

from importlib.metadata import version
from typing import Any

from jsonschema import Draft202012Validator

from bench.measure import emit, timed
from bench.sides.repair_cases import CALLS, FLAT, FLAT_ARGUMENTS, NESTED, NESTED_ARGUMENTS, ROUNDS

VERSION = f"jsonschema {version('jsonschema')}"


def fitting(arguments: object, validator: Any) -> None:
    for _ in range(CALLS):
        validator.is_valid(arguments)


flat, nested = Draft202012Validator(FLAT), Draft202012Validator(NESTED)
assert flat.is_valid(FLAT_ARGUMENTS)
assert nested.is_valid(NESTED_ARGUMENTS)
emit("arguments that fit, flat", timed(lambda: fitting(FLAT_ARGUMENTS, flat), ROUNDS, 1) / CALLS * 1e6, "µs", VERSION)
emit(
    "arguments that fit, nested",
    timed(lambda: fitting(NESTED_ARGUMENTS, nested), ROUNDS, 1) / CALLS * 1e6,
    "µs",
    VERSION,
)
