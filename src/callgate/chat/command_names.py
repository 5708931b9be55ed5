"""The commands of a chat by name: known before anything else is loaded, so that they can be completed at once."""

from __future__ import annotations

from typing import NamedTuple


class Named(NamedTuple):
    usage: str
    help: str
    at_once: bool = False
    """Also while a turn goes on; all others wait for its end."""


NAMES: dict[str, Named] = {
    "/help": Named("/help", "this list", at_once=True),
    "/model": Named("/model [NAME]", "go on with another model; without a name, pick one"),
    "/models": Named("/models", "every model in reach", at_once=True),
    "/tools": Named("/tools [HOW | VERB GLOB]", "the tools at hand; emulate, native, auto, off; on, off or ask GLOB"),
    "/mcp": Named("/mcp [log|restart NAME]", "MCP servers: how they are, what they said", at_once=True),
    "/caps": Named("/caps", "what this model can do", at_once=True),
    "/why": Named("/why", "… and how that is known: all the evidence", at_once=True),
    "/system": Named("/system [TEXT|none]", "what the model is told before all else"),
    "/save": Named("/save NAME", "keep this conversation under a name"),
    "/load": Named("/load [NAME]", "go on with another conversation; without a name, list them"),
    "/export": Named("/export FILE", "write it into a file: .md, .json or .html"),
    "/retry": Named("/retry", "ask the last question again"),
    "/undo": Named("/undo", "take the last question and its answer back"),
    "/clear": Named("/clear", "start afresh; the old conversation stays saved"),
    "/exit": Named("/exit", "leave (as Ctrl-D does)", at_once=True),
}
ALSO = {"/quit": "/exit", "/bye": "/exit", "/?": "/help", "/new": "/clear"}
"""What people type who know other chats."""
