"""A model from the hub: resolved, chosen, looked at, fetched and verified, in this order."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Protocol

import msgspec

from callgate.backends import Loading, free_memory
from callgate.detect import TemplateSandbox
from callgate.hub.background import in_background
from callgate.hub.choosing import Choice, choose, does_not_fit
from callgate.hub.client import HubClient
from callgate.hub.fetching import Fetched, Fetcher
from callgate.hub.looking import Looked, hint_of
from callgate.hub.records import Repository, Summary
from callgate.hub.verifying import Verified, verify
from callgate.runtime import Candidate, Quarantine, fetched_file
from callgate.settings import Settings
from callgate.vocabulary import (
    CallgateError,
    EngineFailed,
    HeaderError,
    HubRef,
    ModelRejected,
    NotTested,
    TemplateError,
    Unreachable,
    WrongHash,
)
from callgate.wire import HttpClient

SUMMARY_SECONDS = 0.5
"""That the hub's own summary may take longer than the header, which says more."""


class Wishes(msgspec.Struct, frozen=True, kw_only=True):
    allow_no_tools: bool = False
    dry_run: bool = False
    probe: bool = False


class Onlooker(Protocol):
    """Whoever watches a pull, and may have a say in it."""

    def found(self, repository: Repository) -> None: ...

    def chosen(self, repository: Repository, choice: Choice) -> None: ...

    def choose(self, repository: Repository, candidates: Sequence[Candidate]) -> Candidate | None:
        """One of several, by somebody who can be asked."""
        ...

    def looked(self, looked: Looked, free: int) -> None: ...

    def fetching(self, name: str, done: int, total: int, fetched: int) -> None:
        """`done` of `total` bytes are here, of which `fetched` came now."""
        ...

    def checking(self, name: str, done: int, total: int) -> None: ...

    def loading(self, how_far: Loading) -> None: ...

    def note(self, text: str) -> None: ...


class Pulled(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it. Without `fetched`, it was only looked at."""

    repository: Repository
    choice: Choice
    looked: Looked
    fetched: Fetched | None = None
    verified: Verified | None = None

    @property
    def verdict(self) -> str:
        return str(self.verified.finding.capabilities.tools) if self.verified else self.looked.verdict


async def pull(ref: HubRef, settings: Settings, wishes: Wishes, onlooker: Onlooker) -> Pulled:
    """Raises: NoSuchRepo, NotFound and UsageError, if there is no such model; HubRefused, if the hub won't give it;
    ModelRejected, if it can't call tools; FetchFailed, HeaderError, BackendError, if it can't be fetched or is no good.
    """
    async with HttpClient() as http:
        with TemplateSandbox() as sandbox:
            hub = HubClient(settings, http)
            hub.on_wait = lambda seconds: onlooker.note(f"the hub wants us to wait {seconds:.0f} s")
            return await _Pull(ref, settings, wishes, onlooker, hub, http, sandbox).run()


async def list_repository(ref: HubRef, settings: Settings) -> Repository:
    """What there is in it. Raises as `pull` does."""
    async with HttpClient() as http:
        return await HubClient(settings, http).repository(ref)


class _Pull:
    def __init__(
        self,
        ref: HubRef,
        settings: Settings,
        wishes: Wishes,
        onlooker: Onlooker,
        hub: HubClient,
        http: HttpClient,
        sandbox: TemplateSandbox,
    ) -> None:
        self._ref = ref
        self._settings = settings
        self._wishes = wishes
        self._onlooker = onlooker
        self._hub = hub
        self._http = http
        self._sandbox = sandbox
        self._quarantine = Quarantine(settings)

    async def run(self) -> Pulled:
        repository = await self._found()
        self._onlooker.found(repository)
        self._hub.require_access(repository)
        # Whoever is asked takes their time, and may rather interrupt us.
        choice = await in_background(
            lambda: choose(repository, self._ref, lambda several: self._onlooker.choose(repository, several))
        )
        self._onlooker.chosen(repository, choice)
        fetcher = Fetcher(self._hub, self._http, repository, choice, self._settings, self._onlooker)
        summary = asyncio.create_task(self._hub.summary(repository))
        try:
            await fetcher.locate()
            looked = await self._look(fetcher, summary)
        finally:
            summary.cancel()
        free = free_memory()
        self._onlooker.looked(looked, free)
        self._require_tools(looked)
        if looked.memory and looked.memory > free:
            self._onlooker.note(does_not_fit(repository, looked.memory, free))
        if self._wishes.dry_run:
            return Pulled(repository=repository, choice=choice, looked=looked)
        fetched = await fetcher.fetch(looked.front)
        verified = await self._verify(fetched, repository, looked)
        for note in verified.notes:
            self._onlooker.note(note)
        return Pulled(repository=repository, choice=choice, looked=looked, fetched=fetched, verified=verified)

    async def _found(self) -> Repository:
        try:
            return await self._hub.repository(self._ref)
        except Unreachable as error:
            if here := fetched_file(self._ref, self._settings):
                error.hint = f"what was fetched of it before is here: {here}"
            raise

    async def _look(self, fetcher: Fetcher, summary: asyncio.Task[Summary | None]) -> Looked:
        looked = await fetcher.look(self._sandbox)
        await asyncio.wait({summary}, timeout=SUMMARY_SECONDS if looked.finding else None)
        if not summary.done():
            return looked
        told = summary.result()
        hint = await asyncio.to_thread(hint_of, told, self._sandbox)
        context = told.context_length if told else None
        return msgspec.structs.replace(looked, hint=hint, context_length=looked.context_length or context)

    def _require_tools(self, looked: Looked) -> None:
        if looked.verdict == "no" and not self._wishes.allow_no_tools:
            assert looked.finding
            why = next(piece.detail for piece in looked.finding.capabilities.evidence if piece.claim == "tools")
            raise ModelRejected(
                f"'{self._ref}' can't call tools: {why}", hint="choose another model, or add --allow-no-tools"
            )

    async def _verify(self, fetched: Fetched, repository: Repository, looked: Looked) -> Verified:
        try:
            verified = await verify(
                fetched.path,
                self._settings,
                self._sandbox,
                weights=sum(file.size for file in fetched.files),
                expected=looked.finding,
                probe=self._wishes.probe,
                loading=self._onlooker.loading,
            )
        except NotTested:
            raise
        except (EngineFailed, HeaderError, TemplateError, ModelRejected) as error:
            self._set_apart(fetched, repository, error)
            raise
        self._release(fetched, verified)
        if not looked.finding:
            self._require_tools(msgspec.structs.replace(looked, finding=verified.finding))
        return verified

    def _release(self, fetched: Fetched, verified: Verified) -> None:
        """From quarantine, if what it is there for was tested again. Raises: NotTested, if it wasn't."""
        entry = self._quarantine.entry_of(fetched.path)
        if entry is None:
            return
        was_tested = {
            EngineFailed.__name__: verified.was_loaded,
            ModelRejected.__name__: bool(verified.probed),
            WrongHash.__name__: all(file.hash_checked for file in fetched.files),
        }.get(entry.kind, True)
        if was_tested:
            self._quarantine.lift(fetched.path)
            return
        if entry.moved:
            self._quarantine.move_again(entry)
        again = f"callgate pull --probe {self._ref} tests that again"
        let_go = f"callgate quarantine restore {entry.id} lets it go"
        raise NotTested(
            f"'{self._ref}' stays in quarantine, for this wasn't tested again: {entry.reason}",
            hint=again if entry.kind == ModelRejected.__name__ else let_go,
        )

    def _set_apart(self, fetched: Fetched, repository: Repository, error: CallgateError) -> None:
        entry = self._quarantine.add(
            tuple(file.path for file in fetched.files),
            reason=error.message,
            kind=type(error).__name__,
            repo=repository.id,
            revision=repository.commit,
            move=not fetched.is_shared,
        )
        error.hint = f"it is in quarantine: callgate quarantine restore {entry.id}, or delete {entry.id}"
