"""Models that haven't changed since they were last looked at need no second look: what follows is kept on disk."""

from __future__ import annotations

import os
import re
import time
from functools import cache
from typing import TYPE_CHECKING

import msgspec

from callgate.detect import BOXED_FILE, Finding, TemplateSandbox, find_in, weigh
from callgate.registry import Derived, DerivedCache, key_of
from callgate.runtime.file_digests import content_digest
from callgate.runtime.files import version_of_file
from callgate.settings import Settings
from callgate.vocabulary import BackendError, Facts, ModelRef, Unreachable
from callgate.wire import ollama_base_url

if TYPE_CHECKING:
    from callgate.backends import OllamaBackend

PASSING = frozenset({"loaded_context"})
"""What is true of a server at the moment, and not of the model."""
MOST_KEYS, LONGEST_VALUE = 200, 200
_SHA256 = re.compile(r"(?:sha256:)?[0-9a-f]{64}")


class Derivations:
    """What was found of models whose version shows: files, the model in the box, and those of an Ollama.

    `recall` and `keep` are for one thread at a time.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._opened: DerivedCache | None = None
        self._trusted = settings.detect.cache_ttl > 0

    def distrust(self) -> None:
        """From now on nothing is recalled, so that each model is looked at anew."""
        self._trusted = False

    def recall(self, ref: ModelRef, version: str | None) -> Finding | None:
        """What was found of this version of the model."""
        if not self._trusted or version is None:
            return None
        if (kept := self._cache.get(self._key(ref))) is None or kept.version != version:
            return None
        return weigh(kept.facts, kept.evidence)

    def has_any(self, ref: ModelRef) -> bool:
        """Was this model ever looked at, in whatever version?"""
        return self._trusted and self._cache.get(self._key(ref)) is not None

    def digest_seen(self, ref: ModelRef) -> str | None:
        """Of the model as it is on this machine's disk, or as it was when somebody here last looked at it."""
        if at_hand := content_digest(ref):
            return at_hand
        kept = self._cache.get(self._key(ref))
        return kept.facts.digest if kept else None

    def keep(self, ref: ModelRef, version: str | None, finding: Finding) -> None:
        """No guesses, and nothing of a template that couldn't be examined: that may have been bad luck."""
        facts = finding.facts
        is_model = facts.header is not None or facts.server is not None
        if version is None or not is_model or finding.failure or finding.flaw or finding.capabilities.guess:
            return
        lasting = tuple(found for found in finding.evidence if found.claim not in PASSING)
        self._cache.put(self._key(ref), Derived(version, _worth_keeping(facts), lasting))

    def flush(self) -> None:
        """Onto the disk, where it can be done."""
        if self._opened:
            self._opened.flush()

    @property
    def _cache(self) -> DerivedCache:
        if self._opened is None:
            self._opened = DerivedCache.in_folder(self._settings.cache_folder, detector_version())
        return self._opened

    def _key(self, ref: ModelRef) -> str:
        """An answer of one server's is never taken for another's."""
        if ref.scheme == "ollama" and ref.endpoint is None:
            ref = ModelRef("ollama", ref.name, ollama_base_url(self._settings.ollama.host))
        return f"{ref.scheme} {key_of(ref)}"


def lasting_version(ref: ModelRef) -> str | None:
    """Of what lies on this machine's disk."""
    if ref.is_in_the_box:
        template = os.path.join(os.path.dirname(BOXED_FILE), f"{ref.scheme}.jinja")
        return f"{version_of_file(BOXED_FILE)} {version_of_file(template)}"
    return version_of_file(ref.name) if ref.scheme == "file" else None


def served_version(facts: Facts) -> str | None:
    """Of an Ollama's model: what it is, and who judges it. Anything but a real digest proves nothing."""
    if not (facts.digest and facts.server_version and _SHA256.fullmatch(facts.digest)):
        return None
    return f"{facts.digest} {facts.server_version}"


async def recall_of_ollama(
    derivations: Derivations, ref: ModelRef, server: OllamaBackend, sandbox: TemplateSandbox
) -> Finding | None:
    """What is kept of a model that this server still has, with what is true of the server now.

    Raises: Unreachable, if it doesn't answer.
    """
    if not derivations.has_any(ref):
        return None
    try:
        now = await server.listed(ref.name)
    except Unreachable:
        raise
    except BackendError:
        return None
    kept = derivations.recall(ref, served_version(now))
    if kept is None:
        return None
    told = Facts(name=now.name, server=now.server, running=now.running, at=now.at)
    passing = (found for found in find_in(told, sandbox).evidence if found.claim in PASSING)
    seen = msgspec.structs.replace(now, templates=kept.facts.templates, tokens=kept.facts.tokens, at=kept.facts.at)
    return weigh(seen, (*kept.evidence, *passing))


@cache
def detector_version() -> str:
    """Changes with the code that derives, be it a release or a line that somebody is just writing."""
    import callgate
    from callgate import detect

    folder = os.path.dirname(detect.__file__)
    stats = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                stat = os.stat(os.path.join(parent, name))
                stats.append(f"{name}{stat.st_size}{stat.st_mtime_ns}")
    import zlib

    return f"{callgate.__version__}-{zlib.crc32(''.join(stats).encode()):08x}"


def _worth_keeping(facts: Facts) -> Facts:
    header = facts.header
    if header is not None:
        short = ((key, value) for key, value in header.items() if _is_short(value))
        header = dict(entry for entry, _ in zip(short, range(MOST_KEYS), strict=False))
    return Facts(
        name=facts.name,
        templates=facts.templates,
        tokens=facts.tokens,
        header=header,
        parameter_count=facts.parameter_count,
        server=facts.server,
        server_version=facts.server_version,
        digest=facts.digest,
        at=facts.at or time.time(),
    )


def _is_short(value: object) -> bool:
    return isinstance(value, bool | int | float) or (isinstance(value, str) and len(value) <= LONGEST_VALUE)
