from __future__ import annotations

from base64 import b64encode

import pytest

from callgate.runtime import read_messages
from callgate.vocabulary import Image, Message, ToolCall, UsageError

PICTURE = b64encode(b"\x89PNG").decode()


def test_a_question_is_a_conversation() -> None:
    assert read_messages("hello") == (Message(role="user", content="hello"),)


def test_messages_come_as_records_too() -> None:
    message = Message(role="assistant", content="yes")
    assert read_messages(["is it?", message]) == (Message(role="user", content="is it?"), message)


def test_openais_form_is_read_whole() -> None:
    conversation = {
        "messages": [
            {"role": "developer", "content": "Be brief."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "What is this?"},
                    {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{PICTURE}"}},
                ],
            },
            {
                "role": "assistant",
                "content": None,
                "reasoning_content": "hm",
                "tool_calls": [
                    {"id": "1", "type": "function", "function": {"name": "look", "arguments": '{"deep": true}'}},
                    {"id": "2", "type": "function", "function": {"name": "look", "arguments": "{"}},
                ],
            },
            {"role": "tool", "tool_call_id": "1", "content": "a cat"},
        ]
    }
    assert read_messages(conversation) == (
        Message(role="system", content="Be brief."),
        Message(role="user", content="What is this?", images=(Image(b"\x89PNG", "image/jpeg"),)),
        Message(
            role="assistant",
            thinking="hm",
            calls=(ToolCall("1", "look", {"deep": True}, '{"deep": true}'), ToolCall("2", "look", "{", "{")),
        ),
        Message(role="tool", call_id="1", content="a cat"),
    )


def test_ollamas_form_is_read_whole() -> None:
    conversation = [
        {"role": "user", "content": "What is this?", "images": [PICTURE]},
        {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"deep": 1}}}]},
        {"role": "tool", "tool_name": "look", "content": "a cat"},
    ]
    assert read_messages(conversation) == (
        Message(role="user", content="What is this?", images=(Image(b"\x89PNG"),)),
        Message(role="assistant", calls=(ToolCall("", "look", {"deep": 1}),)),
        Message(role="tool", name="look", content="a cat"),
    )


@pytest.mark.parametrize(
    ("content", "about"),
    [
        (5, "no conversation"),
        ({"message": []}, "no conversation"),
        ([5], "message 1 is no object"),
        (["hello", {"role": "robot", "content": "hi"}], "message 2 has no role"),
        ([{"role": "user", "content": 5}], "content"),
        ([{"role": "user", "content": [{"type": "video"}]}], "neither text nor a picture"),
        ([{"role": "user", "images": ["https://example.com/cat.png"]}], "picture"),
        ([{"role": "assistant", "tool_calls": [{"function": {}}]}], "call without a name"),
        ([{"role": "assistant", "tool_calls": {}}], "tool_calls"),
    ],
)
def test_what_is_no_conversation_is_refused_with_its_place(content: object, about: str) -> None:
    with pytest.raises(UsageError, match=about):
        read_messages(content)


@pytest.mark.parametrize(
    ("message", "hint"),
    [
        ({"role": "user", "images": ["no picture"]}, "base64"),
        (
            {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://a/b.png"}}]},
            "data:image/png",
        ),
    ],
)
def test_how_a_picture_is_sent_is_told_in_the_form_that_was_tried(message: dict[str, object], hint: str) -> None:
    with pytest.raises(UsageError, match="picture") as caught:
        read_messages([message])
    assert hint in str(caught.value.hint)
    assert ("`images`" in str(caught.value.hint)) is ("images" in message)
