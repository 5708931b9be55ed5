"""Asks the hub about repositories, through `huggingface_hub`, and where their files are.

The library knows the hub's API, where people keep their token, and when they are offline. Where a file is we ask
ourselves: the library would take our token along to other hubs.
"""

from __future__ import annotations

import asyncio
import difflib
from collections.abc import Callable, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from callgate import __version__
from callgate.hub.answers import expected_of, is_a_name, read_repository, read_summary
from callgate.hub.background import in_background
from callgate.hub.naming import checked
from callgate.hub.records import HubFile, Location, Repository, Summary
from callgate.hub.refusals import Asked, bad_status, no_such_repo, no_token, refusal
from callgate.hub.retrying import MOST_QUESTIONS, PASSING, Patience, asked_to_wait
from callgate.settings import Secret, Settings
from callgate.vocabulary import BadAnswer, CallgateError, HubRef, NoSuchRepo, Unreachable, UsageError
from callgate.wire import HttpClient, redirected, shown

if TYPE_CHECKING:
    from huggingface_hub import ModelInfo

ANSWER_SECONDS = 20.0
HINT_SECONDS = 3.0
MOST_REDIRECTS = 5
_MOST_NEAR = 200
_REDIRECTS = (301, 302, 303, 307, 308)

T = TypeVar("T")


class HubClient:
    """Belongs to one event loop; its connections belong to `http`."""

    def __init__(self, settings: Settings, http: HttpClient) -> None:
        """Raises: UsageError, if `huggingface_hub` isn't installed."""
        try:
            from huggingface_hub import HfApi, get_token
        except ImportError:
            raise UsageError("the hub's library isn't installed", hint="pip install 'callgate[hub]'") from None
        self.endpoint = settings.hub.endpoint.rstrip("/")
        self.on_wait: Callable[[float], None] = lambda _: None
        """Hears how many seconds a server wants us to wait."""
        self._http = http
        self.token = settings.hub.token or (Secret(found) if (found := get_token()) else None)
        self._api = HfApi(
            endpoint=self.endpoint,
            token=self.token.reveal() if self.token else False,
            library_name="callgate",
            library_version=__version__,
        )

    async def repository(self, ref: HubRef) -> Repository:
        """What there is in the repository that `ref` names.

        Raises: NoSuchRepo, NotFound, HubRefused, BackendError; UsageError, if it can't be a name.
        """
        asked = self._asked(checked(ref).repo, ref.revision)
        try:
            info = await self._told(partial(self._info, ref), asked)
        except NoSuchRepo:
            raise no_such_repo(asked, await self._near(ref.repo)) from None
        return read_repository(info, ref)

    async def summary(self, repository: Repository) -> Summary | None:
        """Nothing, if the hub has none, fails, or is slow: it is a hint and no more."""
        revision = None if repository.revision == "main" else repository.revision
        ask = partial(self._api.model_info, repository.id, revision=revision, expand=["gguf"], timeout=HINT_SECONDS)
        try:
            async with asyncio.timeout(HINT_SECONDS):
                info = await self._told(ask, self._asked(repository.id, revision), tries=1)
        except (CallgateError, TimeoutError):
            return None
        return read_summary(getattr(info, "gguf", None))

    def require_access(self, repository: Repository) -> None:
        """Raises: NoToken, if the repository is gated and nobody said who asks."""
        if repository.gated and self.token is None:
            raise no_token(self._asked(repository.id, repository.revision))

    async def locate(self, repository: Repository, file: HubFile) -> Location:
        """Where `file` is to be had. Raises: HubRefused, NotFound, BackendError."""
        asked = self._asked(repository.id, repository.revision, file.name)
        patience, revision = Patience(MOST_QUESTIONS, self.on_wait), repository.commit
        while True:
            status, headers, location = await self._head(repository, file, revision)
            if location:
                return location
            if status == 404 and revision != repository.revision:  # a mirror may know branches only
                revision = repository.revision
                continue
            wait = asked_to_wait(headers)
            if status not in PASSING:
                raise refusal(status, headers, asked)
            if not await patience.may_try_again(wait):
                raise bad_status(status, asked, wait=wait)

    def headers(self) -> dict[str, str]:
        """For the hub alone."""
        return {"Authorization": f"Bearer {self.token.reveal()}"} if self.token else {}

    async def _head(
        self, repository: Repository, file: HubFile, revision: str
    ) -> tuple[int, Mapping[str, str], Location | None]:
        """The status and headers of the hub's answer, and the location if that is what it was."""
        from yarl import URL

        hub = URL(self.endpoint)
        url = URL(f"{self.endpoint}/{repository.id}/resolve/{quote(revision, safe='')}/{quote(file.name)}")
        expect = (*_REDIRECTS, *PASSING, 400, 401, 403, 404, 410, 416)
        for _ in range(MOST_REDIRECTS):
            is_at_the_hub = url.origin() == hub.origin()
            headers = {"Accept-Encoding": "identity", **(self.headers() if is_at_the_hub else {})}
            async with self._http.open("HEAD", url, headers=headers, timeout=ANSWER_SECONDS, expect=expect) as response:
                told = dict(response.headers)
                status, tag, size = response.status, response.headers.get("ETag"), response.content_length
                linked = response.headers.get("X-Linked-Etag"), response.headers.get("X-Linked-Size")
            if status in _REDIRECTS:
                url = redirected(url, told.get("Location", ""))
                # On the way to where large files are, this very answer says what they are; of a moved one it doesn't.
                if linked[0] is None or url.origin() == hub.origin():
                    continue
            elif status >= 300:
                return status, told, None
            is_at_the_hub = url.origin() == hub.origin()
            expected, name = expected_of(file, linked[0] or tag, linked[1], None if status in _REDIRECTS else size)
            return status, told, Location(url=url, is_at_the_hub=is_at_the_hub, tag=name, expected=expected)
        raise BadAnswer(f"{shown(str(url))} redirects more than {MOST_REDIRECTS} times")

    def _info(self, ref: HubRef) -> ModelInfo:
        try:
            return self._api.model_info(ref.repo, revision=ref.revision, files_metadata=True, timeout=ANSWER_SECONDS)
        except (KeyError, TypeError, AttributeError):  # metadata that aren't as the library expects them
            return self._api.model_info(ref.repo, revision=ref.revision, timeout=ANSWER_SECONDS)

    async def _told(self, ask: Callable[[], T], asked: Asked, *, tries: int = MOST_QUESTIONS) -> T:
        """What the library says; its errors become ours. What may pass is asked again."""
        from huggingface_hub.errors import HfHubHTTPError, HFValidationError, OfflineModeIsEnabled

        patience = Patience(tries, self.on_wait)
        # Of all errors of the HTTP client that the library uses, whichever that is.
        failures: type[BaseException] = HfHubHTTPError.__bases__[0]
        while True:
            try:
                return await in_background(ask)
            except HfHubHTTPError as error:
                status, headers = error.response.status_code, dict(error.response.headers)
                wait = asked_to_wait(headers)
                if status not in PASSING:
                    raise refusal(status, headers, asked) from None
                if not await patience.may_try_again(wait):
                    raise bad_status(status, asked, wait=wait) from None
            except OfflineModeIsEnabled:
                raise Unreachable("the hub isn't asked, for HF_HUB_OFFLINE is set", hint="unset it") from None
            except HFValidationError:
                raise UsageError(f"{asked.repo!r} can't be the name of a repository", hint="write OWNER/NAME") from None
            except (failures, OSError) as error:
                if not await patience.may_try_again():
                    raise Unreachable(
                        f"the hub at {shown(self.endpoint)} can't be reached ({type(error).__name__})",
                        hint="are you online? HF_ENDPOINT names another hub",
                    ) from None
            except (KeyError, TypeError, ValueError, AttributeError, RecursionError):
                raise BadAnswer(
                    f"{shown(self.endpoint)} sent something about {asked.repo!r} that can't be understood",
                    hint="is this a Hugging Face hub? see HF_ENDPOINT",
                ) from None

    async def _near(self, repo: str) -> list[str]:
        """Repositories that are called nearly the same."""
        owner, _, name = repo.partition("/")
        found: dict[str, None] = {}
        for search in ({"author": owner}, {"search": name}):
            ask = partial(self._listed, **search)
            try:
                found.update(dict.fromkeys(await self._told(ask, self._asked(repo))))
            except CallgateError:
                continue
        found.pop(repo, None)
        return difflib.get_close_matches(repo, found, n=3, cutoff=0.7)

    def _listed(self, **search: str) -> list[str]:
        models = self._api.list_models(limit=_MOST_NEAR, **search)  # type: ignore[arg-type]
        return [model.id for model in islice(models, _MOST_NEAR) if is_a_name(model.id)]

    def _asked(self, repo: str, revision: str | None = None, file: str | None = None) -> Asked:
        return Asked(
            repo=repo,
            page=f"{shown(self.endpoint)}/{repo}",
            revision=revision or "main",
            file=file,
            with_token=self.token is not None,
        )
