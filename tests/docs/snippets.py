"""What README.md and docs/ show: every fenced block, with what it is and where it stands.

```console                     `$ ` begins a command, what follows is what it says; … stands for anything
```sh                          a script, run whole
```python                      run, all of a page as one program; `expression  # → value` is looked at
```toml, ```json, ```jsonl     read; a toml without a title is callgate's settings
```json title="tools.json"     a file, which what follows finds in its folder; so for all of these
<!-- not run: why -->          before a block that can't be run here
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from textwrap import dedent
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SHELLS = {"sh": "bash -ec", "zsh": "zsh -fec", "fish": "fish --no-config -c"}
"""Who runs a script."""
RUN = ("console", *SHELLS, "python", "toml", "json", "jsonl")
ONLY_SHOWN = ("text", "html", "http", "ini", "yaml", "dockerfile", "jinja", "gotemplate", "diff")
"""What nobody could run: the output of something, or a file for another program."""

_FENCE = re.compile(r"^ *(`{3,}) *(\w*)(.*)$")
_TITLE = re.compile(r'title="([^"]+)"')
_NOT_RUN = re.compile(r"<!--\s*not run:\s*(.*?)\s*-->", re.DOTALL)


class Snippet(NamedTuple):
    page: str
    line: int
    """Of the first line within."""
    language: str
    title: str
    text: str
    not_run: str
    """Why not; empty: it is."""

    @property
    def where(self) -> str:
        return f"{self.page}:{self.line}"


class Shown(NamedTuple):
    """A command, and what the page says that it says."""

    line: int
    command: str
    output: list[str]


def pages() -> list[Path]:
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def snippets(page: Path) -> Iterator[Snippet]:
    name = page.relative_to(ROOT).as_posix()
    lines = page.read_text("utf-8").splitlines()
    at, before = 0, 0
    while at < len(lines):
        if not (opening := _FENCE.match(lines[at])):
            at += 1
            continue
        fence, language, rest = opening.groups()
        end = at + 1
        while end < len(lines) and lines[end].strip() != fence:
            end += 1
        why = _NOT_RUN.findall("\n".join(lines[max(before, at - 4) : at]))
        title = _TITLE.search(rest)
        text = dedent("\n".join(lines[at + 1 : end])) + "\n"
        yield Snippet(name, at + 2, language, title[1] if title else "", text, why[-1] if why else "")
        at = before = end + 1


def commands(snippet: Snippet) -> Iterator[Shown]:
    lines = snippet.text.splitlines()
    at = 0
    while at < len(lines):
        if not lines[at].startswith("$ "):
            raise ValueError(f"{snippet.page}:{snippet.line + at}: a command begins with `$ `, not {lines[at]!r}")
        first, words = at, [lines[at][2:]]
        at += 1
        while words[-1].endswith("\\") and at < len(lines):
            words.append(lines[at].removeprefix("> "))
            at += 1
        output = []
        while at < len(lines) and not lines[at].startswith("$ "):
            output.append(lines[at])
            at += 1
        while output and not output[-1].strip():
            output.pop()
        yield Shown(snippet.line + first, "\n".join(words), output)


def is_like(shown: str, real: str) -> bool:
    """Whether the real thing is what was shown; … stands for anything in a line, and alone for any number of lines."""
    pattern = ""
    for line in shown.splitlines():
        within = r"[^\n]*".join(re.escape(part) for part in line.split("…"))
        pattern += r"(?:[^\n]*\n)*?" if line.strip() == "…" else within + r"\n"
    return re.fullmatch(pattern, real + "\n") is not None


def outside_of_fences(page: Path) -> Iterator[tuple[int, str]]:
    """Lines that look like commands, and that nobody would run."""
    inside = ""
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if fence := _FENCE.match(line):
            inside = "" if inside == fence[1] and not fence[2] else inside or fence[1]
        elif not inside and re.match(r"^ {4,}(?:\$ |callgate |\./dev |pip install |curl )", line):
            yield number, line.strip()
