from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callgate.gateway.given.messages import GivenMessage, messages_of
from callgate.runtime import read_messages

MESSAGES: list[Any] = [
    {"role": "developer", "content": "be brief"},
    {
        "role": "user",
        "content": [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "eA=="}}],
    },
    {"role": "user", "content": "and here", "images": ["eHl6"]},
    {"role": "assistant", "content": None, "reasoning_content": "hm", "tool_calls": [{"function": {"name": "x"}}]},
    {"role": "assistant", "thinking": "hm", "tool_calls": [{"id": "1", "function": {"name": "x", "arguments": "{}"}}]},
    {"role": "assistant", "reasoning": "hm", "tool_calls": [{"function": {"name": "x", "arguments": {"a": 1}}}]},
    {"role": "tool", "tool_call_id": "1", "content": "391", "strange": True},
    {"role": "tool", "tool_name": "x", "content": ""},
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_read_as_it_is_written(message: dict[str, Any]) -> None:
    given = msgspec.convert([message], list[GivenMessage])
    assert messages_of(given) == read_messages([message])
