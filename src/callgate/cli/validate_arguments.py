"""What `callgate validate` and its kin take, and the reports that they write."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from callgate.validate import Comparison, Mode, Run, html_page, junit, modes_of
from callgate.vocabulary import UsageError


def add_report_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="one JSON object a line: each trial, then a summary")
    parser.add_argument("--junit", metavar="FILE", help="write the result as JUnit XML")
    parser.add_argument("--html", metavar="FILE", help="write a page with plots")


def require_writable(arguments: argparse.Namespace) -> None:
    """Before an hour's work rather than after it. Raises: UsageError, if a report can't be written where it should."""
    for path in filter(None, (arguments.junit, arguments.html)):
        is_new = not os.path.lexists(path)
        try:
            with open(path, "ab"):
                pass
            if is_new:
                os.unlink(path)
        except OSError as error:
            raise UsageError(f"{path!r} can't be written: {error.strerror}", hint="nothing was tried yet") from None


def write_reports(
    arguments: argparse.Namespace,
    runs: Sequence[Run],
    comparison: Comparison | None = None,
    *,
    survey: Mapping[str, Any] | None = None,
) -> None:
    """Raises: UsageError, if a file can't be written."""
    if arguments.junit:
        _write(arguments.junit, junit(runs))
    if arguments.html:
        _write(arguments.html, html_page(runs, comparison, survey=survey))


def _write(path: str, text: str) -> None:
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise UsageError(f"{path!r} can't be written: {error.strerror}") from None


def modes_named(text: str) -> tuple[Mode, ...]:
    names = names_in(text)
    try:
        return modes_of(get_args(Mode) if names == ["all"] else names)
    except UsageError as error:
        raise argparse.ArgumentTypeError(f"{error.message}; {error.hint}") from None


def names_in(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def count(text: str) -> int:
    number = int(text)
    if not 0 < number <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 1 to 10,000")
    return number


def share(text: str) -> float:
    part = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
    if not 0 <= part <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not from 0 to 1")
    return part
