"""Everything that callgate raises on purpose.

    CallgateError
    ├── UsageError              what the caller can mend: a wrong name, a wrong value, a missing file
    │   ├── NotFound            the thing named isn't there
    │   │   └── NoSuchRepo      the hub has no such repository, or doesn't show it to us
    │   └── ModelRejected       a model that can't do what is required of every model here
    │       └── NotTested       … or one of which that couldn't be found out
    ├── ModelFileError          a model's own file is no good
    │   ├── HeaderError         not a GGUF file, or one that is truncated, corrupt or lying
    │   └── TemplateError       a chat template that doesn't parse
    │       └── TemplateTooCostly   one that would take too much time or memory to render
    ├── StorageError            what callgate keeps on disk can't be read or written
    ├── ToolServerFailed        a server of tools didn't start, or ended
    ├── HubRefused              the hub has the model, and won't give it to us
    │   ├── NoToken             it wants to know who asks
    │   ├── LicenceNotAccepted  whoever asks has yet to accept the model's licence
    │   └── TokenDenied         the token is wrong, or may not do this
    ├── FetchFailed             a model couldn't be fetched whole
    │   ├── NoSpace             the disk is full
    │   └── WrongHash           what came isn't what the hub announced
    └── BackendError            what a server did wrong
        ├── Unreachable         it didn't answer, or not in time
        ├── BadStatus           it answered with an error
        ├── BadAnswer           what it sent isn't what it should be
        ├── ToolsRefused        it takes no tools for this model
        ├── CannotThink         the model can't think aloud, and was asked to
        ├── CannotChat          the model is no chat model
        ├── ContextExceeded     the prompt is longer than the context that the model runs with
        ├── BadSchema           it takes no such schema, of a tool or of the answer
        ├── CallNotParsed       the model called a tool in a way that its server couldn't read
        ├── CallMissing         a model that had to call a tool talked instead
        ├── StreamFailed        it reported an error in the middle of an answer
        ├── StreamCut           the answer just ended
        └── EngineFailed        our own engine didn't start, or died

Each message names what failed and why; `hint` is the next thing to try.
"""

from __future__ import annotations


class CallgateError(Exception):
    """The root of all errors that callgate raises on purpose."""

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UsageError(CallgateError):
    """Something that the caller can mend."""

    def __init__(self, message: str, *, hint: str | None = None, param: str | None = None) -> None:
        super().__init__(message, hint=hint)
        self.param = param
        """Which part of a request it is about, where that is known: `messages[0].role`."""


class NotFound(UsageError):
    """The thing named isn't there."""


class NoSuchRepo(NotFound):
    """The hub has no such repository, or doesn't show it to us."""


class ModelRejected(UsageError):
    """A model that can't do what is required of every model here."""


class NotTested(ModelRejected):
    """A model of which it couldn't be found out here whether it does what is required."""


class ModelFileError(CallgateError):
    """A model's own file is no good."""


class HeaderError(ModelFileError):
    """Not a GGUF file, or one that is truncated, corrupt or lying."""


class TemplateError(ModelFileError):
    """A chat template that can't be used."""


class TemplateTooCostly(TemplateError):
    """A chat template that would take too much time or memory to render."""


class HubRefused(CallgateError):
    """The hub has the model, and won't give it to us."""


class NoToken(HubRefused):
    """The hub wants to know who asks."""


class LicenceNotAccepted(HubRefused):
    """Whoever asks has yet to accept the model's licence."""


class TokenDenied(HubRefused):
    """The token is wrong, or may not do this."""


class FetchFailed(CallgateError):
    """A model couldn't be fetched whole."""


class NoSpace(FetchFailed):
    """The disk is full."""


class WrongHash(FetchFailed):
    """What came isn't what the hub announced."""


class StorageError(CallgateError):
    """What callgate keeps on disk can't be read or written."""


class ToolServerFailed(CallgateError):
    """A server of tools that didn't start, or ended."""


class BackendError(CallgateError):
    """Something that a server did wrong."""


class Unreachable(BackendError):
    """A server that didn't answer, or not in time."""


class BadStatus(BackendError):
    """A server that answered with an error."""

    def __init__(
        self, message: str, *, status: int, body: str = "", hint: str | None = None, retry_after: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.body = body
        """How its answer starts, without control characters. It may quote what we sent: not for logs."""
        self.retry_after = retry_after
        """In how many seconds it wants to be asked again."""


class BadAnswer(BackendError):
    """A server that sent something else than it should: no JSON, too much, the wrong part of a file."""


class ToolsRefused(BackendError):
    """A server that takes no tools for this model. Raised before any event."""


class CannotThink(BackendError):
    """A model that can't think aloud, and was asked to."""


class CannotChat(BackendError):
    """A model that is no chat model: one for embedding, most likely."""


class ContextExceeded(BackendError):
    """A prompt that is longer than the context that the model runs with. Raised before any event."""

    def __init__(
        self, message: str, *, needed: int | None = None, room: int | None = None, hint: str | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.needed = needed
        """Tokens of the prompt, where the server says it."""
        self.room = room
        """Tokens that there is room for, where the server says it."""


class BadSchema(BackendError):
    """A schema, of a tool or of the answer, that a server doesn't take."""


class CallNotParsed(BackendError):
    """A model called a tool in a way that its server couldn't read. The call itself is never quoted."""


class CallMissing(BackendError):
    """A model that had to call a tool talked instead."""


class StreamFailed(BackendError):
    """A server reported an error in the middle of an answer."""


class StreamCut(BackendError):
    """An answer that just ended, without a word that it is whole."""


class EngineFailed(BackendError):
    """Our own engine didn't start, or died."""
