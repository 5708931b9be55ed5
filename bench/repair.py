"""Repairing arguments: against jsonschema where they fit, against json_repair where they are malformed."""

from __future__ import annotations

from bench.harness import Bench, Row

FASTER_THAN_JSONSCHEMA = 5


def run(bench: Bench) -> list[Row]:
    ours = bench.script("bench/sides/repair_callgate.py")
    jsonschema = bench.script("bench/sides/repair_jsonschema.py", env="bench-jsonschema")
    json_repair = bench.script("bench/sides/repair_json_repair.py", env="bench-json-repair")
    return [
        *bench.compare(ours, jsonschema, repeats=5, at_least=FASTER_THAN_JSONSCHEMA),
        *bench.compare(ours, json_repair, repeats=5),
    ]
