"""What the workers of one server and their parent say to each other: lines of JSON, over pipes that nobody else has.

A worker hears on its standard input: its order first, then these lines; when that ends, its parent has gone. What it
has to say, its log too, goes up by another pipe.
"""

from __future__ import annotations

from typing import Literal, Protocol

import msgspec

from callgate.gateway.keeping import Keeper
from callgate.gateway.options import Options
from callgate.gateway.serving.busy import Busy
from callgate.settings import Settings

LONGEST_LINE = 64 << 20


class Siblings(Protocol):
    """The other workers, as one of them sees them."""

    busy: Busy
    keeper: Keeper | None
    """Of the answers that all of them may go on from; `None`, where there is one alone."""

    async def others(self, own: msgspec.Raw) -> msgspec.Raw | None:
        """What they have counted, all together, those that have ended too; `None` where there are none. `own` is kept
        for when this one ends. Raises: TimeoutError.
        """
        ...


class Alone:
    def __init__(self) -> None:
        self.busy = Busy()
        self.keeper: Keeper | None = None

    async def others(self, own: msgspec.Raw) -> None:
        del own


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """What a worker is started with. It goes by pickle: there are secrets in it, and they show themselves to nobody."""

    settings: Settings
    options: Options
    number: int
    listening: int
    """The file of the socket that all of them share."""
    busy: int
    """The file of their common memory."""
    log_level: int | None
    """Of what is logged; `None` if nobody listens."""


class Ready(msgspec.Struct, frozen=True, tag=True):
    """It answers."""


class Failed(msgspec.Struct, frozen=True, tag=True):
    """It can't be started."""

    message: str
    hint: str | None = None


class Logged(msgspec.Struct, frozen=True, tag=True):
    name: str
    level: int
    text: str
    at: float


class Counted(msgspec.Struct, frozen=True, tag=True):
    """What a worker has seen."""

    snapshot: msgspec.Raw


class Wants(msgspec.Struct, frozen=True, tag=True):
    """It wants to know what the others have seen, and tells what it has itself."""

    number: int
    own: msgspec.Raw


class Asks(msgspec.Struct, frozen=True, tag=True):
    """It wants an answer that is kept for all workers, or one to be kept or forgotten."""

    number: int
    what: Literal["get", "put", "drop"]
    id: str
    content: bytes = b""


class Count(msgspec.Struct, frozen=True, tag=True):
    """It is to tell what it has seen."""


class Sum(msgspec.Struct, frozen=True, tag=True):
    """The answer to the `Wants` of that number."""

    number: int
    snapshot: msgspec.Raw


class Kept(msgspec.Struct, frozen=True, tag=True):
    """The answer to the `Asks` of that number: what was kept; `None`, if nothing was."""

    number: int
    content: bytes | None = None


FromWorker = Ready | Failed | Logged | Counted | Wants | Asks
ToWorker = Count | Sum | Kept


def line(message: FromWorker | ToWorker) -> bytes:
    return msgspec.json.encode(message) + b"\n"
