"""What the command line takes, as records: for shells that complete it, and for the reference."""

# argparse tells nobody what it was told, but for these.
# ruff: noqa: SLF001

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping

import msgspec


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """An option, or what stands without one."""

    flags: tuple[str, ...]
    """None, if it stands without one."""
    metavar: str
    """What it takes; empty: nothing."""
    help: str
    choices: tuple[str, ...] = ()
    group: str
    repeats: bool
    required: bool


class Command(msgspec.Struct, frozen=True, kw_only=True):
    words: tuple[str, ...]
    """Such as `models set`; none of the command line itself."""
    summary: str
    about: str
    closing: str
    """Examples and exit status, as `--help` shows them."""
    arguments: tuple[Argument, ...]
    below: tuple[Command, ...] = ()
    needs_below: bool = False
    """It does nothing by itself."""

    @property
    def options(self) -> tuple[Argument, ...]:
        return tuple(each for each in self.arguments if each.flags)

    @property
    def places(self) -> tuple[Argument, ...]:
        """What stands without an option."""
        return tuple(each for each in self.arguments if not each.flags)

    def all(self) -> Iterator[Command]:
        """It, and those below it."""
        yield self
        for command in self.below:
            yield from command.all()


def command_tree(parser: argparse.ArgumentParser, words: tuple[str, ...] = (), summary: str = "") -> Command:
    arguments: list[Argument] = []
    below: list[Command] = []
    needs_below = False
    for group in parser._action_groups:
        for action in group._group_actions:
            if isinstance(action, argparse._SubParsersAction):
                needs_below = action.required
                summaries = {choice.dest: choice.help or "" for choice in action._choices_actions}
                parsers: Mapping[str, argparse.ArgumentParser] = action.choices
                below += [command_tree(each, (*words, name), summaries[name]) for name, each in parsers.items()]
            elif action.help is not argparse.SUPPRESS:
                arguments.append(_argument(action, group.title or "", parser))
    return Command(
        words=words,
        summary=summary,
        about=(parser.description or "").strip(),
        closing=(parser.epilog or "").strip(),
        arguments=tuple(arguments),
        below=tuple(below),
        needs_below=needs_below,
    )


def _argument(action: argparse.Action, group: str, parser: argparse.ArgumentParser) -> Argument:
    takes_nothing = action.nargs == 0
    choices = tuple(map(str, action.choices or ()))
    listed = f"{{{','.join(choices)}}}" if choices else action.dest.upper()
    named = action.metavar if isinstance(action.metavar, str) else listed
    help_ = parser._get_formatter()._expand_help(action) if action.help else ""
    return Argument(
        flags=tuple(action.option_strings),
        metavar="" if takes_nothing else f"[{named}]" if action.nargs == "?" and action.option_strings else named,
        help=help_,
        choices=choices,
        group=group,
        repeats=isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+"),
        required=action.required,
    )
