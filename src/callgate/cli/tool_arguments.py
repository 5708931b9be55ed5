"""Options of every command that runs tools: where they come from, and which may run."""

from __future__ import annotations

import argparse

from callgate.settings import TABLE


def add_tool_arguments(parser: argparse.ArgumentParser, *, tools_help: str) -> None:
    parser.add_argument("--tools", action="append", default=[], metavar="FILE", help=tools_help)
    parser.add_argument("--files", metavar="FOLDER", help="let it read the files below this folder")
    parser.add_argument(
        "--mcp",
        action="append",
        default=[],
        metavar="FILE",
        help="a file with `mcpServers`, whose tools are run (repeatable)",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="GLOB",
        help="run these without asking: TOOL or SOURCE/TOOL (repeatable)",
    )
    parser.add_argument(
        "--deny", action="append", default=[], metavar="GLOB", help="never run these, even if allowed (repeatable)"
    )
    parser.add_argument(
        "--max-turns",
        type=_count,
        metavar="N",
        help=f"rounds of calls before it has to answer ({TABLE['tools.max_turns'].default})",
    )
    parser.add_argument(
        "--tool-limit", type=_count, metavar="N", help="offer at most N tools: those that fit the question best"
    )
    parser.add_argument("--fallback", metavar="MODELS", help="models to ask if this one fails, with commas")


def tool_settings(arguments: argparse.Namespace) -> dict[str, object]:
    """What they override."""
    overrides: dict[str, object] = {}
    if arguments.max_turns is not None:
        overrides["tools.max_turns"] = arguments.max_turns
    if arguments.tool_limit is not None:
        overrides |= {"tools.limit": arguments.tool_limit, "tools.limit_per_model": None}
    return overrides


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 10,000")
    return int(text)
