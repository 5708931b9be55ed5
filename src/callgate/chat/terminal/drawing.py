"""What is drawn with rich: markdown, calls of tools, lines of the chat's own. Gives text with ANSI colours."""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markdown import Heading, Markdown
from rich.panel import Panel
from rich.text import Text

from callgate.chat.cleaning import cleaned, on_one_line, with_colours
from callgate.chat.words import seconds_of, shortened
from callgate.runtime import masked, shown_arguments
from callgate.vocabulary import ToolCall, ToolResult

NARROW = 50
"""Columns below which nothing is framed."""
WIDEST = 100
LONGEST_ARGUMENT = 200
SHORT = 60
MOST_LINES = 8
LONGEST_RESULT = 4000
_KINDS = {"note": "dim", "warning": "yellow", "swap": "cyan", "first": "cyan", "reply": "", "question": "bold"}


class _LeftHeading(Heading):
    """Not in the middle, and without a frame."""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        self.text.justify = "left"
        yield Text("")
        yield self.text


class _Markdown(Markdown):
    elements = {**Markdown.elements, "heading_open": _LeftHeading}  # noqa: RUF012


class Drawing:
    def __init__(self, columns: int, *, colours: bool) -> None:
        self.columns = columns
        framed = (sys.stdout.encoding or "").lower().startswith("utf")
        self._box = box.ROUNDED if framed else box.ASCII
        self._console = Console(
            file=io.StringIO(),
            width=columns,
            force_terminal=True,
            no_color=not colours,
            color_system="auto" if colours else None,
            legacy_windows=False,
            highlight=False,
            emoji=False,
            markup=False,
        )

    def _drawn(self, what: RenderableType, width: int | None = None) -> str:
        with self._console.capture() as capture:
            self._console.print(what, width=width)
        # Cleaned once more, for Markdown makes letters of what was none: `&#x202e;`.
        return "\n".join(line.rstrip() for line in with_colours(capture.get()).split("\n"))

    def markdown(self, text: str) -> str:
        """Without links that a terminal would follow: where they lead is shown."""
        width = min(self.columns, WIDEST)
        return self._drawn(_Markdown(text, hyperlinks=False, code_theme="ansi_dark"), width).strip("\n")

    def line(self, text: str, kind: str) -> str:
        """A line of the chat's own; long ones are broken."""
        return self._drawn(Text(cleaned(text), style=_KINDS.get(kind, "")), min(self.columns, WIDEST)).rstrip("\n")

    def error(self, message: str, hint: str | None) -> str:
        text = Text("error: ", style="bold red").append(Text(on_one_line(message), style="default"))
        if hint:
            text.append(f"\n{on_one_line(hint)}", style="dim")
        return self._drawn(text).rstrip("\n")

    def call(self, call: ToolCall, result: ToolResult) -> str:
        """A call and what came of it."""
        took = seconds_of(result.seconds) if result.seconds is not None else ""
        colour = "red" if result.is_error else "green"
        if self.columns < NARROW:
            said = Text(f"→ {on_one_line(call.name)} ", style="bold").append(
                on_one_line(shown_arguments(call, LONGEST_ARGUMENT)), style="dim"
            )
            said.append("\n← ", style=colour).append(_result_text(result))
            return self._drawn(said.append(f" ({took})", style="dim") if took else said).rstrip("\n")
        framed = Panel(
            Group(*_arguments(call), Text("→ ", style=colour).append(_result_text(result))),
            title=Text(f"{'✗' if result.is_error else '✓'} {on_one_line(call.name)}", style=f"bold {colour}"),
            title_align="left",
            subtitle=Text(took, style="dim") if took else None,
            subtitle_align="right",
            border_style="dim",
            box=self._box,
            expand=False,
        )
        return self._drawn(framed, min(self.columns, WIDEST)).rstrip("\n")

    def running(self, call: ToolCall, seconds: float, mark: str) -> str:
        """A call that isn't back yet."""
        arguments = on_one_line(shown_arguments(call, LONGEST_ARGUMENT))
        words = f"{mark} {on_one_line(call.name)} {arguments}"
        took = f" {seconds_of(seconds)}" if seconds >= 1 else ""
        room = max(10, self.columns - len(took) - 1)
        return self._drawn(Text(shortened(words, room)).append(took, style="dim")).rstrip("\n")

    def dim(self, text: str) -> str:
        return self._drawn(Text(cleaned(text), style="dim italic")).rstrip("\n")


def _arguments(call: ToolCall) -> list[Text]:
    """On one line where that is short, else a line for each."""
    if not isinstance(call.arguments, Mapping):
        return [Text(shortened(on_one_line(call.arguments), LONGEST_ARGUMENT), style="dim")]
    shown = []
    for name, value in masked(call.arguments).items():
        words = shortened(on_one_line(_as_words(value)), LONGEST_ARGUMENT)
        shown.append(Text(f"{on_one_line(str(name))}: ", style="cyan").append(words, style="default"))
    if not shown:
        return []
    together = Text("  ").join(shown)
    return [together] if len(together.plain) <= SHORT else shown[:MOST_LINES]


def _as_words(value: Any) -> str:
    if isinstance(value, str):
        return value
    import msgspec

    try:
        return msgspec.json.encode(value, enc_hook=str).decode()
    except (TypeError, ValueError, RecursionError):
        return "…"


def _result_text(result: ToolResult) -> Text:
    lines = cleaned(result.content[:LONGEST_RESULT]).strip().split("\n")
    more = len(lines) - MOST_LINES
    text = Text("\n".join(shortened(line.replace("\t", "    "), 500) for line in lines[:MOST_LINES]))
    if result.is_error:
        text.stylize("red")
    if more > 0 or len(result.content) > LONGEST_RESULT:
        text.append(f"\n… {len(result.content):,} characters in all", style="dim")
    if result.images:
        text.append(f"\n[{len(result.images)} pictures]", style="dim")
    return text if text.plain else Text("(nothing)", style="dim")
