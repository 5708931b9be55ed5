"""The command line: one file per command, loaded when it is used."""

from __future__ import annotations

import io
import os
import sys
from importlib import import_module

from callgate import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    import argparse
    from types import ModuleType

    from callgate.vocabulary import CallgateError

COMMANDS = {
    "demo": "a tour of a minute: a small model calls real tools, and you see what the gate does",
    "check": "what can this model really do, and how do we know?",
    "ask": "one question, answered; events as JSON lines for scripts",
    "chat": "talk to it, with tools, and swap models in mid-conversation",
    "serve": "one endpoint for OpenAI's, Anthropic's and Ollama's clients, with tools made to fit each model",
    "keys": "who may ask the servers that share a Redis",
    "models": "every model in reach, side by side",
    "validate": "prove it: a suite of real tool-calling turns",
    "validate-model": "the same for one model, with --modelId and --fullSuite",
    "survey": "every model in reach: what is said of it, and what it really does",
    "pull": "fetch a model from the hub, if it can call tools",
    "quarantine": "models that were fetched and found wanting",
    "render": "what the model would really get: mode, request, prompt",
    "config": "settings: what they are, where they come from, and how to change them",
    "doctor": "what is here, what is wrong, and what to do about it",
    "recover": "the tool calls in an answer that came as text",
    "repair": "arguments that fit their schema",
    "completion": "let your shell complete commands, options, models and settings",
}
"""Each is a module of this room, with `add_arguments(parser)`, `run(arguments) -> exit status` and `EXAMPLES`."""

LOGGED = frozenset(
    {"ask", "chat", "check", "demo", "models", "pull", "render", "serve", "survey", "validate", "validate-model"}
)
"""Those that have to do with models, and tell with --verbose what they do."""

_FIRST_STEPS = """\
first steps:
  callgate demo                         see it work, in a minute and without a network
  callgate models                       which models are in reach, and which of them call tools
  callgate check --why qwen3:8b         … and how we know
  callgate chat                         talk to one
  callgate serve                        an endpoint for your programs
  callgate doctor                       if something is wrong

`callgate COMMAND --help` tells more, with examples.

exit status, of every command: 0 done · 1 something failed · 2 wrong usage · 3 a requirement was not met
                               4 a server could not be reached · 130 interrupted
"""

_VERSION = f"callgate {__version__}"
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


def parser_of(*loaded: str) -> argparse.ArgumentParser:
    """What the command line takes; only the commands in `loaded` know their arguments, for that takes time."""
    import argparse

    from callgate.cli.help_form import HelpForm

    parser = argparse.ArgumentParser(
        prog="callgate",
        description="callgate makes tool calling work on local models.",
        epilog=_FIRST_STEPS,
        formatter_class=HelpForm,
    )
    parser.add_argument("--version", action="version", version=_VERSION, help="print it and stop")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, title="commands")
    for name, summary in COMMANDS.items():
        command = commands.add_parser(name, help=summary, formatter_class=HelpForm)
        if name in loaded:
            module = _module(name)
            command.description = module.__doc__
            command.epilog = module.EXAMPLES
            module.add_arguments(command)
            if name in LOGGED:
                from callgate.cli.logs import add_verbose

                add_verbose(command)
    return parser


def _run(words: list[str]) -> int:
    if words == ["--version"]:  # scripts ask often, and no parser is needed for it
        print(_VERSION)
        return DONE
    chosen = next((word for word in words if not word.startswith("-")), "")
    parser = parser_of(chosen)
    if not words:
        parser.print_help(sys.stderr)
        return USAGE
    if chosen and chosen not in COMMANDS:
        parser.error(_no_such(chosen))
    arguments, rest = parser.parse_known_args(words)
    _put_last_word(parser, arguments, rest)
    from callgate.vocabulary import CallgateError

    _show_notes()
    try:
        status = _logged(arguments)
        sys.stdout.flush()
    except CallgateError as error:
        from callgate.cli.screen import show_error

        show_error(error, as_json=getattr(arguments, "json", False))
        return status_of(error)
    return status


def _no_such(command: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(command, COMMANDS, n=1)
    hint = f"did you mean {near[0]!r}?" if near else "`callgate --help` lists them"
    return f"there is no command {command[:40]!r}; {hint}"


def _module(command: str) -> ModuleType:
    return import_module(f"callgate.cli.{command.replace('-', '_')}")


def _logged(arguments: argparse.Namespace) -> int:
    run = _module(arguments.command).run
    if arguments.command not in LOGGED or arguments.command == "chat":  # which begins it when its prompt is drawn
        return int(run(arguments))
    from callgate.cli.logs import logs

    with logs(verbose=arguments.verbose):
        return int(run(arguments))


def _show_notes() -> None:
    """What there is to tell about the files that we keep."""
    from callgate.registry import told_to

    def show(message: str) -> None:
        from callgate.cli.screen import Screen, printable

        screen = Screen(sys.stderr)
        screen.line(screen.styled("note: ", "doubt") + printable(message))

    told_to(show)


def _put_last_word(parser: argparse.ArgumentParser, arguments: argparse.Namespace, rest: list[str]) -> None:
    """argparse doesn't take an optional last word that stands behind options, as in `ask MODEL --system S TEXT`."""
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(arguments, "text", None) == "":
        arguments.text = rest[0]
    elif rest:
        parser.error(f"unrecognized arguments: {' '.join(rest)}")


def status_of(error: CallgateError) -> int:
    """The exit status that tells what kind of error it was."""
    from callgate.vocabulary import ModelRejected, NotFound, Unreachable, UsageError

    match error:
        case ModelRejected():
            return UNMET
        case UsageError() if not isinstance(error, NotFound):
            return USAGE
        case Unreachable():
            return UNREACHABLE
    return FAILED
