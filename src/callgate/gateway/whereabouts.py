"""Where the models are that somebody named, by what was found at the last look."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from callgate.gateway.same_models import by_id
from callgate.runtime import FoundModel
from callgate.vocabulary import ModelRef
from callgate.wire import shown_ref

_LATEST = ":latest"


class Whereabouts:
    def __init__(self, models: Sequence[FoundModel] = (), owners: frozenset[str] = frozenset()) -> None:
        """`owners` are the names of the servers that the owner named."""
        self.models = tuple(models)
        self.found = by_id(models, owners)
        self.same = {id_: tuple(each.ref for each in same) for id_, same in self.found.items()}
        """The models by what people call them, each at every server that has it."""
        self._by_name = {**{shown_ref(found.ref): (found.ref,) for found in models}, **self.same}

    def exactly(self, name: str) -> tuple[ModelRef, ...]:
        """The model of that name at every server that has it, if there is one."""
        return self._by_name.get(name, ())

    def named(self, name: str) -> tuple[ModelRef, ...]:
        """As Ollamas take names: what has no tag is the latest."""
        return self.exactly(name) or self.exactly(name + _LATEST) or self.exactly(name.removesuffix(_LATEST))

    def of(self, refs: Iterable[ModelRef]) -> tuple[ModelRef, ...]:
        """Each wherever it is served; those that nobody has are left out."""
        return tuple(
            dict.fromkeys(at for ref in refs for at in (self.named(ref.name) if may_be_anywhere(ref) else (ref,)))
        )

    def has(self, refs: Iterable[ModelRef]) -> bool:
        """Whether one of them is somewhere."""
        for ref in refs:  # noqa: SIM110 - it is asked with every request
            if not may_be_anywhere(ref) or self.named(ref.name):
                return True
        return False

    def lacks(self, refs: Iterable[ModelRef]) -> bool:
        """Whether one of them is nowhere."""
        return any(may_be_anywhere(ref) and not self.named(ref.name) for ref in refs)


def may_be_anywhere(ref: ModelRef) -> bool:
    """A name of Ollama's without an address is the model of that name wherever it is served; every other ref is what it
    says.
    """
    return ref.scheme == "ollama" and ref.endpoint is None
