"""The Python of a page, as one program that looks at what it shows: `expression  # → value`."""

from __future__ import annotations

import ast
import io
import tokenize
from collections.abc import Iterable

from tests.docs.snippets import ROOT, Snippet

_LOOK = f"""\
import sys
sys.path[:0] = [{str(ROOT)!r}, "."]
from tests.docs.snippets import is_like

def _looked(value, shown, where):
    real = [text for text in (repr(value), str(value))]
    assert any(is_like(shown, each) for each in real), f"{{where}}: it is {{real[0]}}, not {{shown}}"
"""


def program(snippets: Iterable[Snippet]) -> str:
    """Its lines have the numbers that they have in the page, so that errors lead there."""
    parts = [f"exec(compile({_looking(each)!r}, {each.page!r}, 'exec'), globals())" for each in snippets]
    return "\n".join([_LOOK, *parts]) + "\n"


def _looking(snippet: Snippet) -> str:
    """The same text, whose expressions with an arrow behind them are looked at."""
    lines = snippet.text.splitlines()
    arrows = {
        token.start[0]: token.string.partition("→")[2].strip()
        for token in tokenize.generate_tokens(io.StringIO(snippet.text).readline)
        if token.type == tokenize.COMMENT and token.string.lstrip("# ").startswith("→")
    }
    for node in ast.walk(ast.parse(snippet.text)):
        if isinstance(node, ast.Expr) and node.end_lineno in arrows:
            shown = arrows.pop(node.end_lineno)
            first, last = node.lineno - 1, node.end_lineno - 1
            where = f"{snippet.page}:{snippet.line + last}"
            lines[last] = lines[last][: node.end_col_offset] + f"), {shown!r}, {where!r})"
            lines[first] = lines[first][: node.col_offset] + "_looked((" + lines[first][node.col_offset :]
    assert not arrows, f"{snippet.where}: an arrow stands behind what is no expression: {arrows}"
    return "\n" * (snippet.line - 1) + "\n".join(lines)
