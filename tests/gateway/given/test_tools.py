from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callgate.gateway.given.tools import ToolDefinition, tools_of
from callgate.tools import read_tools


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "x", "description": "y", "parameters": {"type": "object"}}},
        {"function": {"name": "x"}, "strange": True},
        {"name": "x", "description": "y", "parameters": {"properties": {"a": {"type": "string"}}}},
        {"name": "x", "input_schema": {"type": "object", "$defs": {"a": {}}}},
    ],
)
def test_a_tool_is_read_as_it_is_written(tool: dict[str, Any]) -> None:
    assert tools_of(msgspec.convert([tool], list[ToolDefinition])) == read_tools([tool])
