"""One tool call, whole: tools in everybody's form, their names there and back, and their arguments mended."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.tools.call_ids import new_call_id
    from callgate.tools.functions import tool_of
    from callgate.tools.loose_json import Loose, malformed, read_loosely
    from callgate.tools.naming import Names
    from callgate.tools.offering import Offered, offer
    from callgate.tools.plain_values import escaped
    from callgate.tools.python_values import bound_call
    from callgate.tools.reading import read_encoded_tools, read_tools
    from callgate.tools.repairing import Repaired, repair
    from callgate.tools.writing import Form, write_tools, written_tools

__all__ = [
    "Form",
    "Loose",
    "Names",
    "Offered",
    "Repaired",
    "bound_call",
    "escaped",
    "malformed",
    "new_call_id",
    "offer",
    "read_encoded_tools",
    "read_loosely",
    "read_tools",
    "repair",
    "tool_of",
    "write_tools",
    "written_tools",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Form": "writing",
        "Loose": "loose_json",
        "Names": "naming",
        "Offered": "offering",
        "Repaired": "repairing",
        "bound_call": "python_values",
        "escaped": "plain_values",
        "malformed": "loose_json",
        "new_call_id": "call_ids",
        "offer": "offering",
        "read_encoded_tools": "reading",
        "read_loosely": "loose_json",
        "read_tools": "reading",
        "repair": "repairing",
        "tool_of": "functions",
        "write_tools": "writing",
        "written_tools": "writing",
    },
)
