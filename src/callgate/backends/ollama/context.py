"""How much context a prompt needs, and whether Ollama has to be told.

Ollama gives a model 4,096 tokens unless told otherwise, and drops without a word what doesn't fit: tools, most often.
But it loads the model anew whenever `num_ctx` changes. So nothing is sent while what is loaded suffices; what is asked
for grows in powers of two, and once it has grown, it stays for as long as the session lasts.

Most prompts are so small that nobody is asked anything. For others `/api/ps` tells what is loaded and `/api/show` what
the model can take, and both are believed for a few minutes.
"""

from __future__ import annotations

import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import msgspec

from callgate.backends.ollama.names import entry_for, full_name
from callgate.vocabulary import BackendError, Notice

SURE_TOKENS = 2048
"""What every Ollama has given since there are tools; from 0.6 on it is twice that."""
DEFAULT_TOKENS = 4096
ANSWER_TOKENS = 1024
"""Room for the answer, beside the prompt."""
MOST_TOKENS = 1 << 18
BELIEVED_SECONDS = 180.0

_CAUTION = 4 / 3
"""By how much `prompt_tokens` overstates an English text."""
_NUM_CTX = re.compile(r"^num_ctx\s+(\d{1,9})\s*$", re.MULTILINE | re.ASCII)


class Fit(msgspec.Struct, frozen=True):
    """What to ask for one prompt."""

    num_ctx: int | None = None
    notice: Notice | None = None
    to_verify: int = 0
    """What the turn needs, where nothing is asked for because what is there should do: `verify` afterwards that it was.
    What is loaded may be what somebody else asked for, and without a word from us Ollama goes back to its default."""


class _Limits(msgspec.Struct, frozen=True):
    longest: int | None = None
    own: int | None = None
    """The `num_ctx` among the model's parameters."""


class Contexts:
    """The contexts of one server's models, in one session."""

    def __init__(self, running: Callable[[], Awaitable[object]], show: Callable[[str], Awaitable[object]]) -> None:
        self._ask_running = running
        self._ask_show = show
        self._asked_for: dict[str, int] = {}
        self._loaded: dict[str, tuple[float, int]] = {}
        self._limits: dict[str, tuple[float, _Limits]] = {}
        self._verified: dict[str, int] = {}

    def was_set(self, model: str, num_ctx: object) -> None:
        """By the user, whose word holds for the one request; what comes later doesn't shrink it."""
        if isinstance(num_ctx, int) and not isinstance(num_ctx, bool):
            name = full_name(model)
            self._asked_for[name] = max(num_ctx, self._asked_for.get(name, 0))

    async def fit(self, model: str, prompt: int) -> Fit:
        """For a prompt of about so many tokens. A server that doesn't answer here is no failure."""
        name = full_name(model)
        need = prompt + ANSWER_TOKENS
        asked_for = self._asked_for.get(name)
        if need <= max(SURE_TOKENS, asked_for or 0):
            return Fit(asked_for)
        limits = await self._limits_of(name)
        loaded = await self._loaded_of(name)
        notice = _too_small(model, prompt, limits.longest)
        wanted = min(_power_of_two(need), limits.longest or MOST_TOKENS, MOST_TOKENS)
        given = asked_for or loaded or limits.own or DEFAULT_TOKENS
        if need > given and wanted > given:
            self._asked_for[name] = wanted
            return Fit(wanted, notice)
        is_trusted = asked_for is None and need <= given and self._verified.get(name, 0) < need
        return Fit(asked_for, notice, to_verify=need if is_trusted else 0)

    async def verify(self, model: str, need: int) -> list[Notice]:
        """Was there room enough, in a turn that asked for none?"""
        name = full_name(model)
        self._loaded.pop(name, None)
        loaded = await self._loaded_of(name)
        if loaded is None or loaded >= need:
            self._verified[name] = loaded or 0
            return []
        self._asked_for[name] = min(_power_of_two(need), MOST_TOKENS)
        said = (
            f"Ollama ran {model!r} with a context of {loaded:,} tokens, and this turn needs about {need:,}: "
            f"it may have lost its beginning. The next turn has room for {self._asked_for[name]:,}"
        )
        return [Notice("context_too_small", said)]

    async def _loaded_of(self, name: str) -> int | None:
        """`None` where it isn't loaded, or can't be told."""
        at, loaded = self._loaded.get(name, (0.0, 0))
        if loaded and time.monotonic() - at < BELIEVED_SECONDS:
            return loaded
        try:
            entry = entry_for(await self._ask_running(), name)
        except BackendError:
            return None
        found = _positive((entry or {}).get("context_length"))
        if found:
            self._loaded[name] = time.monotonic(), found
        return found

    async def _limits_of(self, name: str) -> _Limits:
        at, limits = self._limits.get(name, (0.0, None))
        if limits and time.monotonic() - at < BELIEVED_SECONDS:
            return limits
        try:
            found = _limits_in(await self._ask_show(name))
        except BackendError:
            return _Limits()
        self._limits[name] = time.monotonic(), found
        return found


def _limits_in(show: object) -> _Limits:
    if not isinstance(show, dict):
        return _Limits()
    info = show.get("model_info")
    lengths = _lengths(info) if isinstance(info, dict) else []
    parameters = show.get("parameters")
    own = _NUM_CTX.search(parameters) if isinstance(parameters, str) else None
    return _Limits(max(lengths, default=None), _positive(int(own[1])) if own else None)


def _lengths(info: Mapping[str, Any]) -> list[int]:
    found = (_positive(value) for key, value in info.items() if str(key).endswith(".context_length"))
    return [length for length in found if length]


def _positive(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 1 << 32 else None


def _power_of_two(tokens: int) -> int:
    return 1 << (tokens - 1).bit_length()


def _too_small(model: str, prompt: int, longest: int | None) -> Notice | None:
    likely = int(prompt / _CAUTION)
    if not longest or likely <= longest:
        return None
    return Notice(
        "context_too_small",
        f"prompt and tools take about {likely:,} tokens, and {model!r} has room for {longest:,}: "
        "Ollama drops what doesn't fit, the oldest first",
    )
