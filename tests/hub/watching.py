"""Somebody who watches a pull and remembers what they were told; and a pull from a played hub into a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from callgate.backends import Loading
from callgate.hub import Choice, Looked, Pulled, Repository, Wishes, pull, read_hub_name
from callgate.runtime import Candidate
from callgate.settings import Settings
from tests.hub.played_hub import PlayedHub
from tests.runtime.played import settings

NOWHERE = "/nowhere/llama-server"
"""An engine that isn't there: the model isn't loaded then, which takes its time."""


class Watching:
    def __init__(self, choice: int | None = None) -> None:
        self.notes: list[str] = []
        self.seen: Looked | None = None
        self.progress: list[tuple[int, int, int]] = []
        self.checked = 0
        self.asked: Sequence[Candidate] = ()
        self._choice = choice

    def found(self, repository: Repository) -> None: ...

    def chosen(self, repository: Repository, choice: Choice) -> None: ...

    def choose(self, repository: Repository, candidates: Sequence[Candidate]) -> Candidate | None:  # noqa: ARG002
        self.asked = candidates
        return None if self._choice is None else candidates[self._choice]

    def looked(self, looked: Looked, free: int) -> None:  # noqa: ARG002
        self.seen = looked

    def fetching(self, name: str, done: int, total: int, fetched: int) -> None:  # noqa: ARG002
        self.progress.append((done, total, fetched))

    def checking(self, name: str, done: int, total: int) -> None:  # noqa: ARG002
        self.checked = done

    def loading(self, how_far: Loading) -> None: ...

    def note(self, text: str) -> None:
        self.notes.append(text)


def hub_settings(hub: PlayedHub, folder: Path, **overrides: object) -> Settings:
    return settings(
        **{
            "hub__endpoint": hub.url,
            "hub__cache": str(folder / "cache"),
            "llamacpp__server": NOWHERE,
            **overrides,
        }
    )


async def pulled(
    hub: PlayedHub,
    name: str,
    folder: Path,
    *,
    watching: Watching | None = None,
    wishes: Wishes | None = None,
    **overrides: object,
) -> Pulled:
    wanted = hub_settings(hub, folder, **overrides)
    ref = read_hub_name(name, hub.url)
    return await pull(ref, wanted, wishes or Wishes(), watching or Watching())


def files_in(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() or path.is_symlink())


def content_of(path: str | None) -> bytes:
    assert path
    return Path(path).read_bytes()
