"""What is the same for two of us: a model at a server elsewhere; what is at 127.0.0.1 only on one machine."""

from __future__ import annotations

import hashlib
import os
import platform
from contextlib import suppress
from functools import cache

from callgate.registry import key_of
from callgate.settings import Settings
from callgate.vocabulary import ModelRef
from callgate.wire import is_loopback, ollama_base_url

_SERVERS = ("ollama", "openai")


@cache
def here() -> str:
    """This machine, or the container that we are in: whoever says the same has the same 127.0.0.1."""
    parts = [platform.node()]
    with suppress(OSError):
        with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
            parts.append(file.read().strip())
        parts.append(os.readlink("/proc/self/ns/net"))
    return hashlib.sha256("\n".join(parts).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def name_of_endpoint(ref: ModelRef, settings: Settings) -> str | None:
    """By which all know it, without a password; `None` for what only we can ask."""
    if ref.scheme not in _SERVERS:
        return None
    ours = ollama_base_url(settings.ollama.host) if ref.scheme == "ollama" else settings.openai.base_url
    url = ref.endpoint or ours
    key = key_of(ModelRef(ref.scheme, ref.name, url))
    return f"{here()}|{key}" if is_loopback(url) else key


def name_of_model(ref: ModelRef, digest: str | None) -> str:
    """The same for what is said of a model: one with a digest is the same everywhere, by whomever it is run."""
    is_elsewhere = ref.scheme in _SERVERS and ref.endpoint is not None and not is_loopback(ref.endpoint)
    key = key_of(ref)
    return key if digest or is_elsewhere else f"{here()}|{key}"


def key_in(name: str) -> str | None:
    """The registry's key in such a name; `None` where it speaks of another machine."""
    machine, bar, key = name.partition("|")
    if not bar or len(machine) != len(here()):
        return name
    return key if machine == here() else None
