"""What an OpenAI-compatible server knows of its models."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from callgate.backends.unknown import no_such_model, some_of
from callgate.detect import entry_of, llama_server_templates, llama_server_tokens, recognise
from callgate.vocabulary import BackendError, BadAnswer, BadStatus, Facts, NotFound, ServerKind
from callgate.wire import HttpClient, Patience, normalise_base_url, shown

_WHERE_MORE_IS = {
    ServerKind.LLAMA_SERVER: ("/props",),
    ServerKind.LM_STUDIO: ("/api/v1/models", "/api/v0/models"),
    ServerKind.SGLANG: ("/model_info", "/get_model_info"),
    ServerKind.OPENAI: ("/props", "/api/v1/models", "/api/v0/models", "/api/version"),
}
"""Where a server says more than in `/v1/models`. One that doesn't name its kind there is asked what the others know."""


class OpenAIServer:
    """Asks one server."""

    def __init__(
        self,
        endpoint: str,
        http: HttpClient,
        *,
        timeout: float,
        headers: Mapping[str, str],
        called: str | None = None,
    ) -> None:
        urls = normalise_base_url(endpoint)
        self._root, self.base = urls.root, urls.base
        self.place = called or shown(urls.base)
        self._http = http
        self._timeout = timeout
        self._headers = headers

    async def models(self) -> dict[str, Any]:
        """Its list of models, as it sends it. Raises: BackendError."""
        models = await self._http.get_json(f"{self.base}/models", timeout=self._timeout, headers=self._headers)
        if not isinstance(models, dict):
            raise BadAnswer(f"{self.place}/models sent no object", hint="is this an OpenAI-compatible server?")
        return models

    async def only_model(self) -> str:
        """The name of the one model that it has. Raises: NotFound, if it has none or several; BackendError."""
        models = await self.models()
        if (entry := entry_of(models, "")) is None:
            raise self.no_such_model("", models)
        return str(entry.get("id", ""))

    async def facts(self, model: str) -> Facts:
        """Raises: NotFound, if it has no such model; BackendError, if it doesn't answer."""
        models = await self.models()
        kind = recognise(models=models)
        listing = entry_of(models, model)
        if listing is None and not (model and kind is ServerKind.OLLAMA):  # which knows more spellings of its names
            raise self.no_such_model(model, models)
        name = model or str((listing or {}).get("id", ""))
        more = await self._more(_WHERE_MORE_IS.get(kind, ()), name)
        if kind is ServerKind.OPENAI:
            kind = _recognised_by(more)
        if kind is ServerKind.OLLAMA:
            from callgate.backends.ollama import OllamaBackend

            return await OllamaBackend(self._root, self._http, timeout=self._timeout).facts(name)
        answer = _about(more, kind, name)
        is_llama = kind is ServerKind.LLAMA_SERVER
        return Facts(
            name=name,
            templates=llama_server_templates(answer) if is_llama else None,
            tokens=llama_server_tokens(answer) if is_llama else {},
            server=kind,
            server_version=_text(answer, "build_info"),
            endpoint=self.base,
            answer=answer,
            listing=listing,
            at=time.time(),
        )

    async def prompt(self, body: bytes, *, may_load: bool, patience: Patience) -> str | None:
        """What a llama-server makes of a request; `None` where it is too old to tell, or the model isn't loaded.

        Raises: BackendError.
        """
        url = f"{self._root}/apply-template{'' if may_load else '?autoload=false'}"  # which one with many models heeds
        try:
            answer = await self._http.post_json(url, msgspec.Raw(body), headers=self._headers, patience=patience)
        except BadStatus as error:
            if error.status == 404 or (not may_load and "not loaded" in error.body):
                return None
            raise
        prompt = answer.get("prompt") if isinstance(answer, dict) else None
        if not isinstance(prompt, str):
            raise BadAnswer(f"{self.place} sent no prompt for /apply-template", hint="is this a llama-server?")
        return prompt

    async def tokens(self, model: str, prompt: str, *, patience: Patience) -> int | None:
        """How many a llama-server makes of a prompt; `None` where it doesn't tell."""
        body = {"model": model, "content": prompt, "add_special": False, "parse_special": True}
        try:
            answer = await self._http.post_json(
                f"{self._root}/tokenize", body, headers=self._headers, patience=patience
            )
        except BackendError:
            return None
        tokens = answer.get("tokens") if isinstance(answer, dict) else None
        return len(tokens) if isinstance(tokens, list) else None

    async def _more(self, paths: tuple[str, ...], model: str) -> dict[str, object]:
        # A llama-server with several models wants to be told which, and would load it.
        which = f"?model={quote(model, safe='')}&autoload=false"
        answers = await asyncio.gather(*(self._ask(path + which if path == "/props" else path) for path in paths))
        return {path: answer for path, answer in zip(paths, answers, strict=True) if answer is not None}

    async def _ask(self, path: str) -> object:
        """What isn't there is no failure: the server may be of another kind."""
        try:
            return await self._http.get_json(f"{self._root}{path}", timeout=self._timeout, headers=self._headers)
        except BackendError:
            return None

    def no_such_model(self, model: str, models: object) -> NotFound:
        names = model_names(models)
        if not names:
            return NotFound(f"{self.place} has no models", hint="load one there first")
        if not model:
            hint = f"name one: {self.place}#NAME, of {some_of(names)}"
            return NotFound(f"{self.place} has several models", hint=hint)
        return no_such_model(model, self.place, names, hint_if_none="")


def _recognised_by(more: dict[str, object]) -> ServerKind:
    """LM Studio's older versions answer 200 to the path that they don't know, so both its answers count."""
    if ServerKind.LM_STUDIO in [recognise(lm_studio=more.get(path)) for path in ("/api/v1/models", "/api/v0/models")]:
        return ServerKind.LM_STUDIO
    return recognise(props=more.get("/props"), ollama_version=more.get("/api/version"))


def _about(more: dict[str, object], kind: ServerKind, name: str) -> dict[str, Any] | None:
    """What the server says of this one model."""
    for path in _WHERE_MORE_IS.get(kind, ()):
        answer = more.get(path)
        found = entry_of(answer, name) if kind is ServerKind.LM_STUDIO else answer
        if isinstance(found, dict):
            return found
    return None


def _text(answer: dict[str, Any] | None, key: str) -> str | None:
    value = answer.get(key) if answer else None
    return value if isinstance(value, str) else None


def model_names(models: object) -> list[str]:
    entries = models.get("data") if isinstance(models, dict) else None
    named = [entry.get("id") for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    return [name for name in named if isinstance(name, str)]
