"""A look at 100 models behind a server that takes 20 ms for each answer, against the `ollama` package asking for them.

The package lists the models and asks for each of them, all at once; we also render their chat templates, weigh what is
found and keep it. When nothing has changed, we needn't ask; the package knows no other way.
"""

from __future__ import annotations

import dataclasses
import subprocess
import sys

from bench.harness import ROOT, Bench, Row
from callgate.detect import boxed_facts

AT_MOST_MS = 2000
REPEATS = 7


def run(bench: Bench) -> list[Row]:
    template = bench.scratch / "template.jinja"
    template.write_text((boxed_facts("tiny").templates or {})["default"], "utf-8")
    command = [sys.executable, str(ROOT / "bench/sides/refresh_server.py"), str(template)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{server.stdout.readline().strip()}"
            ours = bench.script("bench/sides/refresh_callgate.py", url)
            peer = bench.script("bench/sides/refresh_package.py", url, env="bench-ollama")
            rows = bench.compare(ours, peer, repeats=REPEATS)
        finally:
            server.terminate()
    # The promise is a time, not a ratio.
    return [dataclasses.replace(row, at_least=row.peer / AT_MOST_MS) for row in rows]
