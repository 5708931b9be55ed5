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
    from callgate.runtime import AsyncDetector, AsyncModel, Detector, Model, Turn, check, shared_detector
    from callgate.tools import Repaired, repair, tool_of
    from callgate.validate import Run, validate_model, validate_model_async
    from callgate.vocabulary import (
        Answer,
        CallgateError,
        Capabilities,
        Evidence,
        Message,
        ModelRef,
        Source,
        Tool,
        ToolCall,
    )

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncDetector",
    "AsyncModel",
    "CallgateError",
    "Capabilities",
    "Detector",
    "Evidence",
    "Message",
    "Model",
    "ModelRef",
    "Recovered",
    "Repaired",
    "Run",
    "Source",
    "Tool",
    "ToolCall",
    "Turn",
    "check",
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
        "AsyncDetector": "runtime",
        "AsyncModel": "runtime",
        "CallgateError": "vocabulary",
        "Capabilities": "vocabulary",
        "Detector": "runtime",
        "Evidence": "vocabulary",
        "Message": "vocabulary",
        "Model": "runtime",
        "ModelRef": "vocabulary",
        "Recovered": "gate",
        "Repaired": "tools",
        "Run": "validate",
        "Source": "vocabulary",
        "Tool": "vocabulary",
        "ToolCall": "vocabulary",
        "Turn": "runtime",
        "check": "runtime",
        "recover": "gate",
        "repair": "tools",
        "shared_detector": "runtime",
        "tool_of": "tools",
        "validate_model": "validate",
        "validate_model_async": "validate",
    },
)
