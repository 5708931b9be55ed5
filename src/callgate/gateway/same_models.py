"""Which of the models that were found are one and the same at several servers.

Those with the same name are, if they are all Ollamas', or all of OpenAI-compatible servers that the owner named
(`--upstream`, `discovery.endpoints`), and no two of them say different digests. Everything else stays apart, for there
the name alone may mean different files: an Ollama's model and a vLLM's, servers that just happen to run on the usual
ports of this machine, files.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from callgate.runtime import FoundModel
from callgate.settings import Settings
from callgate.wire import shown_ref

Same = tuple[FoundModel, ...]


def by_id(models: Sequence[FoundModel], owners: frozenset[str]) -> dict[str, Same]:
    """Each by what people call it; of two that are called alike and aren't the same, the second by its whole name.
    What is in the box is always called as it is, whoever else has one.
    """
    found: dict[str, Same] = {}
    boxed = {model.name for model in models if model.ref.is_in_the_box}
    for same in _together(models, owners):
        name, ref = same[0].name, same[0].ref
        is_taken = name in found or (name in boxed and not ref.is_in_the_box)
        found.setdefault(shown_ref(ref) if is_taken else name, same)
    return found


def owners_places(settings: Settings) -> frozenset[str]:
    """The names of the servers that the owner named."""
    entries = (settings.discovery.endpoints or "").split(",")
    return frozenset(entry.partition("=")[0].strip() for entry in entries if entry.strip())


def _together(models: Iterable[FoundModel], owners: frozenset[str]) -> list[Same]:
    groups: list[list[FoundModel]] = []
    by_name: dict[tuple[str, str], list[list[FoundModel]]] = {}
    for model in models:
        named = by_name.setdefault((model.ref.scheme, model.name), [])
        may_join = model.ref.scheme == "ollama" or (model.ref.scheme == "openai" and model.place in owners)
        group = next((group for group in named if may_join and _agree(group, model)), None)
        if group is None:
            groups.append([model])
            if may_join:
                named.append(groups[-1])
        else:
            group.append(model)
    return [tuple(group) for group in groups]


def _agree(group: list[FoundModel], model: FoundModel) -> bool:
    return all(not (each.digest and model.digest) or each.digest == model.digest for each in group)
