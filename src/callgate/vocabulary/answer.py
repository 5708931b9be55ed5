"""The three-valued answer: a thing we don't know is not a thing that is false."""

from __future__ import annotations

from enum import StrEnum


class Answer(StrEnum):
    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    @classmethod
    def of(cls, known: bool | None) -> Answer:
        if known is None:
            return cls.UNKNOWN
        return cls.YES if known else cls.NO

    @property
    def known(self) -> bool | None:
        """`True`, `False`, or `None` where it isn't known."""
        return None if self is Answer.UNKNOWN else self is Answer.YES
