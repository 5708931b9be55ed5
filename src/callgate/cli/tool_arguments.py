"""Options of every command that runs tools: where they come from, and which may run."""

from __future__ import annotations

import argparse


def add_tool_arguments(parser: argparse.ArgumentParser, *, tools_help: str) -> None:
    parser.add_argument("--tools", action="append", default=[], metavar="FILE", help=tools_help)
    parser.add_argument("--files", metavar="FOLDER", help="let it read the files below this folder")
    parser.add_argument(
        "--mcp",
        action="append",
        default=[],
        metavar="FILE",
        help="a file with `mcpServers`, whose tools are run (again)",
    )
    parser.add_argument(
        "--allow",
        action="append",
        default=[],
        metavar="GLOB",
        help="run these without asking: TOOL or SOURCE/TOOL (again)",
    )
    parser.add_argument(
        "--deny", action="append", default=[], metavar="GLOB", help="never run these, whatever else allows them (again)"
    )
    parser.add_argument("--max-turns", type=_count, metavar="N", help="how often it may call tools before it answers")
    parser.add_argument("--fallback", metavar="MODELS", help="who is asked if it fails: models, with commas")


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10_000:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 to 10,000")
    return int(text)
