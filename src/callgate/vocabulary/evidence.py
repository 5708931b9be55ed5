"""One reason to believe one thing about a model, and how much it weighs."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from callgate.vocabulary.answer import Answer


class Source(StrEnum):
    """Who says so, the strongest first: declaration order is the ranking."""

    SESSION = "session"
    USER_CONFIRMED = "user_confirmed"
    OBSERVED = "observed"
    TEMPLATE = "template"
    HEADER = "header"
    ENGINE = "engine"
    TEMPLATE_TEXT = "template_text"
    NAME = "name"
    DEFAULT = "default"

    @property
    def rank(self) -> int:
        """0 is the strongest."""
        return _RANKS[self]

    @property
    def is_users_word(self) -> bool:
        return self in (Source.SESSION, Source.USER_CONFIRMED)


_RANKS = {source: rank for rank, source in enumerate(Source)}


class Evidence(msgspec.Struct, frozen=True):
    """`source` says that `claim` is `answer`, because of `detail`.

    `claim` is the name of a field of `Capabilities`, or `note` for whatever else a person should know. Of yes-or-no
    claims the answer is an `Answer`, of the others a number or a word. `at` is the time of the finding in seconds since
    the epoch.
    """

    claim: str
    answer: Answer | int | str
    source: Source
    detail: str
    at: float
