"""How `callgate models` shows what there is to a person, and in which order."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from callgate.chat import cut
from callgate.cli.screen import Screen, in_bytes, printable
from callgate.runtime import StockedModel
from callgate.vocabulary import Answer

_STYLE = {Answer.YES: "good", Answer.NO: "bad", Answer.UNKNOWN: "doubt"}
_WIDEST_NAME = 48
_ABILITIES = {"supports_vision": "vision", "supports_thinking": "thinking", "is_embedding": "embedding"}
_HEADINGS = ("TOOLS", "MODE", "MODEL", "ALSO", "CONTEXT", "SIZE", "DISK", "WHERE")


def _tools_first(model: StockedModel) -> tuple[int, int]:
    return [Answer.YES, Answer.UNKNOWN, Answer.NO].index(model.report.tools), model.mode != "native"


_KEYS: Mapping[str, Callable[[StockedModel], Any]] = {
    "name": lambda model: model.found.name.lower(),
    "size": lambda model: -(model.found.size or -1),
    "context": lambda model: -((model.capabilities and model.capabilities.context_length) or 0),
    "tools": _tools_first,
    "backend": lambda model: (model.found.backend, model.found.place),
}
ORDERS = tuple(_KEYS)
"""Names from A to Z, but what is more, or can more, first."""


def sort_models(models: Sequence[StockedModel], by: str | None, *, reverse: bool = False) -> list[StockedModel]:
    """In this order, or as they were found; the model in the box stays the last."""
    ordered = sorted(models, key=_KEYS[by]) if by else list(models)
    if reverse:
        ordered.reverse()
    return sorted(ordered, key=_is_boxed)


def _is_boxed(model: StockedModel) -> bool:
    return model.found.ref.is_in_the_box


def show_models(screen: Screen, models: Sequence[StockedModel]) -> None:
    screen.table([[(heading, "dim") for heading in _HEADINGS], *(_row(model) for model in models)])


def _row(model: StockedModel) -> list[tuple[str, str]]:
    known = model.capabilities
    name = (cut(printable(model.found.name), _WIDEST_NAME), "strong")
    disk = ("" if model.found.size is None else in_bytes(model.found.size), "")
    where = (_where(model), "dim")
    if known is None:
        return [("error", "bad"), ("", ""), name, ("", ""), ("", ""), ("", ""), disk, where]
    return [
        (known.tools + ("?" if known.guess else ""), "doubt" if known.guess else _STYLE[known.tools]),
        (model.mode, ""),
        name,
        (", ".join(word for field, word in _ABILITIES.items() if getattr(known, field)), ""),
        (f"{known.context_length:,}" if known.context_length else "", ""),
        (" ".join(filter(None, (known.parameter_size, known.quantization))), ""),
        disk,
        where,
    ]


def _where(model: StockedModel) -> str:
    """So that a name and what stands here are enough to say which model is meant."""
    found = model.found
    if found.ref.scheme == "file":
        return f"{found.place}, {_with_tilde(found.ref.name)}"
    return f"{found.place}, {found.endpoint}" if found.ref.endpoint and found.endpoint != found.place else found.place


def _with_tilde(path: str) -> str:
    home = os.path.expanduser("~")
    return f"~{path[len(home) :]}" if len(home) > 1 and path.startswith(home + os.sep) else path
