"""The command line: one file per command, loaded when it is used."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

from callgate import __version__

COMMANDS = {
    "check": "what can this model really do, and how do we know?",
    "ask": "one question, answered; events as JSON lines for scripts",
    "models": "every model in reach, side by side",
}
"""Each is a module of this room, with `add_arguments(parser)`, `run(arguments) -> exit status` and `EXAMPLES`."""

DONE, FAILED, USAGE, UNMET, UNREACHABLE, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(argv: list[str] | None = None) -> int:
    """Runs one command and gives its exit status."""
    words = sys.argv[1:] if argv is None else argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # an output that knows few letters is no reason to fail
    try:
        return _run(words)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # whoever read our output has gone
        _discard_output()
        return DONE
    except OSError as error:
        _discard_output()
        print(f"error: the output can't be written: {error.strerror}", file=sys.stderr)
        return FAILED


def _discard_output() -> None:
    """So that the interpreter's last flush goes somewhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(words: list[str]) -> int:
    import argparse

    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(
        prog="callgate",
        description="callgate makes tool calling work on local models.",
        epilog="`callgate COMMAND --help` tells more, with examples.",
        formatter_class=form,
    )
    parser.add_argument("--version", action="version", version=f"callgate {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    chosen = next((word for word in words if not word.startswith("-")), None)
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=form)
        if name == chosen:
            module = import_module(f"callgate.cli.{name}")
            command.description = module.__doc__
            command.epilog = module.EXAMPLES
            module.add_arguments(command)
    arguments = parser.parse_args(words)
    from callgate.vocabulary import CallgateError, UsageError

    try:
        status: int = import_module(f"callgate.cli.{arguments.command}").run(arguments)
        sys.stdout.flush()
    except CallgateError as error:
        from callgate.cli.screen import show_error

        show_error(error, as_json=getattr(arguments, "json", False))
        return USAGE if isinstance(error, UsageError) else FAILED
    return status
