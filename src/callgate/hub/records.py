"""What the hub says of a repository and its files, once it is known to make sense."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from yarl import URL

Gated = Literal["auto", "manual"]


class HubFile(msgspec.Struct, frozen=True):
    name: str
    size: int | None = None
    sha256: str | None = None
    """Of a large one."""
    blob: str | None = None
    """What git calls its content."""


class Repository(msgspec.Struct, frozen=True, kw_only=True):
    id: str
    revision: str
    """As it was asked for: a branch, a tag or a commit."""
    commit: str
    """What that is now."""
    gated: Gated | None = None
    """`auto`: whoever accepts its licence gets it; `manual`: its owners decide."""
    private: bool = False
    files: tuple[HubFile, ...] = ()
    left_out: int = 0
    """Files whose names lead out of the repository, or that are too many."""

    @property
    def names(self) -> list[str]:
        return [file.name for file in self.files]

    def file(self, name: str) -> HubFile:
        return next(file for file in self.files if file.name == name)


class Summary(msgspec.Struct, frozen=True):
    """What the hub itself read in a repository's GGUF files. Its template is the default one, never a variant."""

    chat_template: str | None = None
    context_length: int | None = None


class Expected(msgspec.Struct, frozen=True):
    """What a file has to be, byte for byte."""

    size: int
    algorithm: Literal["sha256", "git"] | None = None
    """How its bytes are summed up: as large files are, or as git does for small ones. The hub may have said neither."""
    digest: str = ""


class Location(msgspec.Struct, frozen=True, kw_only=True):
    """Where a file can be fetched right now."""

    url: URL
    is_at_the_hub: bool
    """Only the hub gets our token."""
    tag: str
    """What the hub's cache calls this content."""
    expected: Expected
