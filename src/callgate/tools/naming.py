"""Which tool is meant: the names that a backend gets for tools, and the way back from what a model says."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from callgate.tools.kept import Kept
from callgate.tools.offering import name_of_two
from callgate.tools.parameters import fits, unset_choices
from callgate.tools.plain_values import escaped
from callgate.tools.sent_names import name_to_send, names_to_send
from callgate.tools.spelling import MOST_CHARACTERS, folded, splits, undecorated, without_wrappers
from callgate.vocabulary import Means, Repair, Tool, UsageError

Arguments = Mapping[str, Any] | str
_NOTHING: Mapping[str, Any] = {}
_renamed_before: Kept[tuple[Tool, ...]] = Kept()
_named_before: Kept[Names] = Kept()


class Resolution(msgspec.Struct, frozen=True):
    """The tool that a call means."""

    name: str
    """The tool's own, whatever the backend and the model call it."""
    arguments: Arguments
    repairs: tuple[Repair, ...] = ()


class Names:
    """The names of the tools of one request, there and back.

    A name resolves to a tool if it can mean no other:

    - as it was sent, or as the tool is called: at once;
    - spelled otherwise: case, separators, quotes, `()`, a wrapper that says nothing, such as `functions.`;
    - without the namespace that the tool has, if no other tool ends so and the arguments are the tool's:
      `add`, or `default_api:add`, for `calculator.add`;
    - a tool and a value of its one unset parameter that has it: `calculator.add` for `calculator`.

    A namespace that the tool doesn't have says that another one is meant: `shell.delete` is no `delete`.

    Raises: UsageError, if two tools have the same name.
    """

    def __init__(self, tools: Iterable[Tool], accepts: str = Means().tool_names) -> None:
        self.offered = tuple(tools)
        """The tools under their own names."""
        self._accepts = accepts
        self.by_name = {tool.name: tool for tool in self.offered}
        if len(self.by_name) < len(self.offered):
            twice = name_of_two(self.offered)
            raise UsageError(f"there are two tools called {twice!r}", hint="offer each under a name of its own")
        self._sent = names_to_send(self.by_name, accepts)
        # What is sent is accepted, and what is accepted is sent as it is: the two can't contradict each other.
        self._exact = {**{sent: name for name, sent in self._sent.items()}, **{name: name for name in self.by_name}}

    @classmethod
    def of(cls, tools: tuple[Tool, ...], accepts: str) -> Names:
        """The same as for an earlier request, if that came with the very same tools."""
        return _named_before.of(tools, accepts, lambda: cls(tools, accepts))

    @cached_property
    def tools(self) -> tuple[Tool, ...]:
        """The tools under the names that the backend gets."""
        if all(sent == name for name, sent in self._sent.items()):
            return self.offered
        # The same records each time, so that what was made of them is found again.
        return _renamed_before.of(self.offered, self._accepts, self._renamed_tools)

    def _renamed_tools(self) -> tuple[Tool, ...]:
        return tuple(
            tool if (sent := self._sent[tool.name]) == tool.name else msgspec.structs.replace(tool, name=sent)
            for tool in self.offered
        )

    def sent(self, name: str) -> str:
        """What the backend gets for the tool `name`; for one that isn't offered, a name that is nobody's."""
        known = self._sent.get(name)
        return known if known is not None else name_to_send(name, self._accepts, self._exact.keys())

    def resolve(self, said: str, arguments: Arguments = _NOTHING) -> Resolution | None:
        """The tool that the model means; None if there is none, or more than one."""
        exact = self._exact.get(said)
        if exact is not None:
            return Resolution(exact, arguments)
        if len(said) > MOST_CHARACTERS:
            return None
        readings = [reading for reading in without_wrappers(undecorated(said)) if reading]
        meant = {name for reading in readings for name in self._spelled(reading)}
        if meant:
            return _only([_renamed(said, name, arguments, "name-spelling") for name in sorted(meant)])
        return _only([*self._without_namespace(said, readings, arguments), *self._by_value(said, readings, arguments)])

    def _spelled(self, reading: str) -> Iterable[str]:
        exact = self._exact.get(reading)
        return (exact,) if exact is not None else self._folded.get(folded(reading), ())

    def _without_namespace(self, said: str, readings: list[str], arguments: Arguments) -> Iterator[Resolution]:
        ending_so = {name for reading in readings for name in self._endings.get(folded(reading), ())}
        if len(ending_so) == 1:
            (name,) = ending_so
            if fits(arguments, self.by_name[name].parameters):
                yield _renamed(said, name, arguments, "name-namespace")

    def _by_value(self, said: str, readings: list[str], arguments: Arguments) -> Iterator[Resolution]:
        pairs = {
            (name, value)
            for reading in readings
            for part, value in splits(reading)
            for name in self._spelled(part)
            if not self._spelled(value)  # which may be meant instead
        }
        for name, value in sorted(pairs):
            found = unset_choices(value, arguments, self.by_name[name].parameters)
            for choice in found:
                yield Resolution(
                    name,
                    {**choice.arguments, choice.parameter: choice.value},
                    (
                        Repair("name", said, name, "name-value"),
                        Repair(f"/{escaped(choice.parameter)}", None, choice.value, "name-value"),
                    ),
                )

    @cached_property
    def _folded(self) -> Mapping[str, tuple[str, ...]]:
        spellings = [(name, name) for name in self.by_name]
        spellings += [(sent, name) for name, sent in self._sent.items()]
        return _index(spellings)

    @cached_property
    def _endings(self) -> Mapping[str, tuple[str, ...]]:
        return _index([(inner, name) for name in self.by_name for _, inner in splits(name)])


def _only(found: list[Resolution]) -> Resolution | None:
    return found[0] if len(found) == 1 else None


def _renamed(said: str, name: str, arguments: Arguments, rule: str) -> Resolution:
    return Resolution(name, arguments, (Repair("name", said, name, rule),))


def _index(spellings: Iterable[tuple[str, str]]) -> Mapping[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for spelling, name in spellings:
        key = folded(spelling) if len(spelling) <= MOST_CHARACTERS else ""
        if key and name not in found.get(key, ()):
            found[key] = (*found.get(key, ()), name)
    return found
