"""Which of the calls that were read are calls of tools that were offered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.gate.recovery.announced import Candidate
from callgate.gate.recovery.pieces import Found
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
        return len(self.found(candidate, "")) == len(candidate.calls)

    def found(self, candidate: Candidate, raw: str) -> list[Found]:
        """The calls of offered tools among those that were read; the first has all the text."""
        found: list[Found] = []
        for said in candidate.calls:
            call = self._found(said, candidate, "" if found else raw)
            if call is not None:
                found.append(call)
        return found

    def _found(self, said: Said, candidate: Candidate, raw: str) -> Found | None:
        if self.names is None:
            return Found(said.name, typed(said.arguments, said.texts, None), raw, candidate.format)
        resolution = self.names.resolve(said.name, said.arguments)
        if resolution is None or not isinstance(resolution.arguments, Mapping):
            return None
        schema = self._schemas.get(self.names.sent(resolution.name), {})
        arguments = typed(resolution.arguments, said.texts, schema)
        if candidate.strict:
            arguments = {key: value for key, value in arguments.items() if key in schema.get("properties", {})}
            if not arguments.keys() >= set(schema.get("required", ())):
                return None
        return Found(resolution.name, arguments, raw, candidate.format, resolution.repairs)
