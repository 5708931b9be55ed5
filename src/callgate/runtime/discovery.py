"""What is there? Models of the servers that run here, of those that the settings name, and in the usual folders.

Everybody is asked at once and has little time to answer; who isn't there costs nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import msgspec

from callgate.runtime.found import FoundModel, found_in_the_box
from callgate.runtime.model_folders import models_in_folders
from callgate.runtime.places import Knock, Place, known_places, place_at
from callgate.settings import Settings
from callgate.vocabulary import CallgateError, Unreachable
from callgate.wire import HttpClient, shown

if TYPE_CHECKING:
    from callgate.runtime.listing import Listed


class Discovery(msgspec.Struct, frozen=True):
    models: tuple[FoundModel, ...]
    """Servers' models in the order of their servers, then files; the model in the box is the last."""
    problems: tuple[CallgateError, ...] = ()
    """Why servers that somebody named gave no list."""


def discover(settings: Settings, endpoints: Sequence[str] = ()) -> Discovery:
    """All there is; with `endpoints`, only what these servers have. For programs without an event loop.

    Raises: UsageError, if a setting or an endpoint is no good.
    """
    places = [place_at(url) for url in endpoints] or known_places(settings)
    knock = Knock(places)
    files = [] if endpoints else [*models_in_folders(settings), found_in_the_box()]
    answering = knock.answered(settings.discovery.timeout)
    if not answering:  # then there is no need for an event loop, which takes its time to load
        return _summed_up(places, {}, files)
    import asyncio

    return _summed_up(places, asyncio.run(_listed(answering, settings, None)), files)


async def discover_async(settings: Settings, http: HttpClient | None = None) -> Discovery:
    """All there is, for programs with an event loop, which goes on meanwhile.

    Raises: UsageError, if a setting is no good.
    """
    import asyncio

    places = known_places(settings)
    knock = Knock(places)
    files = [*await asyncio.to_thread(models_in_folders, settings), found_in_the_box()]
    answering = await asyncio.to_thread(knock.answered, settings.discovery.timeout)
    return _summed_up(places, await _listed(answering, settings, http), files)


async def _listed(places: Sequence[Place], settings: Settings, http: HttpClient | None) -> Mapping[Place, Listed]:
    from callgate.runtime.listing import list_models

    if http is None:
        async with HttpClient() as client:
            return await _listed(places, settings, client)
    return dict(zip(places, await list_models(places, http, timeout=settings.discovery.timeout), strict=True))


def _summed_up(places: Sequence[Place], listed: Mapping[Place, Listed], files: Sequence[FoundModel]) -> Discovery:
    served = [model for place in places if place in listed for model in listed[place].models]
    problems = tuple(problem for place in places if place.named and (problem := _problem(place, listed.get(place))))
    return Discovery((*served, *_not_served(files, served)), problems)


def _problem(place: Place, listed: Listed | None) -> CallgateError | None:
    if listed is None:
        return Unreachable(f"nobody listens at {shown(place.url)}", hint="is the server running?")
    return listed.problem


def _not_served(files: Sequence[FoundModel], served: Sequence[FoundModel]) -> Iterator[FoundModel]:
    """Without the files of an Ollama that runs."""
    digests = {model.digest for model in served if model.digest}
    local = {model.name for model in served if model.ref.scheme == "ollama" and model.ref.endpoint is None}
    for file in files:
        if not (file.digest and (file.digest in digests or file.name in local)):
            yield file
