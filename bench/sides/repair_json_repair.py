"""json_repair: malformed JSON, read. It knows no schema, and is not asked to fit one."""

from importlib.metadata import version

import json_repair

from bench.measure import emit, timed
from bench.sides.repair_cases import CALLS, DAMAGED, MALFORMED, ROUNDS

VERSION = f"json_repair {version('json_repair')}"


def read(texts: list[str]) -> None:
    for _ in range(CALLS):
        for text in texts:
            json_repair.loads(text)


emit("malformed JSON, read", timed(lambda: read(MALFORMED), ROUNDS, 1) / CALLS / len(MALFORMED) * 1e6, "µs", VERSION)
emit(
    "damaged arguments, made to fit",
    timed(lambda: read(DAMAGED), ROUNDS, 1) / CALLS / len(DAMAGED) * 1e6,
    "µs",
    f"{VERSION}, which only reads them",
)
