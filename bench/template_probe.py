"""What a chat template can do: our probe, against Jinja2 alone and against starting llama.cpp to ask it."""

from __future__ import annotations

import os
from pathlib import Path

from bench.harness import Bench, Row
from tests.detect.template.samples import SAMPLES

FASTER_THAN_JINJA2 = 2
FASTER_THAN_LLAMA_CPP = 20


def run(bench: Bench) -> list[Row]:
    corpus = _corpus()
    folder = corpus or _samples(bench)
    ours = bench.script("bench/sides/template_probe_callgate.py", str(folder))
    jinja2 = bench.script("bench/sides/template_probe_jinja2.py", str(folder), env="bench-jinja2")
    engine = bench.script(
        "bench/sides/template_probe_llamacpp.py", str(folder), "src/callgate/data/tiny.gguf", env="bench-xllamacpp"
    )
    return [
        *bench.compare(ours, jinja2, repeats=5, at_least=FASTER_THAN_JINJA2 if corpus else None),
        *bench.compare(ours, engine, repeats=3, at_least=FASTER_THAN_LLAMA_CPP),
    ]


def _corpus() -> Path | None:
    folder = Path(os.environ.get("CALLGATE_TEST_DATA", "")) / "templates"
    return folder if folder.is_dir() else None


def _samples(bench: Bench) -> Path:
    """Those that we wrote, without the corpus: nearly every one of them is odd, and so nothing is promised."""
    folder = bench.scratch / "templates"
    folder.mkdir(exist_ok=True)
    for name, sample in SAMPLES.items():
        (folder / f"{name}.jinja").write_text(sample.source)
    return folder
