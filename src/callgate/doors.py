"""Doors that open when somebody goes through: what a room offers is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Callable, Mapping


def opened_on_use(room: str, offers: Mapping[str, str]) -> Callable[[str], object]:
    """The `__getattr__` of a room, for names that are each in one of its files.

    A file may not be called like something that it offers: once loaded, it would stand in its place.
    """

    def load(name: str) -> object:
        if name not in offers:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"{room}.{offers[name]}"), name)

    return load
