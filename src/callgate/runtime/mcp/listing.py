"""What a server says of its tools, weighed before anybody relies on it: one tool that is no good costs no other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.tools import read_tools
from callgate.vocabulary import CallgateError, Tool

MOST_TOOLS = 1_000
"""Of one server. No model can read as many."""
LONGEST_DESCRIPTION = 16_000
_LONGEST_NAME = 128
_MOST_NOTICES = 20


class Listing:
    """The tools of a server, page by page, and what had to be left out."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._tools: dict[str, Tool] = {}
        self._notices: list[str] = []
        self._left_out = 0

    @property
    def tools(self) -> tuple[Tool, ...]:
        return tuple(self._tools.values())

    @property
    def notices(self) -> tuple[str, ...]:
        more = self._left_out - len(self._notices)
        return (
            (*self._notices, f"… and {more:,} more tools of {self._server!r} are left out")
            if more > 0
            else (*self._notices,)
        )

    @property
    def is_full(self) -> bool:
        return len(self._tools) >= MOST_TOOLS

    def add(self, entries: object) -> None:
        """A page of tools, as they came."""
        if not isinstance(entries, list):
            self.leave_out(f"what {self._server!r} lists as its tools is no list")
            return
        for number, entry in enumerate(entries):
            if self.is_full:
                rest = len(entries) - number
                self.leave_out(f"{self._server!r} has more than {MOST_TOOLS:,} tools: the others are left out", rest)
                return
            self._take(entry)

    def leave_out(self, notice: str, tools: int = 1) -> None:
        self._left_out += 1 if len(self._notices) < _MOST_NOTICES else tools
        if len(self._notices) < _MOST_NOTICES:
            self._notices.append(notice)

    def _take(self, entry: object) -> None:
        if not isinstance(entry, Mapping):
            return self.leave_out(f"a tool of {self._server!r} is left out: it is no object")
        name = entry.get("name")
        if not isinstance(name, str) or not name.strip() or len(name) > _LONGEST_NAME or not name.isprintable():
            shown = repr(name[:60]) if isinstance(name, str) else "without a name"
            return self.leave_out(f"the tool {shown} of {self._server!r} is left out: its name can't be used")
        if name in self._tools:
            return self.leave_out(f"a second tool {name!r} of {self._server!r} is left out")
        schema = entry.get("inputSchema")
        if not isinstance(schema, Mapping):
            return self.leave_out(f"the tool {name!r} of {self._server!r} is left out: it has no schema")
        try:
            (tool,) = read_tools([{"name": name, "description": _description(entry), "inputSchema": schema}])
        except CallgateError as error:
            return self.leave_out(f"the tool {name!r} of {self._server!r} is left out: {_plain(error.message)}")
        self._tools[name] = tool
        return None


def _description(entry: Mapping[str, Any]) -> str:
    annotations = entry.get("annotations")
    titles = (entry.get("title"), annotations.get("title") if isinstance(annotations, Mapping) else None)
    said = next((text for text in (entry.get("description"), *titles) if isinstance(text, str) and text.strip()), "")
    text = "".join(c if c.isprintable() or c in "\n\t" else " " for c in said[: LONGEST_DESCRIPTION + 1])
    return text if len(text) <= LONGEST_DESCRIPTION else f"{text[:LONGEST_DESCRIPTION]}…"


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text[:300])
