"""What an HTTP server may send in one answer: the package bounds the events of a stream, but no other answer."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable

import httpx2


class TooMuch(httpx2.StreamError):
    """An error of the kind that the package expects of a stream: the call fails, and the session goes on."""

    def __init__(self, longest: int) -> None:
        words = f"its answer has more than {longest:,} bytes, which is too much: ask it for less"
        super().__init__(words if longest else "its answer is compressed, which nobody asked for")


class BoundedAnswers:
    """A hook for answers."""

    def __init__(self, longest: int, refused: Callable[[int], None]) -> None:
        self._longest = longest
        self._refused = refused

    async def look(self, answer: httpx2.Response) -> None:
        if answer.status_code >= 400:
            self._refused(answer.status_code)
        is_stream = answer.headers.get("content-type", "").lower().startswith("text/event-stream")
        is_plain = answer.headers.get("content-encoding", "identity").lower() == "identity"
        if not is_plain:  # we asked for none, and a little of it can become a lot
            answer.stream = _Bounded(answer.stream, 0)
        elif not is_stream:
            answer.stream = _Bounded(answer.stream, self._longest)


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: object, longest: int) -> None:
        assert isinstance(stream, httpx2.AsyncByteStream)
        self._stream = stream
        self._longest = longest

    async def __aiter__(self) -> AsyncIterator[bytes]:
        length = 0
        async for chunk in self._stream:
            length += len(chunk)
            if length > self._longest:
                raise TooMuch(self._longest)
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
