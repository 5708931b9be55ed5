"""How many calls are found in texts that have none: `python -m bench.shows.plain_texts --texts 10000`."""

from __future__ import annotations

import argparse

from tests.gate.recovery.plain_texts import everyday_tools, plain_texts
from tests.gate.recovery.reading import calls_in


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--texts", type=int, default=10_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    tools = everyday_tools()
    false = [text for text in plain_texts(given.texts, given.seed) if calls_in(text, tools)]
    print(f"{given.texts} texts, {len(false)} with a false call")
    for text in false[:10]:
        print(repr(text[:400]))
    return 1 if false else 0


if __name__ == "__main__":
    raise SystemExit(main())
