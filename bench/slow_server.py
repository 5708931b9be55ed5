"""A server of many models that takes 20 ms for each answer, for as long as somebody measures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bench.harness import ROOT, Bench
from callgate.detect import boxed_facts


@contextmanager
def slow_server(bench: Bench) -> Iterator[str]:
    """Gives its URL. It is a process of its own: what is measured must not wait for it."""
    template = bench.scratch / "template.jinja"
    template.write_text((boxed_facts("tiny").templates or {})["default"], "utf-8")
    command = [sys.executable, str(ROOT / "bench/sides/refresh_server.py"), str(template)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{server.stdout.readline().strip()}"
        finally:
            server.terminate()
