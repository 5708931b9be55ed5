"""Looks at a model on the Hugging Face hub without fetching it: a few megabytes of header, or its tokenizer's files."""

from __future__ import annotations

import os
import re
import time
from urllib.parse import quote

from callgate.detect import facts_of, read_header_from
from callgate.runtime.files import LARGEST_TEXT, MOST_VARIANTS, configuration_facts, decode_text
from callgate.runtime.hub_choice import candidates_in, narrowed, stays_inside
from callgate.runtime.model_folders import hub_home
from callgate.settings import Secret, Settings
from callgate.vocabulary import (
    BadAnswer,
    BadStatus,
    CallgateError,
    Facts,
    HubRef,
    LicenceNotAccepted,
    NoSuchRepo,
    NotFound,
    NoToken,
    TokenDenied,
    Unreachable,
    UsageError,
)
from callgate.wire import HttpClient, read_front, shown

MOST_NAMES = 20_000
LONGEST_TOKEN = 1_000
_TRUE = ("1", "ON", "YES", "TRUE")
_GET_A_TOKEN = "run `hf auth login`, or set HF_TOKEN to a token of yours"  # noqa: S105
_VARIANT = re.compile(r"additional_chat_templates/([\w.-]+)\.jinja")


async def hub_facts(ref: HubRef, http: HttpClient, settings: Settings) -> Facts:
    """Raises: NotFound, if there is no such thing; BackendError, if the hub doesn't answer."""
    for part in (ref.repo, ref.file, ref.revision):
        if part is not None and not stays_inside(part):
            raise UsageError(f"{part!r} can't be a part of a model's name on the hub")
    if any(os.environ.get(name, "").upper() in _TRUE for name in ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")):
        raise Unreachable("the hub isn't asked, for HF_HUB_OFFLINE is set", hint="unset it")
    hub = _Hub(ref, http, settings)
    names = await hub.file_names()
    fitting = narrowed(candidates_in(names), ref.quant)
    if ref.file or fitting:
        return await hub.header_facts(ref.file or fitting[0].name)
    if ref.quant:
        raise NotFound(f"{ref.repo!r} has no GGUF file of quantisation {ref.quant!r}")
    return await hub.tokenizer_facts(names)


class _Hub:
    def __init__(self, ref: HubRef, http: HttpClient, settings: Settings) -> None:
        self._ref = ref
        self._http = http
        self._timeout = settings.detect.server_timeout
        self._headers = {"Authorization": f"Bearer {token.reveal()}"} if (token := _token(settings)) else {}
        endpoint = settings.hub.endpoint.rstrip("/")
        self._page = f"{shown(endpoint)}/{ref.repo}"
        self._is_gated = False
        revision = quote(ref.revision or "main", safe="")
        self._about = f"{endpoint}/api/models/{ref.repo}/revision/{revision}"
        self._files = f"{endpoint}/{ref.repo}/resolve/{revision}"

    async def file_names(self) -> list[str]:
        try:
            about = await self._http.get_json(self._about, timeout=self._timeout, headers=self._headers)
        except BadStatus as error:
            raise self._refused(error) from None
        siblings = about.get("siblings") if isinstance(about, dict) else None
        self._is_gated = isinstance(about, dict) and bool(about.get("gated"))
        if not isinstance(siblings, list):
            raise BadAnswer(f"the hub doesn't say which files {self._ref.repo!r} has")
        names = (entry.get("rfilename") for entry in siblings[:MOST_NAMES] if isinstance(entry, dict))
        return sorted(name for name in names if isinstance(name, str) and stays_inside(name))

    async def header_facts(self, file: str) -> Facts:
        blocks = read_front(self._http, f"{self._files}/{quote(file)}", headers=self._headers)
        try:
            header = await read_header_from(blocks, repr(file))
        except BadStatus as error:
            raise self._refused(error) from None
        return facts_of(header, f"{self._ref.repo}/{file}", time.time())

    async def tokenizer_facts(self, names: list[str]) -> Facts:
        """Of a repository without GGUF files: the chat template as transformers would find it."""
        if "tokenizer_config.json" not in names:
            raise NotFound(f"{self._ref.repo!r} has neither GGUF files nor a tokenizer configuration")
        files = {variant[1]: name for name in names if (variant := _VARIANT.fullmatch(name))}
        files = dict(list(files.items())[:MOST_VARIANTS])
        if "chat_template.jinja" in names:
            files["default"] = "chat_template.jinja"
        url = f"{self._files}/tokenizer_config.json"
        try:
            configuration = await self._http.get_json(url, timeout=self._timeout, headers=self._headers)
            beside = {name: await self._text(file) for name, file in files.items()}
        except BadStatus as error:
            raise self._refused(error) from None
        return configuration_facts(configuration, beside, self._ref.repo)

    async def _text(self, file: str) -> str:
        body = b""
        blocks = read_front(self._http, f"{self._files}/{quote(file)}", headers=self._headers)
        async for piece in blocks:
            body += piece
            if len(body) > LARGEST_TEXT:
                await blocks.aclose()
                break
        return decode_text(body, file)

    def _refused(self, error: BadStatus) -> CallgateError:
        repo = self._ref.repo
        if error.status in (401, 403) and self._is_gated and not self._headers:
            return NoToken(
                f"{repo!r} is gated: the hub wants to know who asks",
                hint=f"accept its licence at {self._page}, then {_GET_A_TOKEN}",
            )
        if error.status == 403 and self._is_gated:
            return LicenceNotAccepted(
                f"{repo!r} is gated, and you have yet to accept its licence, or its owners to answer",
                hint=f"open {self._page}",
            )
        if error.status == 401 and self._is_gated:
            return TokenDenied("the hub doesn't accept your token", hint=f"is it a valid one? {_GET_A_TOKEN}")
        if error.status in (401, 403):
            return NoSuchRepo(
                f"the hub won't show {repo!r}: there is no such repository, or it is private or gated",
                hint="is the name right? Else set HF_TOKEN to a token that may read it",
            )
        if error.status == 404:
            return NotFound(f"the hub has no {self._ref!s}", hint="are the name, the file and the revision right?")
        return error


def _token(settings: Settings) -> Secret | None:
    """The one that is set, or else the one that `hf auth login` wrote."""
    if settings.hub.token:
        return settings.hub.token
    try:
        with open(os.path.join(hub_home(settings), "token"), encoding="ascii") as file:
            token = file.read(LONGEST_TOKEN + 1).strip()
    except (OSError, ValueError):
        return None
    return Secret(token) if token and token.isprintable() and " " not in token and len(token) <= LONGEST_TOKEN else None
