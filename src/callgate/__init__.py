"""callgate makes tool calling work on local models.

    import callgate

    caps = callgate.check("qwen3:8b")  # caps.tools: yes | no | unknown; caps.evidence says why
    with callgate.Model("tiny") as model:  # any name that callgate knows; AsyncModel is its twin
        turn = model.ask("What is 17 times 23?", tools=[multiply])  # a plain function; turn.text, turn.calls
    callgate.recover(text, tools=[...])  # content and calls out of what a model wrote
    callgate.repair(arguments, schema)  # arguments, what was changed, what is still wrong
    callgate.validate_model("qwen3:8b").rate  # what part of a suite of real turns it passed

What is listed here is the public API; each part is loaded when it is used.
"""

from callgate.doors import opened_on_use

TYPE_CHECKING = False  # as type checkers read it; importing `typing` for it would slow each start

if TYPE_CHECKING:
    from callgate.gate import Recovered, recover
    from callgate.runtime import (
        AsyncDetector,
        AsyncModel,
        Detector,
        Limits,
        Model,
        Permissions,
        Turn,
        check,
        shared_detector,
    )
    from callgate.settings import Settings, load_settings
    from callgate.tools import Repaired, repair, tool_of
    from callgate.validate import Run, validate_model, validate_model_async
    from callgate.vocabulary import (
        Answer,
        AssistantDelta,
        CallgateError,
        Capabilities,
        Done,
        Event,
        Evidence,
        Image,
        Message,
        ModelRef,
        Notice,
        Repair,
        Source,
        ThinkingDelta,
        Tool,
        ToolCall,
        ToolCallEvent,
        Usage,
    )

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AssistantDelta",
    "AsyncDetector",
    "AsyncModel",
    "CallgateError",
    "Capabilities",
    "Detector",
    "Done",
    "Event",
    "Evidence",
    "Image",
    "Limits",
    "Message",
    "Model",
    "ModelRef",
    "Notice",
    "Permissions",
    "Recovered",
    "Repair",
    "Repaired",
    "Run",
    "Settings",
    "Source",
    "ThinkingDelta",
    "Tool",
    "ToolCall",
    "ToolCallEvent",
    "Turn",
    "Usage",
    "check",
    "load_settings",
    "recover",
    "repair",
    "shared_detector",
    "tool_of",
    "validate_model",
    "validate_model_async",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Answer": "vocabulary",
        "AssistantDelta": "vocabulary",
        "AsyncDetector": "runtime",
        "AsyncModel": "runtime",
        "CallgateError": "vocabulary",
        "Capabilities": "vocabulary",
        "Detector": "runtime",
        "Done": "vocabulary",
        "Event": "vocabulary",
        "Evidence": "vocabulary",
        "Image": "vocabulary",
        "Limits": "runtime",
        "Message": "vocabulary",
        "Model": "runtime",
        "ModelRef": "vocabulary",
        "Notice": "vocabulary",
        "Permissions": "runtime",
        "Recovered": "gate",
        "Repair": "vocabulary",
        "Repaired": "tools",
        "Run": "validate",
        "Settings": "settings",
        "Source": "vocabulary",
        "ThinkingDelta": "vocabulary",
        "Tool": "vocabulary",
        "ToolCall": "vocabulary",
        "ToolCallEvent": "vocabulary",
        "Turn": "runtime",
        "Usage": "vocabulary",
        "check": "runtime",
        "load_settings": "settings",
        "recover": "gate",
        "repair": "tools",
        "shared_detector": "runtime",
        "tool_of": "tools",
        "validate_model": "validate",
        "validate_model_async": "validate",
    },
)
