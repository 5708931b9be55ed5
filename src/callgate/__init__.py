"""callgate makes tool calling work on local models.

    import callgate

    caps = callgate.check("qwen3:8b")  # caps.tools: yes | no | unknown; caps.evidence says why

What is listed here is the public API; each part is loaded when it is used.
"""

from callgate.doors import opened_on_use

TYPE_CHECKING = False  # as type checkers read it; importing `typing` for it would slow each start

if TYPE_CHECKING:
    from callgate.runtime import AsyncDetector, Detector, check, shared_detector
    from callgate.vocabulary import Answer, CallgateError, Capabilities, Evidence, ModelRef, Source

__version__ = "0.1.0"

__all__ = [
    "Answer",
    "AsyncDetector",
    "CallgateError",
    "Capabilities",
    "Detector",
    "Evidence",
    "ModelRef",
    "Source",
    "check",
    "shared_detector",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Answer": "vocabulary",
        "AsyncDetector": "runtime",
        "CallgateError": "vocabulary",
        "Capabilities": "vocabulary",
        "Detector": "runtime",
        "Evidence": "vocabulary",
        "ModelRef": "vocabulary",
        "Source": "vocabulary",
        "check": "runtime",
        "shared_detector": "runtime",
    },
)
