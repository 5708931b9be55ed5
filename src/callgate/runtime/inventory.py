"""Every model in reach, with what it can do: discovery finds them, the detector looks at each."""

from __future__ import annotations

import io
from collections.abc import Generator, Iterable, Sequence
from typing import Any

import msgspec

from callgate.gate import Mode, mode_of
from callgate.runtime.checking import check_targets
from callgate.runtime.found import FoundModel
from callgate.runtime.report import ModelReport, as_json_text, error_as_json
from callgate.settings import Settings
from callgate.vocabulary import Answer, Capabilities, Source


class StockedModel(msgspec.Struct, frozen=True):
    """One line of the inventory."""

    found: FoundModel
    report: ModelReport

    @property
    def capabilities(self) -> Capabilities | None:
        return self.report.capabilities

    @property
    def native_route(self) -> Answer:
        """Our own engine lets tools through wherever the template has them."""
        if self.found.backend == "llamacpp":
            return Answer.YES
        return self.capabilities.native_route if self.capabilities else Answer.UNKNOWN

    @property
    def mode(self) -> Mode:
        known = self.capabilities
        return mode_of(self.report.tools, self.native_route, embedding=bool(known and known.is_embedding))

    @property
    def source(self) -> Source:
        """Who decided whether it has tools."""
        decided = (piece.source for piece, decides in self.report.evidence if decides and piece.claim == "tools")
        return next(decided, Source.DEFAULT)

    def suits(self, *, tools: bool = False, vision: bool = False, min_context: int = 0) -> bool:
        """Can it do this for sure? A model for embedding suits nobody who wants to talk."""
        known = self.capabilities
        return (
            known is not None
            and not known.guess
            and not known.is_embedding
            and (not tools or known.tools is Answer.YES)
            and (not vision or known.supports_vision is True)
            and (known.context_length or 0) >= min_context
        )

    def as_json(self) -> dict[str, Any]:
        """The object that `callgate models --json` prints."""
        known = self.capabilities
        shown: dict[str, Any] = {
            "ref": as_json_text(str(self.found.ref)),
            "backend": self.found.backend,
            "endpoint": self.found.endpoint,
            "tools": self.report.tools,
            "guess": known.guess if known else False,
            "native_route": self.native_route,
            "mode": self.mode,
            "vision": Answer.of(known.supports_vision if known else None),
            "context_length": known.context_length if known else None,
            "size": self.found.size,
            "quant": known.quantization if known else None,
            "source": self.source,
        }
        if self.report.error:
            shown["error"] = error_as_json(self.report.error)
        return shown


def take_inventory(models: Iterable[FoundModel], settings: Settings) -> Generator[StockedModel, None, None]:
    """Looks at each of `models`, at those of servers all at once; what is wrong with one is in its report."""
    models = list(models)
    reports = check_targets([str(model.ref) for model in models], settings=settings, standard_input=io.BytesIO())
    try:
        for found, report in zip(models, reports, strict=True):
            yield StockedModel(found, report)
    finally:
        reports.close()


def best_of(
    models: Sequence[StockedModel], *, tools: bool = False, vision: bool = False, min_context: int = 0
) -> StockedModel | None:
    """The first that can do all this, one with tools if there is any: what `auto` stands for.

    The order is that of discovery: what runs comes before what would have to be loaded, the model in the box last.
    """
    suitable = [model for model in models if model.suits(tools=tools, vision=vision, min_context=min_context)]
    return min(suitable, key=_how_tools_go, default=None)


def _how_tools_go(model: StockedModel) -> int:
    """0 is best. `min` takes the first of those that are alike."""
    if model.report.tools is not Answer.YES:
        return 2
    return 0 if model.mode == "native" else 1
