"""What a chat template can do: our probe, against Jinja2 alone and against starting llama.cpp to ask it."""

from __future__ import annotations

import os
from pathlib import Path

from bench.harness import Bench, Row
from tests.detect.template.samples import SAMPLES

FASTER_THAN_JINJA2 = 2
FASTER_THAN_LLAMA_CPP = 20


def run(bench: Bench) -> list[Row]:
    folder = _templates(bench)
    ours = bench.script("bench/sides/template_probe_callgate.py", str(folder))
    jinja2 = bench.script("bench/sides/template_probe_jinja2.py", str(folder), env="bench-jinja2")
    engine = bench.script(
        "bench/sides/template_probe_llamacpp.py", str(folder), "src/callgate/data/tiny.gguf", env="bench-xllamacpp"
    )
    return [
        *bench.compare(ours, jinja2, repeats=5, at_least=FASTER_THAN_JINJA2),
        *bench.compare(ours, engine, repeats=3, at_least=FASTER_THAN_LLAMA_CPP),
    ]


def _templates(bench: Bench) -> Path:
    """The corpus, where there is one; else the samples that we wrote."""
    corpus = os.environ.get("CALLGATE_TEST_DATA")
    if corpus and (folder := Path(corpus) / "templates").is_dir():
        return folder
    folder = bench.scratch / "templates"
    folder.mkdir(exist_ok=True)
    for name, sample in SAMPLES.items():
        (folder / f"{name}.jinja").write_text(sample.source)
    return folder
