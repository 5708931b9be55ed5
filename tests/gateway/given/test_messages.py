from __future__ import annotations

from typing import Any

import msgspec
import pytest

from callgate.gateway.given.messages import GivenMessage, messages_of
from callgate.gateway.given.parts import MOST_MESSAGES
from callgate.runtime import read_messages
from callgate.vocabulary import UsageError

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
    {"role": "user", "content": "hello"},
    {"role": "assistant", "content": ""},
    {"role": "system", "content": "be brief", "name": "x"},
    {"role": "user", "content": "hello", "images": []},
]


@pytest.mark.parametrize("message", MESSAGES)
def test_a_message_is_read_as_it_is_written(message: dict[str, Any]) -> None:
    given = msgspec.convert([message], list[GivenMessage])
    assert messages_of(given) == read_messages([message])


def test_plain_messages_stand_among_others_and_alone() -> None:
    plain = [{"role": "user", "content": "hello"}, {"role": "assistant", "content": "hi"}]
    for messages in (plain, [*plain, *MESSAGES], [*MESSAGES, *plain]):
        assert messages_of(msgspec.convert(messages, list[GivenMessage])) == read_messages(messages)


def test_a_conversation_has_an_end() -> None:
    message = GivenMessage(role="user", content="hello")
    assert len(messages_of([message] * MOST_MESSAGES)) == MOST_MESSAGES
    with pytest.raises(UsageError) as caught:
        messages_of([message] * (MOST_MESSAGES + 1))
    assert caught.value.param == "messages"
