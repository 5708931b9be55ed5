"""How an MCP server is reached: a program to start, or an address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from callgate.settings import Secret


class StdioSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A server that is a program on this machine."""

    name: str
    command: str
    args: tuple[str, ...] = ()
    env: Mapping[str, Secret] = {}
    """Besides the few variables that every server gets: `PATH`, `HOME` and the like."""
    cwd: str | None = None

    @property
    def where(self) -> str:
        return self.command

    @property
    def identity(self) -> str:
        """Tells it from another server of the same name, without a word of what it is told in secret."""
        return digest_of([self.command, *self.args, self.cwd or ""])

    @property
    def secrets(self) -> tuple[str, ...]:
        return tuple(value.reveal() for value in self.env.values())


class HttpSpec(msgspec.Struct, frozen=True, kw_only=True):
    """A server at an address, reached over streamable HTTP."""

    name: str
    url: Secret
    """Some carry a token."""
    headers: Mapping[str, Secret] = {}

    @property
    def where(self) -> str:
        """The address without whatever could be secret in it."""
        from urllib.parse import urlsplit

        parts = urlsplit(self.url.reveal())
        host = parts.hostname or ""
        return f"{parts.scheme}://{f'[{host}]' if ':' in host else host}{f':{parts.port}' if parts.port else ''}"

    @property
    def identity(self) -> str:
        return digest_of([self.url.reveal().partition("?")[0]])

    @property
    def secrets(self) -> tuple[str, ...]:
        values = [value.reveal() for value in self.headers.values()]
        return (self.url.reveal(), *values, *(value.split(" ", 1)[1] for value in values if " " in value))


ServerSpec = StdioSpec | HttpSpec


def digest_of(words: Iterable[str]) -> str:
    from hashlib import sha256

    return sha256("\0".join(words).encode("utf-8", "replace")).hexdigest()[:32]
