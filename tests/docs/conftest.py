"""Tells at the end how much of the documentation was run, and why the rest wasn't."""

from __future__ import annotations

from collections import Counter

import pytest

RUN: Counter[str] = Counter()
NOT_RUN: list[tuple[str, str]] = []


@pytest.fixture(scope="session")
def tally() -> tuple[Counter[str], list[tuple[str, str]]]:
    return RUN, NOT_RUN


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not RUN and not NOT_RUN:
        return
    kinds = ", ".join(f"{count} {kind}" for kind, count in RUN.most_common())
    terminalreporter.write_line(f"documentation: {sum(RUN.values())} snippets run ({kinds}), {len(NOT_RUN)} not:")
    for where, why in NOT_RUN:
        terminalreporter.write_line(f"  {where}: {why}")
