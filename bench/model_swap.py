"""`/model` in a chat, to a model of a server that takes 20 ms for each answer, against bare aiohttp asking that server.

From the command to the line that says what the model can do: the first time, with nothing known; and once more, when it
is known. Bare aiohttp asks for the same four things at once, and makes nothing of them; it knows no other way than to
ask again.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys

from bench.harness import ROOT, Bench, Row
from callgate.detect import boxed_facts

AT_MOST_MS = {"swap of models, cold": 500.0, "swap of models, known": 50.0}
REPEATS = 7


def run(bench: Bench) -> list[Row]:
    template = bench.scratch / "template.jinja"
    template.write_text((boxed_facts("tiny").templates or {})["default"], "utf-8")
    command = [sys.executable, str(ROOT / "bench/sides/refresh_server.py"), str(template)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            ours = bench.script("bench/sides/model_swap_callgate.py", url)
            peer = bench.script("bench/sides/model_swap_aiohttp.py", url)
            rows = bench.compare(ours, peer, repeats=REPEATS)
        finally:
            server.terminate()
    # The promise is a time, not a ratio.
    return [dataclasses.replace(row, at_least=row.peer / AT_MOST_MS[row.name]) for row in rows]
