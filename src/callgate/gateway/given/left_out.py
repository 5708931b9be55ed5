"""What clients ask for and can't be met here: it is left out of the request, and a notice names it."""

from __future__ import annotations

from collections.abc import Iterable

from callgate.vocabulary import Notice

MOST_NAMED = 10
LONGEST_NAME = 80
_LONGEST_VALUE = 40


class LeftOut:
    """Hears of all that is left out of one request."""

    def __init__(self) -> None:
        self._tools: dict[str, None] = {}
        self._parts: dict[str, None] = {}
        self._choices: dict[str, None] = {}
        self._elsewhere: dict[str, None] = {}
        self._wishes: dict[str, None] = {}
        self._values: dict[str, None] = {}

    def tool(self, name: str, kind: str | None) -> None:
        _add(self._tools, f"{name} ({kind})" if name and kind and kind != name else name or kind or "")

    def part(self, kind: object) -> None:
        _add(self._parts, kind if isinstance(kind, str) else "")

    def choice(self, name: str) -> None:
        """A tool that must be called was left out itself."""
        _add(self._choices, name)

    def stand_in(self, kind: str) -> str:
        """What the model is told instead of something that it can't be shown."""
        self.part(kind)
        return f"[Something of the type {kind[:LONGEST_NAME]} was here. It can't be shown to you.]"

    def elsewhere(self, kind: str) -> str:
        """The same for something that was only named by its address."""
        _add(self._elsewhere, kind)
        return f"[Something of the type {kind[:LONGEST_NAME]} was here, by its address. It isn't fetched.]"

    def wish(self, name: str) -> None:
        """A field of the request that asks for more than there is here."""
        _add(self._wishes, name)

    def value(self, name: str, given: str, taken: str) -> None:
        """One that isn't known, and the one that is taken for it."""
        _add(self._values, f"{name}={given[:_LONGEST_VALUE]} as {taken}")

    @property
    def notices(self) -> tuple[Notice, ...]:
        said = (
            ("tools_left_out", "tools of kinds that callgate doesn't know were left out", self._tools),
            ("parts_left_out", "parts of types that aren't known here were left out", self._parts),
            ("parts_not_fetched", "what is named by its address alone isn't fetched", self._elsewhere),
            ("wishes_left_out", "what isn't to be had here was left out", self._wishes),
            ("values_unknown", "values that callgate doesn't know were taken for others", self._values),
            ("choice_left_out", "the model needn't call a tool that was left out", self._choices),
        )
        return tuple(Notice(kind, f"{words}: {_listed(names)}") for kind, words, names in said if names)


def _add(names: dict[str, None], name: str) -> None:
    if len(names) <= MOST_NAMED:
        names[name[:LONGEST_NAME]] = None


def _listed(names: Iterable[str]) -> str:
    first = [repr(name) for name in names]
    return ", ".join([*first[:MOST_NAMED], *["…"] * (len(first) > MOST_NAMED)])
