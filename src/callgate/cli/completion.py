"""Lets your shell complete callgate's commands and options, models in reach, settings and files.

Printed is a script for your shell; it asks callgate for models when you press Tab behind a command that takes one.
"""

from __future__ import annotations

import argparse
import sys

from callgate.cli import COMMANDS, DONE, parser_of

SHELLS = ("bash", "zsh", "fish")

EXAMPLES = """\
examples:
  eval "$(callgate completion bash)"                  in ~/.bashrc
  source <(callgate completion zsh)                   in ~/.zshrc, behind compinit
  callgate completion fish > ~/.config/fish/completions/callgate.fish

exit status: 0 done · 2 wrong usage
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="the shell that the script is for")


def run(arguments: argparse.Namespace) -> int:
    from callgate.cli.command_tree import command_tree
    from callgate.cli.completion_scripts import script_for

    sys.stdout.write(script_for(arguments.shell, command_tree(parser_of(*COMMANDS))))
    return DONE
