"""How a name is spelled, and what of it carries no meaning: case, separators, quotes, a wrapper in front."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

MOST_CHARACTERS = 512
"""Of a name that is worth a closer look. Longer ones are compared as they are."""
MOST_PARTS = 8

_WRAPPERS = frozenset(
    {
        "functions", "function", "functioncall", "tools", "tool", "toolcall", "tooluse", "multitooluse",
        "defaultapi", "api", "mcp",
    }
)  # fmt: skip
"""What models put in front of any tool: these say nothing about which one is meant. Anything else does."""

_DECORATION = " \t\r\n\v\f\"'`*“”‘’«»"
_EMPTY_CALL = re.compile(r"\(\s*\)$")
_LEAKED_TOKEN = "<|"  # noqa: S105 - of a vocabulary
_SEPARATORS = re.compile(r"[\s_\-./:\\‐–—]+")
_SEPARATORS_KEPT = re.compile(r"(?<=\d)[\s_\-./:\\‐–—]+(?=\d)")
_BOUNDARY = re.compile(r"(?:[./:\\]|_{2,}|->)+")
_NUMBER_OF_A_CALL = re.compile(r":\d{1,4}$")


def undecorated(said: str) -> str:
    """`said` without quotes around it, `()` behind it, or a special token that leaked into it."""
    name = said.partition(_LEAKED_TOKEN)[0]
    while True:
        bare = _EMPTY_CALL.sub("", name.strip(_DECORATION))
        if bare == name:
            return bare
        name = bare


def folded(name: str) -> str:
    """What is left when case and separators don't count, nor what is around the name."""
    return without_separators(normalize("NFKC", undecorated(name)).casefold())


def without_separators(text: str) -> str:
    """The text without those that say nothing; between digits they do: `1_2` isn't `12`."""
    return _SEPARATORS.sub("", _SEPARATORS_KEPT.sub("\0", text)).replace("\0", "_")


def without_wrappers(name: str) -> Iterator[str]:
    """The name, and what follows each wrapper in front of it: `functions.add` is `add`, too."""
    yield name
    for _ in range(MOST_PARTS):
        boundary = _BOUNDARY.search(name)
        if boundary is None or folded(name[: boundary.start()]) not in _WRAPPERS:
            return
        name = name[boundary.end() :]
        yield name
        if (unnumbered := _NUMBER_OF_A_CALL.sub("", name)) != name:  # Kimi's `functions.add:0`
            yield unnumbered


def splits(name: str) -> list[tuple[str, str]]:
    """Each way to read the name as a namespace and what is in it; none where it has too many parts."""
    boundaries = list(_BOUNDARY.finditer(name))
    if len(boundaries) >= MOST_PARTS:
        return []
    halves = ((name[: boundary.start()], name[boundary.end() :]) for boundary in boundaries)
    return [(space, inner) for space, inner in halves if space and inner]
