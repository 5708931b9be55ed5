"""`./dev fuzz TARGET`: see fuzz/README.md."""

from __future__ import annotations

import argparse
import importlib
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

from fuzz.harness import Target, fuzz, replay

HERE = Path(__file__).resolve().parent
NOT_TARGETS = {"__init__", "__main__", "harness", "mutate"}


def main(argv: Sequence[str] | None = None) -> int:
    known = sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_TARGETS)
    parser = argparse.ArgumentParser(prog="./dev fuzz", description="Feed hostile input to one of our parsers.")
    parser.add_argument("target", help=f"one of: {', '.join(known) or 'none yet'}")
    parser.add_argument("--seconds", type=float, default=30.0, help="how long (default: %(default)g)")
    parser.add_argument("--seed", type=int, help="mutate as in an earlier run")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="feed this one file, with a traceback")
    args = parser.parse_args(argv)
    if args.target not in known:
        parser.error(f"no target {args.target!r}; there are: {', '.join(known) or 'none yet'}")
    target = Target.of(importlib.import_module(f"fuzz.{args.target}"))
    if args.replay:
        return replay(target, (Path(os.environ.get("CALLGATE_DEV_CWD", ".")) / args.replay).read_bytes())
    seed = random.SystemRandom().randrange(2**32) if args.seed is None else args.seed
    report = fuzz(target, args.seconds, seed, HERE.parent / ".dev" / "fuzz" / args.target)
    print(report.text())
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main())
