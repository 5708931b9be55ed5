"""`./dev docs`: the documentation as a site, in site/. What it says of commands and settings is written anew first.

The site needs nobody: no fonts, scripts or pictures of other people's servers. A link that leads nowhere fails it.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from subprocess import PIPE, STDOUT

from workshop import references

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "site"
_FETCHED = re.compile(
    r"""<(?:script|img|iframe|source|link\b(?=[^>]*\brel="?(?:stylesheet|icon|preload|preconnect)))\b[^>]*?"""
    r"""\b(?:src|href)=["']?((?:https?:)?//[^"'\s>]+)""",
    re.IGNORECASE,
)
"""What a browser would fetch from elsewhere to show a page."""
_COLOUR = re.compile(r"\x1b\[[\d;]*m")


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev docs", description=__doc__)
    parser.add_argument("--serve", action="store_true", help="show it at http://localhost:8000, and follow changes")
    arguments = parser.parse_args()
    for path in references.write(ROOT):
        print(f"written anew: {path.relative_to(ROOT)}")
    zensical = Path(sys.executable).with_name("zensical")
    task = ["serve"] if arguments.serve else ["build", "--clean", "--strict"]
    if arguments.serve:
        with suppress(KeyboardInterrupt):
            subprocess.run([zensical, *task], cwd=ROOT, check=False)
        return 0
    built = subprocess.run([zensical, *task], cwd=ROOT, stdout=PIPE, stderr=STDOUT, text=True, check=False)
    said = built.stdout.partition("Traceback")[0]  # with which it ends when it is strict
    print(said if sys.stdout.isatty() else _COLOUR.sub("", said), end="")
    if built.returncode:
        return built.returncode
    problems = list(fetched_from_others(SITE))
    for problem in problems:
        print(problem)
    print(f"site/: {sum(1 for _ in SITE.rglob('*.html'))} pages" if not problems else "failed")
    return 1 if problems else 0


def fetched_from_others(site: Path) -> Iterator[str]:
    for page in sorted(site.rglob("*.html")):
        for found in _FETCHED.finditer(page.read_text("utf-8")):
            yield f"{page.relative_to(site)}: would fetch {found.group(1)}"


if __name__ == "__main__":
    sys.exit(main())
