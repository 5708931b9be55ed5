"""Who takes the turn when a model fails.

Recoverable is what another model may do better, and what the user couldn't mend in a word:

    Unreachable             its server doesn't answer
    EngineFailed            our own engine didn't start, or died
    BadStatus               408, 429 and 5xx: its server is busy or broken; not 400, 401, 403, which the user can mend
    BadAnswer, StreamFailed, StreamCut   its server talks nonsense, or falls silent
    NotFound                its server has no such model, or there is no such file
    ModelFileError          its file is no good
    CannotChat              it is no chat model
    ModelRejected           it can't call tools, and every model here has to

All that only before anything was shown. A refusal of tools isn't there, for a turn goes on without them by itself.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable, Sequence

from callgate.registry import Registry
from callgate.runtime.choice import last_model
from callgate.runtime.derivations import Derivations
from callgate.runtime.knowledge import is_validated
from callgate.runtime.places import known_places
from callgate.settings import Settings
from callgate.vocabulary import (
    BadAnswer,
    BadStatus,
    CallgateError,
    CannotChat,
    EngineFailed,
    ModelFileError,
    ModelRef,
    ModelRejected,
    NotFound,
    StreamCut,
    StreamFailed,
    Unreachable,
    UsageError,
)
from callgate.wire import is_loopback, ollama_base_url

log = logging.getLogger(__name__)

_RECOVERABLE = (
    Unreachable,
    EngineFailed,
    BadAnswer,
    StreamFailed,
    StreamCut,
    NotFound,
    ModelFileError,
    CannotChat,
    ModelRejected,
)
_HERE = ("file", "hf", "tiny", "tiny-plain", "scripted")
_CLOUD = ("-cloud", ":cloud")
"""How the names of models end that an Ollama doesn't run itself, but somebody else for money."""

_HOUSE = (".local", ".lan", ".internal", ".home.arpa")

Consent = Callable[[ModelRef], Awaitable[bool]]
"""Whether the user agrees to a model that may cost money."""


def is_recoverable(error: CallgateError) -> bool:
    if isinstance(error, BadStatus):
        return error.status in (408, 429) or error.status >= 500
    return isinstance(error, _RECOVERABLE)


def may_cost(ref: ModelRef, settings: Settings) -> bool:
    """Whether it runs on somebody else's machine, as far as can be told; of `auto`, whether it could."""
    if ref.scheme in _HERE:
        return False
    if ref.scheme == "auto":
        return _auto_may_cost(settings)
    if ref.scheme == "ollama":
        if ref.name.lower().endswith(_CLOUD):
            return True
        try:
            return not _is_near(ref.endpoint or ollama_base_url(settings.ollama.host))
        except UsageError:
            return True
    return ref.endpoint is None or not _is_near(ref.endpoint)


class Fallback:
    """The models that take over, in their order: those that passed a validation first.

    One that may cost money is taken only if the user agrees; whoever names it at that very moment has agreed.
    """

    def __init__(
        self, refs: Iterable[ModelRef] = (), *, settings: Settings, consent: Consent | None = None, agreed: bool = False
    ) -> None:
        self._refs = tuple(dict.fromkeys(refs))
        self._settings = settings
        self._consent = consent
        self._agreed = agreed

    @classmethod
    def of(cls, settings: Settings, named: str | None = None, *, consent: Consent | None = None) -> Fallback:
        """Those that are `named`, or else those of the settings: texts with commas. Raises: UsageError."""
        return cls(
            parse_chain(named if named is not None else settings.models.fallback or ""),
            settings=settings,
            consent=consent,
            agreed=named is not None,
        )

    def after(self, failed: Iterable[ModelRef]) -> Sequence[ModelRef]:
        """Those that haven't failed yet."""
        gone = set(failed)
        left = [ref for ref in self._refs if ref not in gone]
        if len(left) < 2:
            return left
        registry = Registry.in_folder(self._settings.data_folder)
        seen = Derivations(self._settings)
        return sorted(left, key=lambda ref: not _is_validated(registry, ref, seen))

    async def agrees_to(self, ref: ModelRef) -> bool:
        if self._agreed or not may_cost(ref, self._settings):
            return True
        try:
            return self._consent is not None and await self._consent(ref)
        except Exception as error:  # noqa: BLE001 - it is the asker's, and what isn't a yes is a no
            log.warning("nobody could be asked for %r (%s)", ref.name, type(error).__name__)
            return False

    def costs(self, ref: ModelRef) -> bool:
        return may_cost(ref, self._settings)


def parse_chain(text: str) -> list[ModelRef]:
    """Raises: UsageError, if one of them can't be the name of a model."""
    return [ModelRef.parse(name) for part in text.split(",") if (name := part.strip())]


def _auto_may_cost(settings: Settings) -> bool:
    try:
        if settings.models.default not in (None, "auto"):
            return may_cost(ModelRef.parse(settings.models.default), settings)
        last = last_model(settings)
        elsewhere = any(not _is_near(place.url) for place in known_places(settings))
        return elsewhere or (last is not None and may_cost(last, settings))
    except UsageError:
        return True


def _is_near(url: str) -> bool:
    """This machine, or one of the same house."""
    if is_loopback(url):
        return True
    from ipaddress import ip_address
    from urllib.parse import urlsplit

    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    try:
        address = ip_address(host.partition("%")[0])
        return (getattr(address, "ipv4_mapped", None) or address).is_private
    except ValueError:
        is_number = host[:1].isdigit() and "." not in host  # another way to write any address there is
        return bool(host) and not is_number and ("." not in host or host.endswith(_HOUSE))


def _is_validated(registry: Registry, ref: ModelRef, seen: Derivations) -> bool:
    """Nobody is asked, for somebody waits: of a server's model counts what it was when it was last looked at."""
    record = registry.get(ref)
    return is_validated(record, None) and is_validated(record, seen.digest_seen(ref))
