"""How a model is told to call tools, and how its past calls look in the history: two conventions, one for each means.

Where the answer is held to a schema it is all JSON, and a reply is a list of paragraphs. Where a grammar can let words
through, or nothing holds the model at all, an answer is words, and calls stand in tags.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import msgspec

from callgate.vocabulary import ToolCall

Convention = Literal["json", "tags"]

OPEN = "<tool_call>"
CLOSE = "</tool_call>"
CALLS = "calls"
REPLY = "reply"
NAME = "name"
# Some servers sort a schema's keys, and the name has to come first.
ARGUMENTS: Mapping[Convention, str] = {"json": "parameters", "tags": "arguments"}


def call_text(convention: Convention, name: str, arguments: object) -> str:
    return _json({NAME: name, ARGUMENTS[convention]: arguments})


def calls_text(convention: Convention, calls: Sequence[ToolCall]) -> str:
    """Past calls, as the model would have written them."""
    each = [call_text(convention, call.name, call.arguments) for call in calls]
    if convention == "json":
        return f'{{"{CALLS}":[{",".join(each)}]}}'
    return "\n".join(f"{OPEN}{call}{CLOSE}" for call in each)


def instructions(
    convention: Convention, listed: str, *, forced: bool, several: bool, holds: bool, replies_in_json: bool = False
) -> str:
    """What the system message says of the tools. `holds`: the engine sees to it that the answer is of this form."""
    one = call_text(convention, "tool", {"parameter": "value"})
    how = f'{{"{CALLS}":[{one}]}}' if convention == "json" else f"{OPEN}{one}{CLOSE}"
    # An example in words would be taken for the answer by small models.
    reply = f'{{"{REPLY}": …}}' if replies_in_json else f'{{"{REPLY}":[…]}}'
    lines = ["You can use these tools:", listed, ""]
    if forced:
        lines.append(f"Answer with a call of {'one or more tools' if several else 'one tool'}, like this:")
        lines.append(how)
    elif convention == "json":
        lines.append("If one of them helps with what the user asks, call it, like this:")
        lines.append(how)
        lines.append("Its result is then sent to you. If no tool is needed, answer like this:")
        lines.append(reply)
    else:
        lines.append("If one of them helps with what the user asks, call it, like this:")
        lines.append(how)
        lines.append("Its result is then sent to you. If no tool is needed, answer in plain words.")
    if not holds:
        lines.append("Use no other form for a call, and only the tools and parameters above.")
    return "\n".join(lines)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()
