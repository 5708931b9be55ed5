"""The way to Redis: asked with little patience, and left alone for a while when it is away."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from secrets import token_hex
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from callgate.settings import Secret
from callgate.vocabulary import CallgateError, Unreachable, UsageError

if TYPE_CHECKING:
    from redis.asyncio import Redis

log = logging.getLogger(__name__)

PREFIX = "callgate:1:"
"""Before every name there. Who keeps things in another way has another number, and neither sees the other's."""
PATIENCE_SECONDS = 2.0
FIRST_PAUSE = 1.0
LONGEST_PAUSE = 15.0
MOST_CONNECTIONS = 16
QUIET_SECONDS = 60.0
"""Between two complaints about what Redis refuses."""
LONGEST_MARK = 32
_SCHEMES = ("redis", "rediss", "unix")
_URL_HINT = "redis://HOST:6379/0, rediss:// with TLS, or unix:///path/to/redis.sock"

T = TypeVar("T")


class Away(Exception):
    """Redis doesn't answer, or not now, or not that."""


class RedisLink:
    """Belongs to one event loop."""

    def __init__(self, url: Secret) -> None:
        """Raises: UsageError, if that is no place of a Redis, or the package isn't there."""
        self.place = shown_place(url)
        if find_spec("redis") is None:
            raise UsageError("to share things through Redis takes its package", hint="pip install 'callgate[redis]'")
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff

        try:
            pool = BlockingConnectionPool.from_url(
                url.reveal(),
                max_connections=MOST_CONNECTIONS,
                timeout=PATIENCE_SECONDS,
                socket_timeout=PATIENCE_SECONDS,
                socket_connect_timeout=PATIENCE_SECONDS,
                retry=Retry(NoBackoff(), 1),  # a connection may have ended while nobody needed it
                protocol=2,
            )
        except (ValueError, TypeError):  # what they say may have a password in it
            raise UsageError(f"{self.place!r} is no place of a Redis", hint=_URL_HINT) from None
        self._redis: Redis = Redis.from_pool(pool)
        self._pause = FIRST_PAUSE
        self._away_until = 0.0
        self._complained_at = -1e9
        self.is_up = True
        self.on_failure: Callable[[str], None] = lambda _: None
        """Gets the kind of what went wrong."""

    async def open(self) -> None:
        """Raises: UsageError, if it doesn't let us in; Unreachable, if it doesn't answer."""
        from redis.exceptions import AuthenticationError, AuthorizationError, NoPermissionError, RedisError

        try:
            async with asyncio.timeout(2 * PATIENCE_SECONDS):
                await self._redis.ping()
        except (AuthenticationError, AuthorizationError, NoPermissionError):
            await self.close()
            raise UsageError(
                f"the Redis at {self.place} refuses us", hint="is the user's name and password in its URL right?"
            ) from None
        except (RedisError, OSError, TimeoutError, ValueError, TypeError) as error:
            await self.close()
            raise self._unreachable(error) from None

    async def close(self) -> None:
        from contextlib import suppress

        from redis.exceptions import RedisError

        with suppress(RedisError, OSError, TimeoutError):
            async with asyncio.timeout(PATIENCE_SECONDS):
                await self._redis.aclose()

    async def ask(self, work: Callable[[Redis], Awaitable[T]], *, is_trial: bool = False) -> T:
        """While it is away only a trial is made, by whoever looks whether it is back. `work` may be done twice.

        Raises: Away.
        """
        from redis.exceptions import ConnectionError as Lost
        from redis.exceptions import RedisError
        from redis.exceptions import TimeoutError as Late

        if not is_trial and time.monotonic() < self._away_until:
            raise Away
        is_cancelled = _cancellation()
        try:
            try:
                async with asyncio.timeout(PATIENCE_SECONDS):
                    done = await work(self._redis)
            except (Late, TimeoutError):
                if not self.is_up or is_cancelled():
                    raise
                async with asyncio.timeout(PATIENCE_SECONDS):  # it may have been us who had no time
                    done = await work(self._redis)
        except (Lost, Late, OSError, TimeoutError) as error:
            self._lost(error)
            raise Away from None
        except RedisError as error:  # it is there, and doesn't do that
            self._refused(error)
            raise Away from None
        finally:
            if is_cancelled():
                raise asyncio.CancelledError
        if not self.is_up:
            log.warning("the Redis at %s is back", self.place)
        self.is_up, self._pause, self._away_until = True, FIRST_PAUSE, 0.0
        return done

    async def together(self, *commands: Sequence[str | bytes | int], is_trial: bool = False) -> list[object]:
        """Several commands at one go, and nobody else's between them. Raises: Away."""

        async def work(redis: Redis) -> list[object]:
            async with redis.pipeline() as pipe:
                for command in commands:
                    pipe.pipeline_execute_command(*command)  # type: ignore[no-untyped-call]
                done: list[object] = await pipe.execute()
            return done

        return await self.ask(work, is_trial=is_trial)

    @property
    def pause(self) -> float:
        """Seconds until it is worth a trial."""
        return max(0.0, self._away_until - time.monotonic())

    def _lost(self, error: Exception) -> None:
        self.on_failure(type(error).__name__)
        if self.is_up:
            log.warning("the Redis at %s is away (%s): this server goes by itself", self.place, type(error).__name__)
        self.is_up = False
        self._away_until = time.monotonic() + self._pause
        self._pause = min(self._pause * 2, LONGEST_PAUSE)

    def _refused(self, error: Exception) -> None:
        self.on_failure(type(error).__name__)
        if time.monotonic() - self._complained_at > QUIET_SECONDS:
            self._complained_at = time.monotonic()
            log.warning("the Redis at %s refuses something (%s)", self.place, _first_word(error))

    def _unreachable(self, error: Exception) -> CallgateError:
        why = _first_word(error)
        return Unreachable(
            f"there is no Redis at {self.place} ({why})",
            hint="start it, mend the URL (--redis, CALLGATE_REDIS), or leave it out: then nothing is shared",
        )


def _cancellation() -> Callable[[], bool]:
    """Tells whether somebody has wanted this task to end since.

    Python 3.11 may lose that, in the `wait_for` that Redis' package waits with.
    """
    task = asyncio.current_task()
    before = task.cancelling() if task else 0
    return lambda: task is not None and task.cancelling() > before


def changed(key: str) -> tuple[str, str, str]:
    """The command that marks what `key` stands for as changed. A count would do, had Redis never to begin anew."""
    return "SET", key, token_hex(LONGEST_MARK // 4)


def shown_place(url: Secret) -> str:
    """Without names, passwords or anything else behind a question mark. Raises: UsageError."""
    try:
        parts = urlsplit(url.reveal())
        port = parts.port
    except ValueError:
        raise UsageError("the place of the Redis is no URL", hint=_URL_HINT) from None
    if parts.scheme not in _SCHEMES:
        raise UsageError("the place of the Redis is no URL that it has", hint=_URL_HINT)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname or ""
    return f"{parts.scheme}://{host}{f':{port}' if port else ''}{parts.path}"


def _first_word(error: Exception) -> str:
    """Redis says first what kind of error it is, such as OOM or WRONGTYPE; what follows may quote what was sent."""
    first = str(error).partition(" ")[0]
    is_kind = first.isalpha() and first.isupper() and len(first) <= 20
    return first if is_kind and first.isascii() else type(error).__name__
