"""The words that every room speaks: plain, immutable records, the error tree, and how a model is named.

Nothing else crosses a room's door, and nothing here imports another room.
"""

from callgate.vocabulary.answer import Answer
from callgate.vocabulary.capabilities import Capabilities
from callgate.vocabulary.errors import (
    BackendError,
    BadAnswer,
    BadSchema,
    BadStatus,
    CallgateError,
    CallNotParsed,
    CannotChat,
    CannotThink,
    EngineFailed,
    HeaderError,
    ModelRejected,
    NotFound,
    StreamCut,
    StreamFailed,
    TemplateError,
    TemplateTooCostly,
    ToolsRefused,
    Unreachable,
    UsageError,
)
from callgate.vocabulary.events import (
    AssistantDelta,
    Done,
    Event,
    Notice,
    ThinkingDelta,
    ToolCallEvent,
    Usage,
    event_as_json,
    event_from_json,
)
from callgate.vocabulary.evidence import Evidence, Source
from callgate.vocabulary.facts import Facts, ServerKind
from callgate.vocabulary.means import Means
from callgate.vocabulary.messages import ChatRequest, Image, Message
from callgate.vocabulary.modelref import IN_THE_BOX, HubRef, ModelRef
from callgate.vocabulary.tools import Repair, Tool, ToolCall

__all__ = [
    "IN_THE_BOX",
    "Answer",
    "AssistantDelta",
    "BackendError",
    "BadAnswer",
    "BadSchema",
    "BadStatus",
    "CallNotParsed",
    "CallgateError",
    "CannotChat",
    "CannotThink",
    "Capabilities",
    "ChatRequest",
    "Done",
    "EngineFailed",
    "Event",
    "Evidence",
    "Facts",
    "HeaderError",
    "HubRef",
    "Image",
    "Means",
    "Message",
    "ModelRef",
    "ModelRejected",
    "NotFound",
    "Notice",
    "Repair",
    "ServerKind",
    "Source",
    "StreamCut",
    "StreamFailed",
    "TemplateError",
    "TemplateTooCostly",
    "ThinkingDelta",
    "Tool",
    "ToolCall",
    "ToolCallEvent",
    "ToolsRefused",
    "Unreachable",
    "Usage",
    "UsageError",
    "event_as_json",
    "event_from_json",
]
