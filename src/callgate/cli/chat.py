"""Talk to a model, with tools, and swap models in mid-conversation.

Without a model it is the last one you talked to, or else the best in reach. What you say is kept as you go, for you
alone. Lines that come through a pipe are taken one by one, as if they were typed.
"""

from __future__ import annotations

import argparse
import io
import os
import sys
from typing import TYPE_CHECKING

from callgate.cli import DONE, INTERRUPTED
from callgate.cli.tool_arguments import add_tool_arguments, tool_settings

if TYPE_CHECKING:
    from callgate.chat import ChatOptions, Describe
    from callgate.runtime import ModelReport
    from callgate.settings import Settings

EXAMPLES = """\
examples:
  callgate chat                                       the last model you used, or the best there is
  callgate chat qwen3:8b --tools tools.py             with the functions of a Python file; you are asked first
  callgate chat --mcp servers.json --allow 'time/*'   with the tools of MCP servers
  callgate chat --files .                             it may read the files here
  callgate chat --resume                              go on with the last conversation
  echo 'What is 17 times 23?' | callgate chat tiny    a line is a message, or a command such as /model NAME
  callgate chat --json tiny < lines.txt               events as JSON lines

In the chat, /help lists what else can be done.

exit status: 0 you left · 1 something failed, and a line said what · 2 wrong usage · 3 the model was refused
             4 the server could not be reached · 130 interrupted
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", nargs="?", metavar="MODEL", help="a model, as `callgate check` takes it")
    parser.add_argument(
        "--resume", nargs="?", const="", metavar="NAME", help="go on with a conversation; without a name, the last one"
    )
    parser.add_argument("--json", action="store_true", help="print events, one JSON object a line")
    parser.add_argument("--plain", action="store_true", help="plain lines, nothing drawn: for screen readers")
    parser.add_argument("--system", metavar="TEXT", help="a system message")
    add_tool_arguments(parser, tools_help="offer the functions of a Python file (repeatable)")
    parser.add_argument("--no-own-tools", action="store_true", help="without our own tools, a calculator and a clock")


def run(arguments: argparse.Namespace) -> int:
    if not (arguments.json or arguments.plain) and _is_terminal():
        from callgate.chat import run_in_terminal

        try:
            run_in_terminal(lambda: _loaded(arguments, on_terminal=True))
        except KeyboardInterrupt:
            return INTERRUPTED
        return DONE
    from callgate.chat import run_in_lines

    try:
        return run_in_lines(*_loaded(arguments))
    except KeyboardInterrupt:
        return INTERRUPTED


def _is_terminal() -> bool:
    """One that can be drawn on."""
    return bool(sys.stdin and sys.stdin.isatty() and sys.stdout.isatty() and os.environ.get("TERM") != "dumb")


def _loaded(arguments: argparse.Namespace, *, on_terminal: bool = False) -> tuple[ChatOptions, Settings, Describe]:
    """Only now, for on a terminal the prompt comes first. Raises: UsageError."""
    from callgate.chat import ChatOptions
    from callgate.cli.logs import begin_logs
    from callgate.settings import load_settings

    settings = load_settings(tool_settings(arguments))
    begin_logs(settings, verbose=arguments.verbose and not on_terminal)  # there it has to stay clear of the prompt
    options = ChatOptions(
        model=arguments.model,
        resume=arguments.resume,
        system=arguments.system,
        json=arguments.json,
        plain=arguments.plain,
        verbose=arguments.verbose,
        tools=tuple(arguments.tools),
        folder=arguments.files,
        own_tools=not arguments.no_own_tools,
        mcp=tuple(arguments.mcp),
        allow=tuple(arguments.allow),
        deny=tuple(arguments.deny),
        fallback=arguments.fallback,
    )
    return options, settings, described


class _Paper(io.StringIO):
    """Takes what is meant for the terminal."""

    def isatty(self) -> bool:
        return sys.stdout.isatty()


def described(report: ModelReport, *, why: bool) -> str:
    """As `callgate check` shows it."""
    from callgate.cli.check_view import show_evidence, show_table
    from callgate.cli.screen import Screen

    screen = Screen(paper := _Paper())
    if why:
        show_evidence(screen, report)
    else:
        show_table(screen, [report])
    return paper.getvalue().strip("\n")
