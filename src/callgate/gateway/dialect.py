"""What a dialect is made of. It turns what arrives into requests and events into what is sent, and knows nothing else.

A new dialect is one file with a `Dialect` in it, and its name in `dialects/`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import msgspec

from callgate.gate import Mode
from callgate.runtime import Said, StockedModel
from callgate.vocabulary import ChatRequest, Event, Facts, Notice, UsageError

Extra = Mapping[str, Any]
"""What a request has besides the fields that are known."""
Explanation = Mapping[str, Any]
"""What was done to an answer: `mode`, `repairs`, `notices`."""


OVERLONG = "ContextExceeded"
"""The kind of a failure for which every dialect has words of its own: agents look for them, and shorten their talk."""


class Failure(msgspec.Struct, frozen=True, kw_only=True):
    """An error, before it is put in a dialect's words."""

    status: int
    kind: str
    """A word for programs: the name of our error, or what was exceeded."""
    message: str
    hint: str | None = None
    param: str | None = None
    """Which part of the request it is about, where that is known."""
    needed: int | None = None
    """Tokens of a prompt that is too long, where that is known."""
    room: int | None = None
    """Tokens that there is room for."""

    @property
    def said(self) -> str:
        """All of it, for dialects that have one text for an error."""
        return f"{self.message} ({self.hint})" if self.hint else self.message


COMMENT = b": keep-alive\n\n"
"""Among server-sent events, what every client passes over."""


class Writer(Protocol):
    """Puts one answer in a dialect's words: piece by piece, or whole."""

    def feed(self, event: Event) -> bytes:
        """What is sent for it; nothing, if it is for the end."""
        ...

    def end(self, explanation: Explanation | None) -> bytes:
        """After the last event."""
        ...

    def alive(self) -> bytes:
        """At any time before the end, to a client that waits; nothing, if it would take that for an answer."""
        ...

    def fail(self, failure: Failure) -> bytes:
        """In the middle: nothing follows."""
        ...

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        """For clients that don't want it in pieces: the object to send. Nothing was fed before."""
        ...


@runtime_checkable
class Keeps(Protocol):
    """A writer whose answer later requests may go on from."""

    def kept(self) -> tuple[str, bytes] | None:
        """After the end: the answer's id, and all that it takes to go on from it. Nothing, if the client wants that."""
        ...


class NotKept(UsageError):
    """An earlier answer that a request goes on from, and that isn't kept here, or no longer."""


def last_events(said: Said) -> tuple[Event, ...]:
    """Those of a whole answer that are told at its end."""
    return (*said.used, said.done) if said.done else tuple(said.used)


def explained(explanation: Explanation | None) -> dict[str, Any]:
    """Under our name, so that no client takes it for its own."""
    return {"callgate": explanation} if explanation is not None else {}


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What a client wants a model to say."""

    model: str
    request: ChatRequest
    writer: Callable[[str], Writer]
    """For an answer of the model of this name."""
    at_once: object | None = None
    """The whole answer, where the model needn't say anything: it is only to be loaded."""
    is_unload: bool = False
    """Or rather to go."""
    notices: tuple[Notice, ...] = ()
    """What of the request can't be met, and is left out."""
    may_not_think: bool = False
    """Thinking was asked for, but a model that can't may answer all the same."""
    earlier: tuple[str, ...] = ()
    """The ids of the answers that it goes on from."""
    go_on: Callable[[Mapping[str, bytes]], Wish] | None = None
    """The whole wish, from what is kept of these answers. Raises: NotKept."""

    @property
    def stream(self) -> bool:
        """Whether the answer goes to the client in pieces. Else the model's server isn't asked for any, either: they
        cost both servers more.
        """
        return self.request.stream


class EmbedWish(msgspec.Struct, frozen=True, kw_only=True):
    model: str
    texts: tuple[str, ...]
    write: Callable[[Sequence[Sequence[float]], int | None], object]
    """Of the vectors, and of the tokens in all texts together, if somebody counted."""


class ServedModel(msgspec.Struct, frozen=True, kw_only=True):
    """A model as clients see it."""

    id: str
    stocked: StockedModel
    mode: Mode
    """How tools reach it through this server."""
    reason: str = ""
    """Why just so."""
    facts: Facts | None = None

    def as_json(self) -> dict[str, Any]:
        """All that is known of it, with the evidence."""
        how = {"mode": self.mode, "reason": self.reason}
        return {"ref": self.stocked.as_json()["ref"], **how, **self.stocked.report.as_json()}


class Talk(msgspec.Struct, frozen=True):
    """A model is asked for an answer."""

    body: type
    read: Callable[[Any, Extra], Wish]
    stream_type: str
    """The media type of an answer in pieces."""
    in_stream: tuple[str, ...] = ()
    """Kinds of failures that clients look for in the pieces, even if there are no others."""


class CountTokens(msgspec.Struct, frozen=True):
    """How long a request is for its model."""

    body: type
    read: Callable[[Any, Extra], Wish]
    write: Callable[[int, bool], object]
    """Of the tokens, and whether they are but an estimate."""


class ShowAnswer(msgspec.Struct, frozen=True):
    """An earlier answer, once more. Its id is the rest of the path."""

    write: Callable[[bytes], object]


class DropAnswer(msgspec.Struct, frozen=True):
    """An earlier answer is kept no longer. Its id is the rest of the path."""

    write: Callable[[str], object]


class Embed(msgspec.Struct, frozen=True):
    """Texts become vectors."""

    body: type
    read: Callable[[Any, Extra], EmbedWish]


class ListModels(msgspec.Struct, frozen=True):
    """Every model."""

    write: Callable[[Sequence[ServedModel]], object]


class ShowModel(msgspec.Struct, frozen=True):
    """One model. Its name is the rest of the path, or in the body."""

    write: Callable[[ServedModel], object]
    body: type | None = None
    name: Callable[[Any], str] = str


class Loaded(msgspec.Struct, frozen=True):
    """A model that our own engine runs."""

    bytes: int
    """0, if nobody knows."""
    context: int
    """In tokens."""


class ListRunning(msgspec.Struct, frozen=True):
    """What is loaded now: our own by name, and what Ollamas say of theirs."""

    write: Callable[[Mapping[str, Loaded], Sequence[Mapping[str, Any]]], object]


class Say(msgspec.Struct, frozen=True):
    """Always the same."""

    content: bytes
    content_type: str = "application/json"


class PassOn(msgspec.Struct, frozen=True):
    """Goes to the Ollama behind, as it is."""


Action = Talk | CountTokens | ShowAnswer | DropAnswer | Embed | ListModels | ShowModel | ListRunning | Say | PassOn


class Route(msgspec.Struct, frozen=True):
    """A path that ends in `/*` has something behind it."""

    method: str
    path: str
    action: Action
    rest: str = ""
    """What may stand for the star, as a regular expression over all of it; anything, if it is empty."""


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    name: str
    root: str
    """How its paths begin: errors for others that begin so are put in its words."""
    routes: tuple[Route, ...]
    error: Callable[[Failure], object]
    id_header: bytes = b""
    """The header that its clients look for the name of their request in."""
    sign: str = ""
    """A header that its clients alone send."""
    signed: tuple[Route, ...] = ()
    """Paths of other dialects that mean something else for who sends it."""
