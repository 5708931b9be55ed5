"""`/model` in a chat, to a model of a server that takes 20 ms for each answer, against bare aiohttp asking that server.

From the command to the line that says what the model can do: the first time, with nothing known; and once more, when it
is known. Bare aiohttp asks for the same four things at once, and makes nothing of them; it knows no other way than to
ask again.
"""

from __future__ import annotations

import dataclasses

from bench.harness import Bench, Row
from bench.slow_server import slow_server

AT_MOST_MS = {"swap of models, cold": 500.0, "swap of models, known": 50.0}
REPEATS = 7


def run(bench: Bench) -> list[Row]:
    with slow_server(bench) as url:
        rows = bench.compare(
            bench.script("bench/sides/model_swap_callgate.py", url),
            bench.script("bench/sides/model_swap_aiohttp.py", url),
            repeats=REPEATS,
        )
    # The promise is a time, not a ratio.
    return [dataclasses.replace(row, at_least=row.peer / AT_MOST_MS[row.name]) for row in rows]
