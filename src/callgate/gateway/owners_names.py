"""The names that the owner of the server gives: other names for models, and the model of requests that name none."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter

from callgate.gateway.whereabouts import may_be_anywhere
from callgate.vocabulary import ModelRef, UsageError
from callgate.wire import shown_ref


class OwnersNames:
    """An alias may stand for several models, with commas, and for what another alias stands for."""

    def __init__(self, *, default: str | None = None, aliases: Mapping[str, str] | None = None) -> None:
        """Raises: UsageError, if a name can't be one of a model, or aliases name each other in a circle."""
        self._models = _without_aliases(aliases or {})
        self.aliases = {
            alias: tuple(dict.fromkeys(map(ModelRef.parse, names))) for alias, names in self._models.items()
        }
        self.is_default_alias = default in self.aliases
        self.default = tuple(dict.fromkeys(map(ModelRef.parse, self.models(default)))) if default else ()
        """No model, if there is none for requests that name none."""
        refs = [*self.default, *(ref for refs in self.aliases.values() for ref in refs)]
        texts = [(text, ref) for ref in refs for text in (str(ref), shown_ref(ref))]
        self.by_text = dict(texts) | {ref.name: ref for ref in refs if may_be_anywhere(ref)}
        """What clients may call the models, too."""
        if default and not self.is_default_alias:
            self.by_text[default] = self.default[0]

    def models(self, name: str) -> tuple[str, ...]:
        """What it stands for, in the owner's words: itself, if it is no alias."""
        return self._models.get(name, (name,))


def _without_aliases(aliases: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """What each stands for in the end. In its own models, an alias is the model of that name."""
    given = {alias: _names(alias, text) for alias, text in aliases.items()}
    others = {alias: [name for name in names if name in given and name != alias] for alias, names in given.items()}
    models: dict[str, tuple[str, ...]] = {}
    try:
        for alias in TopologicalSorter(others).static_order():
            every = (models[name] if name in others[alias] else (name,) for name in given[alias])
            models[alias] = tuple(dict.fromkeys(name for names in every for name in names))
    except CycleError as error:
        circle = ", ".join(map(repr, error.args[1]))
        raise UsageError(
            f"aliases name each other in a circle: {circle}", hint="let one of them name a model"
        ) from None
    return {alias: models[alias] for alias in aliases}


def _names(alias: str, text: str) -> tuple[str, ...]:
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    if not names:
        raise UsageError(f"the alias {alias!r} names no model", hint="NAME=MODEL, or several models with commas")
    return names
