"""Which of the calls that were read are calls of tools that were offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from callgate.gate.recovery.announced import Candidate
from callgate.gate.recovery.cuts import call_spans
from callgate.gate.recovery.pieces import Found, Mark, Piece, Text
from callgate.gate.recovery.said import Said
from callgate.gate.recovery.typed import typed
from callgate.tools import Names

PREFIXES = ("functions.", "")


class Offers:
    """The offered tools; without `names`, everything is one."""

    def __init__(self, names: Names | None) -> None:
        self.names = names
        self._schemas: dict[str, Mapping[str, Any]] = {}
        self.spellings: tuple[str, ...] = ()
        if names is not None:
            self._schemas = {tool.name: tool.parameters for tool in names.tools}
            self.spellings = tuple(prefix + tool.name for tool in names.tools for prefix in PREFIXES)

    def could_begin(self, word: str) -> bool:
        """Whether a tool's name can begin so."""
        return self.names is None or any(name.startswith(word) for name in self.spellings)

    def is_name(self, word: str) -> bool:
        return self.names is None or word in self.spellings

    def has_parameters(self, said: Said) -> bool:
        """Whether this sets parameters of the tool and no others, as code with a function of that name rarely does."""
        if self.names is None:
            return True
        schema = self._schemas.get(said.name.removeprefix(PREFIXES[0]), {})
        return bool(said.arguments) and said.arguments.keys() <= schema.get("properties", {}).keys()

    def knows_all(self, candidate: Candidate) -> bool:
        return all(self._found(said, candidate) for said in candidate.calls)

    def found(self, candidate: Candidate, raw: str) -> list[Piece]:
        """What `raw` consists of: calls of offered tools, and as text those of others; nothing, if no call counts.

        Where only its shape says that it is a call, one of an unknown tool says that it is none.
        """
        calls = [self._found(said, candidate) for said in candidate.calls]
        if not any(calls) or not (candidate.announced or all(calls)):
            return []
        spans = call_spans(raw, [said.name for said in candidate.calls]) if len(calls) > 1 else [(0, len(raw))]
        return _cut(calls, raw, spans) if spans else _uncut(calls, raw)

    def _found(self, said: Said, candidate: Candidate) -> Found | None:
        if self.names is None:
            return Found(said.name, typed(said.arguments, said.texts, None), "", candidate.format)
        resolution = self.names.resolve(said.name, said.arguments)
        if resolution is None or not isinstance(resolution.arguments, Mapping):
            return None
        schema = self._schemas.get(self.names.sent(resolution.name), {})
        arguments = typed(resolution.arguments, said.texts, schema)
        if candidate.strict:
            arguments = {key: value for key, value in arguments.items() if key in schema.get("properties", {})}
            if not arguments.keys() >= set(schema.get("required", ())):
                return None
        return Found(resolution.name, arguments, "", candidate.format, resolution.repairs)


def _cut(calls: Sequence[Found | None], raw: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    for call, (start, end), stop in zip(calls, spans, [*(start for start, _ in spans[1:]), len(raw)], strict=True):
        if call is not None:
            pieces.append(msgspec.structs.replace(call, raw=raw[at:stop], sent=raw[start:end]))
        else:
            pieces += [Mark(raw[at:start]), Text(raw[start:end]), Mark(raw[end:stop])]
        at = stop
    return [piece for piece in pieces if piece.raw or isinstance(piece, Found)]


def _uncut(calls: Sequence[Found | None], raw: str) -> list[Piece]:
    known = [msgspec.structs.replace(call, sent=raw) for call in calls if call is not None]
    if len(known) < len(calls):
        return [*known, Text(raw)]
    return [msgspec.structs.replace(known[0], raw=raw), *known[1:]]
