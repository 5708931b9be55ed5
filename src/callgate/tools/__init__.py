"""One tool call, whole. So far: tools as other programs write them down."""

from callgate.tools.reading import read_tools

__all__ = ["read_tools"]
