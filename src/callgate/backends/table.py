"""Which backend runs a model, by the scheme of its name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import cast

from callgate.backends.protocol import Backend
from callgate.settings import Settings
from callgate.vocabulary import IN_THE_BOX, ModelRef, UsageError
from callgate.wire import HttpClient

ENTRY_POINTS = "callgate.backends"
"""The group in which other packages name theirs: `SCHEME = "package.module:make"`."""

Maker = Callable[[ModelRef, Settings, HttpClient], Backend]

_BUILT_IN: Mapping[str, str] = {
    "ollama": "callgate.backends.ollama:make",
    "openai": "callgate.backends.openai:make",
    **dict.fromkeys(("file", *IN_THE_BOX), "callgate.backends.llamacpp:make"),
    "scripted": "callgate.backends.scripted:make",
}


_ENGINE = ("file", *IN_THE_BOX)
_SERVERS = ("ollama", "openai")


def place_of(ref: ModelRef) -> tuple[str, str]:
    """What the models have in common that one backend runs: a server's address, or our engine."""
    if ref.scheme in _ENGINE:
        return "llamacpp", ""
    return ref.scheme, (ref.endpoint or "") if ref.scheme in _SERVERS else ref.name


def backend_for(ref: ModelRef, settings: Settings, http: HttpClient) -> Backend:
    """Raises: UsageError, if nobody here can run such a model."""
    return _maker(ref)(ref, settings, http)


def _maker(ref: ModelRef) -> Maker:
    scheme = ref.scheme
    if place := _BUILT_IN.get(scheme):
        module, _, name = place.partition(":")
        return cast("Maker", getattr(import_module(module), name))
    from importlib.metadata import entry_points

    for found in entry_points(group=ENTRY_POINTS, name=scheme):
        return cast("Maker", found.load())
    if scheme == "hf":
        raise UsageError("a model on the hub has to be fetched before it can run", hint=f"callgate pull {ref.name}")
    raise UsageError(f"nothing here can run {scheme!r} models", hint="is the package installed that adds them?")
