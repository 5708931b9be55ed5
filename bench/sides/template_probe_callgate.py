"""The verdict on each template of a folder, through the sandbox, as `callgate check` gets it."""

import statistics
import sys
from pathlib import Path
from time import perf_counter

from bench.measure import emit
from callgate.detect import TemplateSandbox

sources = [path.read_text() for path in sorted(Path(sys.argv[1]).iterdir())]
taken = []
with TemplateSandbox() as sandbox:
    sandbox.probe(sources[0])
    for source in sources:
        start = perf_counter()
        sandbox.probe(source)
        taken.append((perf_counter() - start) * 1e3)
emit("verdict on a chat template, median", statistics.median(taken), "ms")
emit("verdict on a chat template, mean", statistics.mean(taken), "ms")
