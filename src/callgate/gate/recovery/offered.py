"""Which of the calls that were read are calls of tools that were offered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from callgate.gate.recovery.announced import Candidate
from callgate.gate.recovery.cuts import call_spans
from callgate.gate.recovery.pieces import Found, Mark, Piece, Text
from callgate.gate.recovery.said import Said
from callgate.gate.recovery.typed import Changed, typed, unwrapped
from callgate.tools import Names, escaped, malformed
from callgate.vocabulary import Repair

PREFIXES = ("functions.", "")
UNCLOSED = "missing-tag"
"""The rule by which a call was taken for whole though the tag that ends it is missing."""

_Read = tuple[Said, Found | None]


class Offers:
    """The offered tools; without `names`, everything is one. `mends`: whether arguments are made to fit."""

    def __init__(self, names: Names | None, *, mends: bool = True) -> None:
        self.names = names
        self._mends = mends
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
        each = list(zip(candidate.calls, calls, strict=True))
        spans = call_spans(raw, [said.name for said in candidate.calls]) if len(calls) > 1 else [(0, len(raw))]
        return _cut(each, raw, spans) if spans else _uncut(each, raw)

    def _found(self, said: Said, candidate: Candidate) -> Found | None:
        if self.names is None:
            arguments, repairs = typed(said.arguments, said.texts, None)
            return Found(said.name, arguments, "", candidate.format, repairs)
        resolution = self.names.resolve(said.name, said.arguments)
        if resolution is None or not isinstance(resolution.arguments, Mapping):
            return None
        schema = self._schemas.get(self.names.sent(resolution.name), {})
        arguments, repairs = typed(resolution.arguments, said.texts, schema, mends=self._mends)
        fitting, changes = unwrapped(arguments, schema)
        if candidate.strict:
            fitting, dropped = _without_strays(fitting, schema.get("properties", {}))
            if not fitting.keys() >= set(schema.get("required", ())):
                return None
            changes = (*changes, *dropped)
        if self._mends:
            arguments, repairs = fitting, (*repairs, *changes)
        return Found(resolution.name, arguments, "", candidate.format, (*resolution.repairs, *repairs))


def _without_strays(arguments: dict[str, Any], properties: Mapping[str, Any]) -> Changed:
    strays = {key: value for key, value in arguments.items() if key not in properties}
    fitting = {key: value for key, value in arguments.items() if key not in strays}
    return fitting, tuple(Repair(f"/{escaped(key)}", value, None, "stray-key") for key, value in strays.items())


def _cut(each: Sequence[_Read], raw: str, spans: Sequence[tuple[int, int]]) -> list[Piece]:
    pieces: list[Piece] = []
    at = 0
    stops = [*(start for start, _ in spans[1:]), len(raw)]
    for (said, call), (start, end), stop in zip(each, spans, stops, strict=True):
        if call is not None:
            pieces.append(_as_sent(said, call, raw[start:end], raw[at:stop]))
        else:
            pieces += [Mark(raw[at:start]), Text(raw[start:end]), Mark(raw[end:stop])]
        at = stop
    return [piece for piece in pieces if piece.raw or isinstance(piece, Found)]


def _uncut(each: Sequence[_Read], raw: str) -> list[Piece]:
    known = [_as_sent(said, call, raw) for said, call in each if call is not None]
    if len(known) < len(each):
        return [*known, Text(raw)]
    return [msgspec.structs.replace(known[0], raw=raw), *known[1:]]


def _as_sent(said: Said, call: Found, sent: str, raw: str = "") -> Found:
    """With what had to be overlooked to read it at all."""
    rules = [malformed(said.flaws)] if said.flaws else []
    rules += [UNCLOSED] if said.unclosed else []
    told = [Repair("", sent, said.arguments, rule) for rule in rules]
    return msgspec.structs.replace(call, raw=raw, sent=sent, repairs=(*told, *call.repairs))
