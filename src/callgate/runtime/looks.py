"""How to look at a model, by the scheme of its name: what comes back are facts, not conclusions."""

from __future__ import annotations

import asyncio
import os
import time

from callgate.backends import OllamaBackend, OpenAIBackend
from callgate.detect import facts_of, read_header_from
from callgate.runtime.files import boxed_facts, file_facts
from callgate.runtime.hub_look import hub_facts
from callgate.settings import Settings
from callgate.vocabulary import Facts, ModelRef, UsageError
from callgate.wire import HttpClient, ollama_base_url, read_front


class Looks:
    """Looks at models wherever they are."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._http = HttpClient()

    def version_of(self, ref: ModelRef) -> str | None:
        """What changes when a file does, as far as that shows without opening it."""
        if ref.scheme != "file":
            return None
        try:
            found = os.stat(ref.name)
        except (OSError, ValueError):
            return None
        return f"{found.st_size}-{found.st_mtime_ns}"

    async def look(self, ref: ModelRef) -> Facts:
        """Raises: BackendError, if its server fails; UsageError or ModelFileError, if there is no such model."""
        match ref.scheme:
            case "ollama":
                return await self._ollama(ref.endpoint).facts(ref.name)
            case "openai" if ref.endpoint:
                return await self._openai(ref.endpoint).facts(ref.name)
            case "file" if ref.name.startswith(("http://", "https://")):
                return await self._remote_file(ref.name)
            case "file":
                return await asyncio.to_thread(file_facts, ref.name)
            case "hf":
                return await hub_facts(ref.hub, self._http, self._settings)
            case "tiny" | "tiny-plain":
                return await asyncio.to_thread(boxed_facts, ref.scheme)
            case other:
                raise UsageError(f"nothing here can look at {other!r} models", hint="name a file, a server or the hub")

    async def ollama_models(self) -> list[ModelRef]:
        """The models of the local Ollama. Raises: BackendError, if it doesn't answer."""
        return [ModelRef("ollama", name) for name in await self._ollama(None).models()]

    async def close(self) -> None:
        await self._http.close()

    def _ollama(self, endpoint: str | None) -> OllamaBackend:
        url = ollama_base_url(endpoint or self._settings.ollama.host)
        return OllamaBackend(url, self._http, timeout=self._settings.detect.server_timeout)

    def _openai(self, endpoint: str) -> OpenAIBackend:
        return OpenAIBackend(endpoint, self._http, timeout=self._settings.detect.server_timeout)

    async def _remote_file(self, url: str) -> Facts:
        name = url.partition("?")[0].rpartition("/")[2]
        header = await read_header_from(read_front(self._http, url), repr(name))
        return facts_of(header, name, time.time())
