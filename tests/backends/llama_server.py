"""A real llama-server for tests: llama.cpp's own, out of xllamacpp, in a process of its own.

Run as a program it serves one model on a free port of loopback and prints the URL.
It has to be killed: its end can hang.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def running(model: Path, *, context: int, alias: str = "", template: str = "") -> Iterator[str]:
    """Gives the server's URL."""
    words = ["--model", str(model), "--context", str(context), "--alias", alias, "--template", template]
    environ = {**os.environ, "GOMP_SPINCOUNT": "0"}
    pipe, nothing = subprocess.PIPE, subprocess.DEVNULL
    with subprocess.Popen(
        [sys.executable, __file__, *words], env=environ, stdin=pipe, stdout=pipe, stderr=nothing, text=True
    ) as process:
        try:
            assert process.stdout
            url = process.stdout.readline().strip()
            assert url, f"llama-server ended at once, with {process.wait()}"
            yield url
        finally:
            process.kill()


def main() -> None:
    parser = argparse.ArgumentParser()
    for word in ("--model", "--alias", "--template"):
        parser.add_argument(word)
    parser.add_argument("--context", type=int)
    arguments = parser.parse_args()

    import xllamacpp

    wanted = xllamacpp.CommonParams()
    wanted.model.path = arguments.model
    wanted.hostnames, wanted.port = ["127.0.0.1"], 0
    wanted.n_ctx, wanted.n_parallel = arguments.context, 1
    wanted.cpuparams.n_threads = wanted.cpuparams_batch.n_threads = 1
    if arguments.alias:
        wanted.model_alias = {arguments.alias}
    if arguments.template:
        wanted.chat_template = arguments.template
    wanted.use_jinja, wanted.warmup, wanted.fit_params = True, False, False
    server = xllamacpp.Server(wanted)
    print(server.listening_address, flush=True)
    sys.stdin.read()  # to its end, which is our parent's
    os._exit(0)


if __name__ == "__main__":
    main()
