"""The questions that an Ollama answers, beside chats."""

from __future__ import annotations

import asyncio

from callgate.backends.ollama.names import entries, full_name, names, text
from callgate.vocabulary import BackendError
from callgate.wire import HttpClient, shown


class Server:
    """One Ollama."""

    def __init__(self, endpoint: str, http: HttpClient, *, timeout: float) -> None:
        self.endpoint = endpoint
        self.place = f"Ollama at {shown(endpoint)}"
        """How errors call it."""
        self.http = http
        self._timeout = timeout
        self._version: str | None = None
        self._digests: dict[str, str] = {}
        self._under_way: dict[str, asyncio.Task[object]] = {}

    async def show(self, model: str) -> object:
        """Raises: BackendError."""
        return await self.http.post_json(f"{self.endpoint}/api/show", {"model": model}, timeout=self._timeout)

    async def get(self, path: str) -> object:
        """Looks at hundreds of models at once need what is the same for all of them but once. Raises: BackendError."""
        if (task := self._under_way.get(path)) is None:
            task = self._under_way[path] = asyncio.create_task(self._ask(path))
            task.add_done_callback(lambda done: self._done(path, done))
        return await asyncio.shield(task)

    async def names(self) -> list[str]:
        """Of the models that it has. Raises: BackendError."""
        return names(await self.get("/api/tags"))

    async def version(self) -> str | None:
        """Asked once; `None` where it doesn't tell."""
        if self._version is None:
            try:
                self._version = version_in(await self.get("/api/version"))
            except BackendError:
                return None
        return self._version

    def digest_of(self, model: str) -> str | None:
        """Of the model as it was when this server last listed its models."""
        return self._digests.get(full_name(model))

    async def close(self) -> None:
        for task in list(self._under_way.values()):
            task.cancel()

    async def _ask(self, path: str) -> object:
        answer = await self.http.get_json(f"{self.endpoint}{path}", timeout=self._timeout)
        if path == "/api/tags":
            named = ((text(entry, "name"), text(entry, "digest")) for entry in entries(answer))
            self._digests = {full_name(name): digest for name, digest in named if name and digest}
        return answer

    def _done(self, path: str, task: asyncio.Task[object]) -> None:
        del self._under_way[path]
        if not task.cancelled():
            task.exception()  # seen, even if every asker has gone


def version_in(answer: object) -> str | None:
    return text(answer, "version") if isinstance(answer, dict) else None
