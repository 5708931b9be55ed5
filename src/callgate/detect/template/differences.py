"""What minijinja renders otherwise than Jinja2, by name: a template with one of these goes to Jinja2.

Where minijinja *fails* on something that Jinja2 takes, its engine notices by itself. Here are the constructs on which
both give a text, and not the same one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_BLOCK = re.compile(
    r"""\{\#.*?\#\}                             # a comment
      | \{(?P<kind>[{%]) (?P<code> (?: "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+' | (?![%}]\}) . )*+ )""",
    re.DOTALL | re.VERBOSE,
)
_STRING_OR_NEWLINE = re.compile(r"""\s*\n\s*|"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+'""", re.DOTALL)

_CONSTRUCTS: Mapping[str, re.Pattern[str]] = {
    "a raw block": re.compile(r"^%\W*raw\b", re.MULTILINE),
    "the filter indent": re.compile(r"\|\s*indent\b"),
    "the filter attr": re.compile(r"\|\s*attr\b"),
    "the test sameas": re.compile(r"\bis\s+(?:not\s+)?sameas\b"),
    "the variable self": re.compile(r"(?<![.\w])self\b"),
}
_MAY_BE_NONE = ("tools", "documents")
_MENTION = {name: re.compile(rf"\b{name}\b") for name in _MAY_BE_NONE}
_LOOP = {name: re.compile(rf"\bin\s+{name}\b(?!\s*[\w|])") for name in _MAY_BE_NONE}
_SAFE = re.compile(r"\|\s*safe\b")
_SET = re.compile(r"%\W*set\s+([\w.]+)\s*=")
ADDED_SAFE_TEXT = "text marked safe that is added to other text"
LOOP_OVER_NONE = "a loop over what may be none"


_TRACES: Mapping[str, re.Pattern[str]] = {
    "safe": _SAFE,
    "indent": re.compile(r"\|\s*indent\b"),
    "attr": re.compile(r"\|\s*attr\b"),
    "sameas": re.compile(r"\bsameas\b"),
    "self": re.compile(r"\bself\b"),
    "raw": re.compile(r"\braw\b"),
}
"""A template without any of these needn't be taken apart: a plain search is a hundred times faster."""


def first_difference(source: str) -> str | None:
    """The name of a construct in `source` on which the engines differ, if there is one."""
    if any(_may_loop_over_none(source, name) for name in _MAY_BE_NONE) or any(
        word in source and trace.search(source) for word, trace in _TRACES.items()
    ):
        return _first_in(source)
    return None


def _may_loop_over_none(source: str, name: str) -> bool:
    guards = (f"{block} {question}{name}" for block in ("{%", "{%-") for question in ("if ", "if not "))
    return f"in {name}" in source and not any(guard in source for guard in guards)


def _first_in(source: str) -> str | None:
    blocks = (block for block in _BLOCK.finditer(source) if block["kind"])
    code = "\n".join(block["kind"] + _STRING_OR_NEWLINE.sub(_blank, block["code"]) for block in blocks)
    for name, pattern in _CONSTRUCTS.items():
        if pattern.search(code):
            return name
    if _adds_safe_text(code):
        return ADDED_SAFE_TEXT
    for name in _MAY_BE_NONE:
        loops = len(_LOOP[name].findall(code))
        if loops and loops == len(_MENTION[name].findall(code)):  # it never asks whether there are any
            return LOOP_OVER_NONE
    return None


def _adds_safe_text(code: str) -> bool:
    """Jinja2 escapes what is added to text marked safe; minijinja doesn't."""
    for block in code.split("\n"):
        if _SAFE.search(block):
            variable = _SET.match(block)
            if "+" in block or not (variable or block.startswith("{")):
                return True
            if variable and re.search(rf"\+\s*{re.escape(variable[1])}\b|\b{re.escape(variable[1])}\s*\+", code):
                return True
    return False


def _blank(found: re.Match[str]) -> str:
    return " " if found[0].isspace() else "''"
