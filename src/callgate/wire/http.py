"""A small HTTP client: explicit time-outs, bounded answers, errors of ours, and nothing secret in any of them."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any, Self

import msgspec

from callgate.vocabulary import BackendError, BadAnswer, BadStatus, Unreachable
from callgate.wire.pauses import seconds_in
from callgate.wire.targets import proxy_for, redirected, shown, target_of, without_secrets

if TYPE_CHECKING:
    from types import TracebackType

    import aiohttp
    from yarl import URL

    from callgate.wire.connections import Connections

CONNECT_SECONDS = 5.0
WHOLE_SECONDS = 30.0
STALL_SECONDS = 20.0  # without a byte, in the middle of an answer
MAX_JSON_BYTES = 64 << 20
MAX_REDIRECTS = 5

MAX_ERROR_BYTES = 16 << 10
_EXCERPT = 300
_CHUNK = 64 << 10
PAUSE_SECONDS = (0.01, 0.1)
_REDIRECTS = (301, 302, 303, 307, 308)


class Patience(msgspec.Struct, frozen=True):
    """How many seconds a server may take for each step of an answer that streams; `None` is as long as it likes."""

    connect: float = CONNECT_SECONDS
    first_byte: float | None = 300.0
    """Until it says something, which may include loading a model."""
    between: float | None = 120.0
    """In the middle of its answer, without a byte."""

    @property
    def for_a_whole_answer(self) -> Patience:
        """Of one that comes all at once nothing is heard until it is there."""
        return Patience(self.connect, None, self.between)


class HttpClient:
    """One pool of kept-alive connections. It belongs to the event loop in which it is first used.

    Proxies are taken from the environment, but never for this very machine.
    """

    def __init__(self) -> None:
        self._session: aiohttp.ClientSession | None = None
        self._connections: Connections | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        if self._connections is not None:
            self._connections.close()
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    @property
    def connections(self) -> Connections:
        """For answers that stream."""
        if self._connections is None:
            from callgate.wire.connections import Connections

            self._connections = Connections()
        return self._connections

    async def get_json(
        self,
        url: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        headers: Mapping[str, str] | None = None,
    ) -> object:
        """Raises: Unreachable, BadStatus, BadAnswer; UsageError, if `url` isn't one."""
        async with self.open("GET", url, headers=headers, timeout=timeout) as response:
            return await _json(response, url)

    async def post_json(
        self,
        url: str,
        body: object,
        *,
        timeout: float | None = None,  # noqa: ASYNC109
        headers: Mapping[str, str] | None = None,
        patience: Patience | None = None,
    ) -> object:
        """With `patience` there is no other limit. Raises: Unreachable, BadStatus, BadAnswer; UsageError, if `url`
        isn't one.
        """
        headers = {"Content-Type": "application/json", **(headers or {})}
        sent = msgspec.json.encode(body)
        async with self.open("POST", url, headers=headers, body=sent, timeout=timeout, patience=patience) as response:
            return await _json(response, url)

    @asynccontextmanager
    async def open(
        self,
        method: str,
        url: str | URL,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes | AsyncIterable[bytes] | None = None,
        timeout: float | None = None,  # noqa: ASYNC109
        expect: tuple[int, ...] = (),
        patience: Patience | None = None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        """An answer whose body is still to be read; whatever goes wrong while it is being read is of our errors too.

        A status from 200 to 299 is a good one, and those of `expect`. Redirects are followed for `GET`, and no secrets
        go with them to another server. With `patience` there is no limit to the whole; for the steps see `Incoming`.
        """
        import aiohttp

        whole = WHOLE_SECONDS if timeout is None else timeout
        limits = aiohttp.ClientTimeout(total=whole, sock_connect=CONNECT_SECONDS, sock_read=STALL_SECONDS)
        if patience is not None:
            whole = patience.first_byte or whole
            limits = aiohttp.ClientTimeout(sock_connect=patience.connect, sock_read=patience.first_byte)
        name = str(url)
        target, sent_headers = target_of(url, headers or {})
        try:
            for _ in range(MAX_REDIRECTS + 1):
                proxy, for_proxy = proxy_for(target)
                # A plain request goes to the proxy whole, its headers too; of an encrypted one it sees the way only.
                along = for_proxy if target.scheme == "http" else {}
                async with await self._sent(
                    method,
                    target,
                    headers={**sent_headers, **along},
                    data=body,
                    timeout=limits,
                    proxy=proxy,
                    proxy_headers=for_proxy,
                    allow_redirects=False,
                ) as response:
                    if response.status in _REDIRECTS and method == "GET":
                        onward = redirected(target, response.headers.get("Location", ""))
                        if onward.origin() != target.origin():
                            sent_headers = without_secrets(sent_headers)
                        target = onward
                        continue
                    if not 200 <= response.status < 300 and response.status not in expect:
                        raise await _bad_status(response, name)
                    yield response
                    return
            raise BadAnswer(f"{shown(name)} redirects more than {MAX_REDIRECTS} times")
        except (aiohttp.ClientError, TimeoutError) as problem:
            stalled = isinstance(problem, aiohttp.SocketTimeoutError)
            waited = min(limits.sock_read or whole, whole) if stalled else whole
            raise _translated(problem, name, connect=limits.sock_connect or CONNECT_SECONDS, waited=waited) from problem

    async def _sent(self, method: str, target: URL, **how: Any) -> aiohttp.ClientResponse:
        """Asks once more where a kept connection proves closed, not a byte having come back; all we send are questions.

        aiohttp does so itself, but not for `POST`.
        """
        import aiohttp

        connection = _Connection()
        try:
            return await self._opened().request(method, target, trace_request_ctx=connection, **how)
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError) as problem:
            heard = isinstance(problem, aiohttp.ServerDisconnectedError) and not isinstance(problem.message, str)
            is_spent = how["data"] is not None and not isinstance(how["data"], bytes)  # it can be read but once
            if heard or is_spent or not connection.was_kept or isinstance(problem, aiohttp.ClientConnectorError):
                raise
        import asyncio
        import random

        # Gives the loop time to see which others are closed, and a server that restarts a crowd that is spread out.
        await asyncio.sleep(random.uniform(*PAUSE_SECONDS))  # noqa: S311
        return await self._opened().request(method, target, **how)

    def _opened(self) -> aiohttp.ClientSession:
        if self._session is None:
            import aiohttp

            # Cookies would follow a user from server to server, and nothing that we talk to needs any.
            # Whoever asks much at once has a limit of their own, and must not wait here without knowing.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0),
                cookie_jar=aiohttp.DummyCookieJar(),
                trace_configs=[_watch()],
            )
        return self._session


class _Connection:
    """The one that a request got."""

    was_kept = False


def _watch() -> aiohttp.TraceConfig:
    import aiohttp

    async def note(_: object, context: Any, __: object) -> None:
        if isinstance(context.trace_request_ctx, _Connection):
            context.trace_request_ctx.was_kept = True

    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(note)
    return trace


def excerpt(body: bytes) -> str:
    """How a body starts, on one line and without control characters."""
    text = body[: 4 * _EXCERPT].decode("utf-8", "replace")
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())[:_EXCERPT]


async def _json(response: aiohttp.ClientResponse, url: str) -> object:
    pieces: list[bytes] = []
    size = response.content_length or 0
    received = 0
    if size <= MAX_JSON_BYTES:
        async for piece in response.content.iter_chunked(_CHUNK):
            received += len(piece)
            if received > MAX_JSON_BYTES:
                break
            pieces.append(piece)
    if max(size, received) > MAX_JSON_BYTES:
        raise BadAnswer(f"{shown(url)} sent more than {MAX_JSON_BYTES >> 20} MiB")
    try:
        return msgspec.json.decode(b"".join(pieces))
    except RecursionError:
        raise BadAnswer(f"{shown(url)} sent JSON that is nested too deeply") from None
    except (msgspec.DecodeError, ValueError):
        raise BadAnswer(f"{shown(url)} sent something that isn't JSON", hint="is this the right server?") from None


async def _bad_status(response: aiohttp.ClientResponse, url: str) -> BadStatus:
    # The body may take its time or break off: the status alone says enough.
    body = b""
    with suppress(Exception):
        body = await response.content.read(MAX_ERROR_BYTES)
    return bad_status(url, response.status, body, response.headers)


def bad_status(url: str, status: int, body: bytes, headers: Mapping[str, str]) -> BadStatus:
    """`headers` are found by names in small letters."""
    location = headers.get("location", "")
    hint = f"it moved to {shown(location)}" if location and status in _REDIRECTS else None
    return BadStatus(
        f"{shown(url)} answered with status {status}",
        status=status,
        body=excerpt(body),
        hint=hint,
        retry_after=seconds_in(headers.get("retry-after", "")),
    )


def _translated(problem: Exception, url: str, *, connect: float, waited: float) -> BackendError:
    """Said in our words: aiohttp's quote whole URLs."""
    import aiohttp

    place = shown(url)
    if isinstance(problem, aiohttp.ConnectionTimeoutError):
        return Unreachable(f"{place} can't be reached within {connect:g} s", hint="is the server running?")
    if isinstance(problem, TimeoutError):
        return Unreachable(f"{place} didn't answer within {waited:g} s", hint="is the server busy loading a model?")
    if isinstance(problem, aiohttp.ClientConnectorCertificateError | aiohttp.ClientSSLError):
        return Unreachable(f"{place} can't be reached: its certificate isn't trusted, or it doesn't speak TLS")
    if isinstance(problem, aiohttp.ClientConnectorDNSError):
        return Unreachable(f"{place} can't be reached: nobody knows its host", hint="is the name right?")
    if isinstance(problem, aiohttp.ClientProxyConnectionError):
        return Unreachable(f"{place} can't be reached: the proxy doesn't answer", hint="see HTTP_PROXY and NO_PROXY")
    if isinstance(problem, aiohttp.ClientConnectorError):
        return Unreachable(f"{place} can't be reached: {_reason(problem)}", hint="is the server running?")
    if isinstance(problem, aiohttp.ServerDisconnectedError | aiohttp.ClientOSError):
        return Unreachable(f"{place} closed the connection without an answer")
    if isinstance(problem, aiohttp.ClientPayloadError):
        return BadAnswer(f"{place} broke off in the middle of its answer")
    return BadAnswer(f"{place} doesn't speak HTTP as we know it ({type(problem).__name__})")


def _reason(problem: aiohttp.ClientConnectorError) -> str:
    import os

    code = problem.os_error.errno
    return os.strerror(code) if code else "no connection"
