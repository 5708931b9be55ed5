"""What callgate does, told as it happens: on standard error with --verbose, and in the file that `logging.file` names.

Above all it says why tools were on or off. Arguments of calls and secrets are in no message; of an error that nobody
expected only the kind is told, for its text may be anything.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callgate.runtime import ModelReport
    from callgate.settings import Settings
    from callgate.vocabulary import Evidence

_LOGGER = "callgate"


def add_verbose(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--verbose", action="store_true", help="say on standard error why tools are on or off, and more"
    )


@contextmanager
def logs(*, verbose: bool) -> Iterator[None]:
    """While it lasts, what happens is told as the settings say. What is wrong with them is for the command to tell."""
    from callgate.settings import load_settings
    from callgate.vocabulary import UsageError

    end = _nothing
    with suppress(UsageError):
        end = begin_logs(load_settings(), verbose=verbose)
    try:
        yield
    finally:
        end()


def begin_logs(settings: Settings, *, verbose: bool) -> Callable[[], None]:
    """From now on; gives what ends it. For a command that has no time for settings when it starts."""
    wanted = settings.logging
    if not verbose and wanted.file is None:
        return _nothing
    import logging

    from callgate.cli.log_handlers import LogFile, StandardError

    handlers: list[logging.Handler] = [StandardError()] if verbose else []
    if wanted.file:
        handlers.append(LogFile(os.path.abspath(os.path.expanduser(wanted.file))))
    logger = logging.getLogger(_LOGGER)
    logger.setLevel(wanted.level.upper())
    for handler in handlers:
        logger.addHandler(handler)

    def end() -> None:
        logger.setLevel(logging.NOTSET)
        for handler in handlers:
            logger.removeHandler(handler)
            handler.close()

    return end


def _nothing() -> None:
    pass


def log_reports(reports: Iterable[ModelReport]) -> None:
    """Why each model has tools or hasn't."""
    for report in reports:
        known = report.capabilities
        if known is None:
            _log("%r couldn't be looked at: %s", report.target, report.error)
            continue
        why = next((found for found, decides in report.evidence if decides and found.claim == "tools"), None)
        log_verdict(report.target, f"{known.tools}, a guess" if known.guess else known.tools, why)


def log_verdict(target: str, tools: str, why: Evidence | None) -> None:
    """Whether a model has tools, by what decides it."""
    because = f"{why.source} says so: {why.detail}" if why else "nothing that is known decides it"
    _log("%r: tools %s, because %s", target, tools, because)


def log_mode(model: str, mode: str, reason: str) -> None:
    """How tools would reach a model, and why."""
    _log("tools for %r: %s, because %s", model, mode, reason)


def _log(message: str, *words: object) -> None:
    if "logging" in sys.modules:  # which isn't loaded for a log that nobody wants
        import logging

        logging.getLogger(__name__).info(message, *words)
