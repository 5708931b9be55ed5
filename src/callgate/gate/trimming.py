"""Which tools are offered where there are more than a model is to be shown.

Those that have to do with what the user said last stay; those that were called before always do. The selection is
worked out anew from the whole talk at every request, and moves as little as it can: tools stand at the start of a
prompt, and whatever changes there makes an engine read all of it again. So only what the user says can change it,
never a result; and only by tools that clearly have to do with it, which take the places of those that don't.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from threading import Lock

import msgspec

from callgate.gate.relevance import Relevance
from callgate.vocabulary import Message, Notice, Tool

MOST_NAMED = 100
LONGEST_NAME = 80
REMEMBERED = 8
"""Sets of tools."""
REPLAYED = 64
"""Words of the user from which on the oldest no longer count. That changes at every so many only."""

_CLEARLY = 0.5
"""Of the best, what a tool has to have that comes in."""
_MORE_THAN_A_WORD = 1.2
"""One word that a description has by chance doesn't bring a tool in; one in its name does."""
_REMINDER = "<system-reminder>"
_REMINDER_ENDS = "</system-reminder>"


class Trimmed(msgspec.Struct, frozen=True):
    tools: tuple[Tool, ...]
    """In the order in which they were given."""
    cut: tuple[str, ...] = ()

    @property
    def notices(self) -> tuple[Notice, ...]:
        if not self.cut:
            return ()
        names = [repr(name[:LONGEST_NAME]) for name in self.cut[:MOST_NAMED]]
        listed = ", ".join([*names, *["…"] * (len(self.cut) > MOST_NAMED)])
        said = f"{len(self.cut):,} of {len(self.cut) + len(self.tools):,} tools weren't offered to the model"
        return (Notice("tools_trimmed", f"{said}, as they have least to do with what was asked: {listed}"),)


def trimmed(tools: tuple[Tool, ...], messages: Sequence[Message], most: int) -> Trimmed:
    """At most so many of them, and all that were called before or are clearly meant by the user's last words."""
    if len(tools) <= most:
        return Trimmed(tools)
    kept = _kept(tools, messages, most)
    return Trimmed(
        tuple(tool for place, tool in enumerate(tools) if place in kept),
        tuple(tool.name for place, tool in enumerate(tools) if place not in kept),
    )


def _kept(tools: Sequence[Tool], messages: Sequence[Message], most: int) -> AbstractSet[int]:
    selection = _Selection(tools, most)
    places = {tool.name: place for place, tool in enumerate(tools)}
    users = sum(message.role == "user" for message in messages)
    skipped = max(0, (users - 1) // REPLAYED * REPLAYED - REPLAYED)
    for message in messages:
        if message.role == "user":
            skipped -= 1
            if skipped < 0:
                selection.hear(_words_of_the_user(message.content))
        for call in message.calls:
            if (place := places.get(call.name)) is not None:
                selection.called.add(place)
    return selection.kept


class _Selection:
    """Of the places of tools, as it moves while a user talks."""

    def __init__(self, tools: Sequence[Tool], most: int) -> None:
        self._relevance = _relevance(tools)
        self._tools = len(tools)
        self._most = most
        self._meant: dict[int, int] = {}
        """Of those that are in, by which words of the user they were last meant; 0: by none."""
        self._heard = 0
        self.called: set[int] = set()

    @property
    def kept(self) -> AbstractSet[int]:
        return (self._meant.keys() or set(range(self._most))) | self.called

    def hear(self, said: str) -> None:
        scores = self._relevance.scores(said)
        self._heard += 1
        least = max(_CLEARLY * max(scores.values(), default=0.0), _MORE_THAN_A_WORD * self._relevance.of_a_rare_word)
        clear = [place for place, score in scores.items() if score >= least]
        wanted = sorted(clear, key=lambda place: (-scores[place], place))[: self._most]
        if not self._meant:
            best = sorted(range(self._tools), key=lambda place: (-scores.get(place, 0.0), place))
            self._meant = dict.fromkeys(best[: self._most], 0)
        self._meant |= dict.fromkeys(wanted, self._heard)
        if len(self._meant) <= self._most:
            return
        may_go = [place for place in self._meant if place not in wanted and place not in self.called]
        may_go.sort(key=lambda place: (self._meant[place], scores.get(place, 0.0), -place))
        for place in may_go[: len(self._meant) - self._most]:
            del self._meant[place]


def _words_of_the_user(content: str) -> str:
    """Without what agents put in the user's mouth."""
    return " ".join(_unreminded(content)) if _REMINDER in content else content


def _unreminded(content: str) -> Iterator[str]:
    at = 0
    while (start := content.find(_REMINDER, at)) >= 0:
        yield content[at:start]
        end = content.find(_REMINDER_ENDS, start)
        if end < 0:
            return
        at = end + len(_REMINDER_ENDS)
    yield content[at:]


_known: OrderedDict[bytes, Relevance] = OrderedDict()
_lock = Lock()


def _relevance(tools: Sequence[Tool]) -> Relevance:
    """The same tools come with every request of a conversation."""
    digest = blake2b(digest_size=16)
    for tool in tools:
        digest.update(msgspec.json.encode((tool.name, tool.description, _parameters(tool))))
    key = digest.digest()
    with _lock:
        if (found := _known.get(key)) is None:
            found = _known[key] = Relevance(tools)
            if len(_known) > REMEMBERED:
                _known.popitem(last=False)
        _known.move_to_end(key)
    return found


def _parameters(tool: Tool) -> list[str]:
    properties = tool.parameters.get("properties")
    return [str(name) for name in properties] if isinstance(properties, Mapping) else []
