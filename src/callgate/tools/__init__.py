"""One tool call, whole: tools as other programs write them down, and which one a model means."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.tools.call_ids import new_call_id
    from callgate.tools.json_scan import ValueScan, scan_value
    from callgate.tools.loose_json import Loose, read_loosely
    from callgate.tools.naming import Names, Resolution
    from callgate.tools.reading import read_tools
    from callgate.tools.repairing import Repaired, repair

__all__ = [
    "Loose",
    "Names",
    "Repaired",
    "Resolution",
    "ValueScan",
    "new_call_id",
    "read_loosely",
    "read_tools",
    "repair",
    "scan_value",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "Loose": "loose_json",
        "Names": "naming",
        "Repaired": "repairing",
        "Resolution": "naming",
        "ValueScan": "json_scan",
        "new_call_id": "call_ids",
        "read_loosely": "loose_json",
        "read_tools": "reading",
        "repair": "repairing",
        "scan_value": "json_scan",
    },
)
