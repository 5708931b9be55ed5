"""`./dev bench`: finds the benchmarks, runs them, prints a table and writes the rows."""

from __future__ import annotations

import argparse
import ast
import importlib
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.harness import Bench, BenchError, Row

HERE = Path(__file__).resolve().parent
NOT_BENCHMARKS = {"__init__", "__main__", "harness", "measure", "servers", "slow_server"}
PROMISE_BROKEN = 3


def benchmarks() -> dict[str, str]:
    """Every benchmark with the first line of its docstring, without importing any."""
    found = {}
    for path in sorted(HERE.glob("*.py")):
        if path.stem not in NOT_BENCHMARKS:
            doc = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
            found[path.stem] = doc.split("\n", 1)[0]
    return found


def table(rows: Sequence[Row]) -> str:
    head = ("name", "ours", "peer", "unit", "ratio", "peer version", "")
    lines = [head]
    for row in rows:
        mark = "" if row.kept else f"promised {row.at_least:g}x"
        lines.append(
            (row.name, f"{row.ours:.4g}", f"{row.peer:.4g}", row.unit, f"{row.ratio:.3g}x", row.peer_version, mark)
        )
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    right = {1, 2, 4}
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i in right else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="./dev bench", description="Measure callgate against its peers.")
    parser.add_argument("--only", action="append", metavar="NAME", help="one benchmark; may be given more than once")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the rows, one JSON object a line")
    parser.add_argument("--list", action="store_true", help="name the benchmarks and stop")
    parser.add_argument("--quick", action="store_true", help="fewer repeats")
    args = parser.parse_args(argv)
    known = benchmarks()
    if args.list:
        width = max(map(len, known), default=0)
        print("\n".join(f"{name.ljust(width)}  {what}" for name, what in known.items()))
        return 0
    names: list[str] = args.only or list(known)
    if unknown := [name for name in names if name not in known]:
        parser.error(f"no benchmark {unknown[0]!r}; there are: {', '.join(known)}")
    rows, failed = _run_all(names, quick=args.quick)
    if rows:
        print(table(rows))
    if args.json:
        args.json.write_text("".join(row.as_json() + "\n" for row in rows), "utf-8")
    if failed:
        return 1
    return 0 if all(row.kept for row in rows) else PROMISE_BROKEN


def _run_all(names: Sequence[str], *, quick: bool) -> tuple[list[Row], bool]:
    rows: list[Row] = []
    failed = False
    for name in names:
        print(f"{name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory(prefix="callgate-bench-") as scratch:
            try:
                rows += importlib.import_module(f"bench.{name}").run(Bench(Path(scratch), quick))
            except (BenchError, ImportError, OSError) as error:
                print(f"{name} failed: {error}", file=sys.stderr)
                failed = True
    return rows, failed


if __name__ == "__main__":
    # A relative --json means the folder the user stands in, which ./dev passes on.
    os.chdir(os.environ.get("CALLGATE_DEV_CWD", "."))
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
