"""The detector for programs without an event loop: the same questions, plain answers."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future
from types import TracebackType
from typing import Self

from callgate.detect import Finding, TemplateSandbox
from callgate.runtime.background import BackgroundLoop
from callgate.runtime.detector import AsyncDetector
from callgate.runtime.knowledge import Knowledge
from callgate.settings import Settings
from callgate.vocabulary import Capabilities, ModelRef


class Detector:
    """Finds out what models can do. May be shared between threads, and used where an event loop runs."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        knowledge: Knowledge | None = None,
        sandbox: TemplateSandbox | None = None,
    ) -> None:
        self._detector = AsyncDetector(settings, knowledge=knowledge, sandbox=sandbox)
        self._loop = BackgroundLoop("detector", self._detector.close)

    def capabilities(self, ref: ModelRef | str) -> Capabilities:
        """Raises: UsageError or ModelFileError, if `ref` is a file that is no good; never for a server that fails."""
        return self._loop.result(self._detector.capabilities(ref))

    def find(self, ref: ModelRef | str) -> Finding:
        """The capabilities with the facts behind them. Raises as `capabilities` does."""
        return self._loop.result(self._detector.find(ref))

    def finding(self, ref: ModelRef | str) -> Future[Finding]:
        """The same, begun now and awaited later."""
        return self._loop.begun(self._detector.find(ref))

    def resolve(self, ref: ModelRef | str) -> ModelRef:
        """The model that `auto` stands for; every other name stands for itself."""
        return self._loop.result(self._detector.resolve(ref))

    def effective_context(self, ref: ModelRef | str) -> int:
        """How many tokens a conversation may take, so that there is room for an answer."""
        return self._loop.result(self._detector.effective_context(ref))

    def can_use_tools(self, ref: ModelRef | str) -> bool:
        return self._loop.result(self._detector.can_use_tools(ref))

    def find_best(
        self, models: Sequence[ModelRef | str], *, tools: bool = False, vision: bool = False, min_context: int = 0
    ) -> ModelRef | str | None:
        """The first of `models` that can do what is asked for, and never one for embedding."""
        return self._loop.result(self._detector.find_best(models, tools=tools, vision=vision, min_context=min_context))

    def clear(self) -> None:
        """Forget everything, so that each model is looked at anew."""
        self._loop.call_soon(self._detector.clear)

    @property
    def closed(self) -> bool:
        return self._loop.closed

    def close(self) -> None:
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def check(model: ModelRef | str) -> Capabilities:
    """What `model` can do, and the evidence: `check("qwen3:8b").tools` is yes, no or unknown.

    Raises: UsageError or ModelFileError, if it names a file that is no good; never for a server that fails, which makes
    the answer a guess.
    """
    return shared_detector().capabilities(model)


_sharing = threading.Lock()
_shared: Detector | None = None


def shared_detector() -> Detector:
    """The one that `callgate.check` and everyone else without special wishes uses."""
    global _shared  # noqa: PLW0603
    with _sharing:
        if _shared is None or _shared.closed:
            _shared = Detector()
        return _shared


def _forget_shared() -> None:
    """A forked child has its parent's detector without its thread: it would wait for ever."""
    global _shared, _sharing
    _shared, _sharing = None, threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_shared)
