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
    "the filter safe, not at the end of what is printed": re.compile(
        r"^% .* \| \s* safe\b | ^\{ .* \| \s* safe\b (?! [\s)-]* $ ) | ^\{ .* [+] .* \| \s* safe\b",
        re.MULTILINE | re.VERBOSE,
    ),
    "the filter indent": re.compile(r"\|\s*indent\b"),
    "the filter attr": re.compile(r"\|\s*attr\b"),
    "the test sameas": re.compile(r"\bis\s+(?:not\s+)?sameas\b"),
    "the variable self": re.compile(r"(?<![.\w])self\b"),
}
_TOOLS = re.compile(r"\btools\b")
_LOOP_OVER_TOOLS = re.compile(r"\bin\s+tools\b(?!\s*[\w|])")
LOOP_OVER_NO_TOOLS = "a loop over tools that may be none"


_TRACES: Mapping[str, re.Pattern[str]] = {
    "safe": re.compile(r"\|\s*safe\b"),
    "indent": re.compile(r"\|\s*indent\b"),
    "attr": re.compile(r"\|\s*attr\b"),
    "sameas": re.compile(r"\bsameas\b"),
    "self": re.compile(r"\bself\b"),
    "raw": re.compile(r"\braw\b"),
}
"""A template without any of these needn't be taken apart: a plain search is a hundred times faster."""
_GUARDS = ("{% if tools", "{%- if tools", "{% if not tools", "{%- if not tools")


def first_difference(source: str) -> str | None:
    """The name of a construct in `source` on which the engines differ, if there is one."""
    loops_unguarded = "in tools" in source and not any(guard in source for guard in _GUARDS)
    if loops_unguarded or any(word in source and trace.search(source) for word, trace in _TRACES.items()):
        return _first_in(source)
    return None


def _first_in(source: str) -> str | None:
    blocks = (block for block in _BLOCK.finditer(source) if block["kind"])
    code = "\n".join(block["kind"] + _STRING_OR_NEWLINE.sub(_blank, block["code"]) for block in blocks)
    for name, pattern in _CONSTRUCTS.items():
        if pattern.search(code):
            return name
    loops = len(_LOOP_OVER_TOOLS.findall(code))
    if loops and loops == len(_TOOLS.findall(code)):
        return LOOP_OVER_NO_TOOLS
    return None


def _blank(found: re.Match[str]) -> str:
    return " " if found[0].isspace() else "''"
