"""What the owner named and nobody has. It is told when the server starts: requests would find it out much later."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from callgate.gateway.options import Options
from callgate.gateway.owners_names import OwnersNames
from callgate.gateway.same_models import owners_places
from callgate.gateway.whereabouts import Whereabouts, may_be_anywhere
from callgate.runtime import Discovery, discover_async
from callgate.settings import Settings
from callgate.vocabulary import ModelRef


async def names_nobody_has(settings: Settings, options: Options) -> list[str]:
    """A sentence for each. Raises: UsageError, if the settings or the options are no good."""
    names = OwnersNames(default=options.model or settings.models.default, aliases=options.aliases)
    chain = (options.fallback if options.fallback is not None else settings.models.fallback) or ""
    fallback = [model for name in chain.split(",") if name.strip() for model in names.models(name.strip())]
    named = {
        **({} if names.is_default_alias else {"the default model": names.default}),
        **{f"the alias {alias!r}": refs for alias, refs in names.aliases.items()},
        "the fallback": tuple(map(ModelRef.parse, fallback)),
    }
    if not settings.discovery.timeout or not any(named.values()):
        return []
    discovery = await discover_async(settings)
    where = Whereabouts(discovery.models, owners_places(settings))
    return [
        f"{who} names {ref.name!r}, which {why}"
        for who, refs in named.items()
        for ref, why in _lost(refs, where, discovery)
    ]


def _lost(refs: Sequence[ModelRef], where: Whereabouts, discovery: Discovery) -> Iterator[tuple[ModelRef, str]]:
    for ref in refs:
        if may_be_anywhere(ref) and not where.named(ref.name):
            yield ref, f"nobody has just now ({_hint(ref.name, where, discovery)})"
        elif ref.scheme == "file" and "://" not in ref.name and not os.path.exists(ref.name):
            yield ref, "isn't there"


def _hint(name: str, where: Whereabouts, discovery: Discovery) -> str:
    if near := get_close_matches(name, where.same, n=1, cutoff=0.6):
        return f"did you mean {near[0]!r}?"
    return "; ".join(problem.message for problem in discovery.problems) or "`callgate models` lists those in reach"
