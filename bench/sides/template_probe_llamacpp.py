"""The only way to llama.cpp's verdict on a template: start its server with a small model, and ask for `/props`."""

import json
import os
import statistics
import sys
import urllib.request
from importlib.metadata import version
from pathlib import Path
from time import perf_counter

os.environ["GOMP_SPINCOUNT"] = "0"  # before it is imported: its threads would spin

import xllamacpp

from bench.measure import emit

ENOUGH = 8

taken = []
for path in sorted(Path(sys.argv[1]).iterdir())[:ENOUGH]:
    start = perf_counter()
    params = xllamacpp.CommonParams()
    params.model.path = sys.argv[2]
    params.n_ctx = 256
    params.n_parallel = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = 1
    params.port = 0
    params.use_jinja = True
    params.warmup = False
    params.fit_params = False
    params.verbosity = -1
    params.chat_template = path.read_text()
    server = xllamacpp.Server(params)
    with urllib.request.urlopen(f"{server.listening_address}/props") as answer:
        assert "chat_template_caps" in json.load(answer)
    taken.append((perf_counter() - start) * 1e3)
    globals()[f"kept_{len(taken)}"] = server  # closing it may hang
emit(
    "verdict on a chat template, median",
    statistics.median(taken),
    "ms",
    f"llama.cpp, its server started to be asked (xllamacpp {version('xllamacpp')})",
)
os._exit(0)
