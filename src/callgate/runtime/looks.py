"""How to look at a model, by the scheme of its name: what comes back are facts, not conclusions."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from functools import partial

from callgate.backends import OllamaBackend, backend_for
from callgate.detect import Finding, TemplateSandbox, boxed_facts, facts_of, read_header_from
from callgate.runtime.derivations import Derivations, lasting_version, recall_of_ollama
from callgate.runtime.files import file_facts, version_of_file
from callgate.runtime.hub_look import hub_facts
from callgate.runtime.queueing import ServerQueue
from callgate.settings import Settings
from callgate.vocabulary import Facts, ModelRef, UsageError
from callgate.wire import HttpClient, ollama_base_url, read_front


class Looks:
    """Looks at models wherever they are."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.http = HttpClient()
        self._ollamas: dict[str, OllamaBackend] = {}
        self._queues: defaultdict[str, ServerQueue] = defaultdict(ServerQueue)

    def version_of(self, ref: ModelRef) -> str | None:
        """What changes when the model does, as far as that shows without asking for it."""
        match ref.scheme:
            case "ollama":
                return self._ollama(ref.endpoint).digest_of(ref.name)
            case "file" if not _is_url(ref.name):
                return version_of_file(ref.name)
        return None

    def name_of(self, ref: ModelRef) -> str:
        """What to call a model that couldn't be looked at."""
        if ref.scheme == "file":
            return ref.name.partition("?")[0].rpartition("/")[2]
        return ref.name or (ref.endpoint or "").rpartition("://")[2].rpartition("@")[2]

    async def look(self, ref: ModelRef) -> Facts:
        """Raises: BackendError, if its server fails; UsageError or ModelFileError, if there is no such model."""
        if not _is_url(ref.name) and ref.scheme == "file":
            return await asyncio.to_thread(file_facts, ref.name)
        if not str(ref).isprintable():
            raise UsageError(f"{ref.name!r} can't be the name of a model", hint="it has characters that nobody can see")
        if ref.is_in_the_box:
            return await asyncio.to_thread(boxed_facts, ref.scheme)
        return await self._queues[_place_of(ref)].take(partial(self._ask, ref))

    async def recall(self, ref: ModelRef, derivations: Derivations, sandbox: TemplateSandbox) -> Finding | None:
        """What is kept of the model as it is now, if anything. Raises: Unreachable."""
        if ref.scheme == "ollama":
            return await recall_of_ollama(derivations, ref, self._ollama(ref.endpoint), sandbox)
        version = lasting_version(ref)
        return derivations.recall(ref, version) if version else None

    async def _ask(self, ref: ModelRef) -> Facts:
        match ref.scheme:
            case "ollama":
                return await self._ollama(ref.endpoint).facts(ref.name)
            case "file":
                return await self._remote_file(ref)
            case "hf":
                return await hub_facts(ref.hub, self.http, self._settings)
            case _:
                return await backend_for(ref, self._settings, self.http).facts(ref.name)

    async def ollama_models(self) -> list[ModelRef]:
        """The models of the local Ollama. Raises: BackendError, if it doesn't answer."""
        return [ModelRef("ollama", name) for name in await self._ollama(None).models()]

    async def close(self) -> None:
        await self.http.close()

    def _ollama(self, endpoint: str | None) -> OllamaBackend:
        place = endpoint or self._settings.ollama.host
        if place not in self._ollamas:
            url = ollama_base_url(place)
            self._ollamas[place] = OllamaBackend(url, self.http, timeout=self._settings.detect.server_timeout)
        return self._ollamas[place]

    async def _remote_file(self, ref: ModelRef) -> Facts:
        name = self.name_of(ref)
        header = await read_header_from(read_front(self.http, ref.name), repr(name))
        return facts_of(header, name, time.time())


def _place_of(ref: ModelRef) -> str:
    """Whom to ask for it."""
    if ref.scheme == "file":
        return "/".join(ref.name.split("/", 3)[:3])
    return ref.endpoint or ref.scheme


def _is_url(name: str) -> bool:
    return name.lower().startswith(("http://", "https://"))
