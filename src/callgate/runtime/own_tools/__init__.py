"""The tools that come with callgate: a calculator, a clock, and files below a folder, to be read only."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.runtime.own_tools.source import built_in_tools

__all__ = ["built_in_tools"]

__getattr__ = opened_on_use(__name__, {"built_in_tools": "source"})
