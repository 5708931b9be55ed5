"""The words that every room speaks: plain, immutable records, the error tree, and how a model is named.

Nothing else crosses a room's door, and nothing here imports another room.
"""

from callgate.vocabulary.answer import Answer
from callgate.vocabulary.capabilities import Capabilities
from callgate.vocabulary.errors import (
    BackendError,
    BadAnswer,
    BadStatus,
    CallgateError,
    HeaderError,
    NotFound,
    TemplateError,
    TemplateTooCostly,
    Unreachable,
    UsageError,
)
from callgate.vocabulary.evidence import Evidence, Source
from callgate.vocabulary.facts import Facts, ServerKind
from callgate.vocabulary.modelref import HubRef, ModelRef

__all__ = [
    "Answer",
    "BackendError",
    "BadAnswer",
    "BadStatus",
    "CallgateError",
    "Capabilities",
    "Evidence",
    "Facts",
    "HeaderError",
    "HubRef",
    "ModelRef",
    "NotFound",
    "ServerKind",
    "Source",
    "TemplateError",
    "TemplateTooCostly",
    "Unreachable",
    "UsageError",
]
