"""Ollama, over its own API."""

from __future__ import annotations

import asyncio
import difflib
import time
from collections.abc import Mapping
from typing import Any

from callgate.detect import ollama_templates
from callgate.vocabulary import BadAnswer, BadStatus, Facts, NotFound, ServerKind, Unreachable
from callgate.wire import HttpClient

MOST_SHOWN = 5


class OllamaBackend:
    """One Ollama server."""

    def __init__(self, endpoint: str, http: HttpClient, *, timeout: float) -> None:
        self.endpoint = endpoint
        self._http = http
        self._timeout = timeout
        self._digests: dict[str, str] = {}
        self._under_way: dict[str, asyncio.Task[object]] = {}

    async def facts(self, model: str) -> Facts:
        """Raises: NotFound, if it has no such model; BackendError, if it doesn't answer."""
        show, tags, running, version = await asyncio.gather(
            self._http.post_json(f"{self.endpoint}/api/show", {"model": model}, timeout=self._timeout),
            self._get("/api/tags"),
            self._get("/api/ps"),
            self._get("/api/version"),
            return_exceptions=True,
        )
        if isinstance(show, BadStatus) and show.status == 404:
            raise self._no_such_model(model, _names(tags)) from None
        if isinstance(show, Unreachable):
            message = show.message.replace(f"{self.endpoint}/api/show", f"Ollama at {self.endpoint}")
            raise Unreachable(message, hint="is it running? `ollama serve`") from show
        if isinstance(show, BaseException):
            raise show
        if not isinstance(show, dict):
            raise BadAnswer(f"{self.endpoint}/api/show sent no object", hint="is this an Ollama?")
        listing = _entry(tags, model)
        told = version.get("version") if isinstance(version, dict) else None
        return Facts(
            name=model,
            templates=ollama_templates(show),
            server=ServerKind.OLLAMA,
            server_version=told if isinstance(told, str) else None,
            endpoint=self.endpoint,
            digest=_text(listing, "digest"),
            answer=show,
            listing=listing,
            running=_entry(running, model),
            at=time.time(),
        )

    async def models(self) -> list[str]:
        """The names of the models that it has. Raises: BackendError."""
        return _names(await self._get("/api/tags"))

    def digest_of(self, model: str) -> str | None:
        """Of the model as it was when this server last listed its models."""
        return self._digests.get(_full_name(model))

    async def _get(self, path: str) -> object:
        """Looks at hundreds of models at once need what is the same for all of them but once."""
        if (task := self._under_way.get(path)) is None:
            task = self._under_way[path] = asyncio.create_task(self._ask(path))
            task.add_done_callback(lambda done: self._done(path, done))
        return await asyncio.shield(task)

    async def _ask(self, path: str) -> object:
        answer = await self._http.get_json(f"{self.endpoint}{path}", timeout=self._timeout)
        if path == "/api/tags":
            named = ((_text(entry, "name"), _text(entry, "digest")) for entry in _entries(answer))
            self._digests = {_full_name(name): digest for name, digest in named if name and digest}
        return answer

    def _done(self, path: str, task: asyncio.Task[object]) -> None:
        del self._under_way[path]
        if not task.cancelled():
            task.exception()  # seen, even if every asker has gone

    def _no_such_model(self, model: str, names: list[str]) -> NotFound:
        near = difflib.get_close_matches(model, names, n=1, cutoff=0.5)
        has = ", ".join(names[:MOST_SHOWN]) + (" …" if len(names) > MOST_SHOWN else "")
        hint = f"did you mean {near[0]!r}? " if near else ""
        hint += f"it has: {has}" if names else f"`ollama pull {model}` fetches it"
        return NotFound(f"Ollama at {self.endpoint} has no model {model!r}", hint=hint)


def _entries(answer: object) -> list[Mapping[str, Any]]:
    models = answer.get("models") if isinstance(answer, dict) else None
    return [entry for entry in models if isinstance(entry, dict)] if isinstance(models, list) else []


def _names(answer: object) -> list[str]:
    return [name for entry in _entries(answer) if (name := _text(entry, "name")) is not None]


def _entry(answer: object, model: str) -> Mapping[str, Any] | None:
    wanted = _full_name(model)
    for entry in _entries(answer):
        if wanted in (_full_name(_text(entry, "name") or ""), _full_name(_text(entry, "model") or "")):
            return entry
    return None


def _full_name(model: str) -> str:
    """One spelling for all that Ollama takes for the same: its registry, its library and `latest` may be left out."""
    name = model.lower().removeprefix("registry.ollama.ai/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] else f"{name}:latest"


def _text(entry: Mapping[str, Any] | None, key: str) -> str | None:
    value = entry.get(key) if entry else None
    return value if isinstance(value, str) else None
