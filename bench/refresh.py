"""A look at 100 models behind a server that takes 20 ms for each answer, against the `ollama` package asking for them.

The package lists the models and asks for each of them, all at once; we also render their chat templates, weigh what is
found and keep it. When nothing has changed, we needn't ask; the package knows no other way.
"""

from __future__ import annotations

import dataclasses

from bench.harness import Bench, Row
from bench.slow_server import slow_server

AT_MOST_MS = 2000
REPEATS = 7


def run(bench: Bench) -> list[Row]:
    with slow_server(bench) as url:
        rows = bench.compare(
            bench.script("bench/sides/refresh_callgate.py", url),
            bench.script("bench/sides/refresh_package.py", url, env="bench-ollama"),
            repeats=REPEATS,
        )
    # The promise is a time, not a ratio.
    return [dataclasses.replace(row, at_least=row.peer / AT_MOST_MS) for row in rows]
