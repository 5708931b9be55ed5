"""How one server is run: what its owner said on the command line."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from callgate.settings import Secret

PORT = 11435
"""The one after Ollama's."""


class ServeLimits(msgspec.Struct, frozen=True, kw_only=True):
    """What one client may ask of the server. 0 seconds are as many as it takes."""

    body_bytes: int = 64 << 20
    """Of a request, pictures included."""
    body_seconds: float = 60.0
    """Until a request has arrived whole."""
    nesting: int = 64
    """Of objects and lists within each other."""
    tools: int = 1_000
    seconds: float = 3_600.0
    """For one answer."""
    at_once: int = 1_000
    """Answers that are given at the same time, by all workers together."""


class Otel(msgspec.Struct, frozen=True, kw_only=True):
    """Traces and metrics for OpenTelemetry."""

    url: str = ""
    """Where they go; if it is empty, where OpenTelemetry's own variables say."""
    content: bool = False
    """With what is said, and with tools' arguments and results."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """`keys` are those of whom anything may be asked; without any, everybody who comes to a loopback address may."""

    host: str = "127.0.0.1"
    port: int = PORT
    keys: tuple[str, ...] = ()
    allowed_hosts: tuple[str, ...] = ()
    """Names by which clients may call this machine, beside its own."""
    origins: tuple[str, ...] = ()
    """Web pages that may ask; `*` is all of them."""
    explain: bool = False
    """Whether answers say what was done to them."""
    model: str | None = None
    """For requests that name none."""
    aliases: Mapping[str, str] = {}
    """Names for models. Several models, with commas, are asked in turn, as one at several servers is."""
    fallback: str | None = None
    drain: float = 30.0
    """Seconds for answers that are under way when the server ends."""
    limits: ServeLimits = ServeLimits()
    workers: int = 1
    """Processes that answer."""
    check_every: float = 0.0
    """Seconds between looks at every server, also those that nobody asks; 0 is never."""
    ping_every: float = 15.0
    """Seconds of silence after which a client that waits for an answer in pieces gets a sign of life; 0 is never."""
    access_log: str | None = None
    """A file that gets a line for each request."""
    otel: Otel | None = None
    """Nothing is sent to anybody without it."""
    redis: Secret | None = None
    """The URL of a Redis, through which this server shares with others what must be shared."""
    instance: str = ""
    """By what a request is recognised that comes back to this server. All its workers have the same."""
