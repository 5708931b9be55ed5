"""How `--help` is laid out: as wide as the terminal, and nothing broken in the middle of a word.

Help texts are written for wide screens: paragraphs, then lines that are indented (`  COMMAND   what it does`), then
`exit status: 0 … · 1 …`. On a narrow one paragraphs are filled anew, what a command does goes on the line below it, a
long command goes on behind a backslash, and the list of exit statuses is broken between two of them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator

WIDEST = 118
_BELOW = " " * 8
_BESIDE = " " * 20
"""Where a line stands that belongs to the command above it."""
_STATUSES = "exit status"


class HelpForm(argparse.RawDescriptionHelpFormatter):
    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return "\n".join(indent + line if line else "" for line in laid_out(text, min(width, WIDEST) - len(indent)))

    def _split_lines(self, text: str, width: int) -> list[str]:
        return _filled(" ".join(text.split()), width)


def laid_out(text: str, width: int) -> Iterator[str]:
    for number, block in enumerate(re.split(r"\n\s*\n", text.strip("\n"))):
        if number:
            yield ""
        lines = block.splitlines() or [""]
        if lines[0].startswith(_STATUSES):
            yield from _statuses(lines, width)
        else:
            yield from _lines(lines, width)


def _lines(lines: list[str], width: int) -> Iterator[str]:
    prose: list[str] = []
    for line in lines:
        if not line.startswith(" "):
            prose.append(line)
            if line.endswith(":"):  # a heading
                yield from _filled(" ".join(prose), width)
                prose = []
            continue
        yield from _filled(" ".join(prose), width)
        prose = []
        yield from _indented(line, width)
    yield from _filled(" ".join(prose), width)


def _indented(line: str, width: int) -> Iterator[str]:
    if len(line) <= width:
        yield line
        return
    if line.startswith(_BESIDE):
        yield from _filled(line.strip(), width, _BELOW)
        return
    command, *notes = re.split(r"(?<=\S) {2,}(?=\S)", line, maxsplit=1)
    yield from [command] if len(command) <= width else _continued(command, width)
    for note in notes:
        yield from _filled(note, width, _BELOW)


def _continued(command: str, width: int) -> list[str]:
    *lines, last = _filled(command, width - 2, "", " " * 6)
    return [*(f"{line} \\" for line in lines), last]


def _statuses(lines: list[str], width: int) -> Iterator[str]:
    head, _, first = lines[0].partition(": ")
    listed = re.split(r" · |\n +(?=\d+ )", "\n".join([first, *lines[1:]]))
    hanging = " " * (len(_STATUSES) + 2)
    line = f"{head}:"
    for at, status in enumerate(" ".join(each.split()) for each in listed):
        joined = f"{line} {'· ' if at else ''}{status}"
        if len(joined) <= width:
            line = joined
            continue
        if at:
            yield line
            joined = hanging + status
        *full, line = _filled(joined, width, "", hanging)
        yield from full
    yield line


def _filled(text: str, width: int, indent: str = "", hanging: str | None = None) -> list[str]:
    import textwrap  # only where help is shown

    return textwrap.wrap(
        text,
        width,
        initial_indent=indent,
        subsequent_indent=indent if hanging is None else hanging,
        break_long_words=False,
        break_on_hyphens=False,
    )
