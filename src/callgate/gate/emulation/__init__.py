"""Tools for models that have none: described in the prompt, and the answer held to a reply or to calls that end.

A grammar alone doesn't end, so whatever an answer may contain is closed and bounded before an engine is held to it.
"""

from callgate.doors import opened_on_use

TYPE_CHECKING = False

if TYPE_CHECKING:
    from callgate.gate.emulation.answers import EmulatedAnswer
    from callgate.gate.emulation.emulating import Emulation, emulation_of

__all__ = ["EmulatedAnswer", "Emulation", "emulation_of"]

__getattr__ = opened_on_use(
    __name__,
    {"EmulatedAnswer": "answers", "Emulation": "emulating", "emulation_of": "emulating"},
)
