"""Markup that can't be broken out of: whatever is a plain text gets escaped, and only what was made here does not."""

from __future__ import annotations

from html import escape

LONGEST_NAME = 200
_VOID = frozenset({"meta", "br", "line", "circle", "rect", "path"})
_KEPT = "\n\t\u200c\u200d"
"""Line ends and tabs; and what joins letters or keeps them apart, without which some languages can't be written."""


class Markup(str):
    """What is safe to stand in a page as it is."""

    __slots__ = ()


Child = Markup | str | int | float | None


def readable(text: str) -> str:
    """`text` with what can't be seen spelt out: nothing in it hides, or turns the direction of what follows."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in _KEPT or letter.isspace() else f"\\u{ord(letter):04x}"
        for letter in text
    )


def escaped(child: Child) -> str:
    if child is None:
        return ""
    return str(child) if isinstance(child, Markup) else escape(readable(str(child)), quote=True)


def together(*children: Child) -> Markup:
    return Markup("".join(map(escaped, children)))


def tag(element: str, /, *children: Child, **attributes: Child | bool) -> Markup:
    """An element. A trailing underscore of an attribute's name is dropped, one within it is a hyphen."""
    written = []
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = key.rstrip("_").replace("_", "-")  # noqa: PLW2901
        written.append(f" {key}" if value is True else f' {key}="{escaped(value)}"')
    start = f"<{element}{''.join(written)}"
    if element in _VOID:
        return Markup(f"{start}/>")
    return Markup(f"{start}>{together(*children)}</{element}>")


def named(text: str, longest: int = LONGEST_NAME) -> Markup:
    """A stranger's word: its direction stays its own, and it doesn't fill the page."""
    return tag("bdi", text if len(text) <= longest else f"{text[:longest]}…")
