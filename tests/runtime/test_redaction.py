from __future__ import annotations

import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.redaction import redacted_events, redacted_text, without_keys
from callgate.vocabulary import AssistantDelta, Event, Repair, ThinkingDelta, ToolCall, ToolCallEvent
from tests.vocabulary.strategies import events, json_values


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("use sk-proj-abcdefghijklmnop now", "use xxxxxxxxxxxxxxxxxxxxxxxx now"),
        ("hf_abcdefghijklmnopqrst", "xxxxxxxxxxxxxxxxxxxxxxx"),
        ("ghp_abcdefghijklmnopqrst1", "xxxxxxxxxxxxxxxxxxxxxxxxx"),
        ("AKIAABCDEFGHIJKLMNOP.", "xxxxxxxxxxxxxxxxxxxx."),
        ("Authorization: Bearer abcd1234", "Authorization: xxxxxx xxxxxxxx"),
        ("postgres://bob:hunter2@db/x", "postgres://xxxxxxxxxxx@db/x"),
        ("DB_PASSWORD='hunter2'", "DB_PASSWORD='xxxxxxx'"),
        ('{"api_key": "abcdef"}', '{"api_key": "xxxxxx"}'),
        ("my password is swordfish", "my password is xxxxxxxxx"),
        ("0123456789abcdef0123456789abcdef", "x" * 32),
        ("eyJhbGciOiJIUzI1.eyJzdWIiOiIx.sig", "x" * 33),
        ("-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "x" * 58),
    ],
)
def test_secrets_are_blotted_out_in_their_length(text: str, shown: str) -> None:
    assert redacted_text(text) == shown


@pytest.mark.parametrize(
    "text",
    [
        "What is the weather in Paris?",
        "The token count is 12, and max_tokens: 4096.",
        "a secretary wrote to example.org/path?q=1",
        "skating, sk-8",
        "Llanfairpwllgwyngyllgogerychwyrndrobwllllantysiliogogogoch",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert redacted_text(text) == text


@given(st.text(max_size=200))
def test_lengths_stay(text: str) -> None:
    assert len(redacted_text(text)) == len(text)


@pytest.mark.parametrize(
    "piece", ["a-", "secret", "password=", "eyJaaaaaaaa.", "://a:", "-----BEGIN ", "x" * 41, "api-key ", "bearer "]
)
def test_it_takes_time_in_proportion(piece: str) -> None:
    started = time.process_time()
    redacted_text(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 20  # quadratic would take hours


def test_a_secret_is_found_across_pieces_of_one_kind() -> None:
    items: list[Event] = [
        ThinkingDelta("hf_abcdefgh"),
        ThinkingDelta("ijklmnopqrst"),
        AssistantDelta("hf_abcdefgh"),
        ToolCallEvent(ToolCall("1", "f", {"deep": [{"v": "é 1"}], "b": True, "n": None, "x": 2.75})),
    ]
    assert redacted_events(items) == [
        ThinkingDelta("x" * 11),
        ThinkingDelta("x" * 12),
        AssistantDelta("hf_abcdefgh"),
        ToolCallEvent(ToolCall("1", "f", {"deep": [{"v": "x x"}], "b": True, "n": None, "x": 0.5})),
    ]


@given(st.lists(events(), max_size=8))
def test_events_stay_as_many_and_of_their_kinds(items: list[Event]) -> None:
    redacted = redacted_events(items)
    assert [type(event) for event in redacted] == [type(event) for event in items]


@given(json_values)
def test_what_has_no_names_like_keys_stays(value: Any) -> None:
    plain = without_keys(value)
    assert without_keys(plain) == plain


def test_arguments_without_bottom_are_cut() -> None:
    deep: Any = "bottom"
    for _ in range(5000):
        deep = [deep]
    assert "bottom" not in str(without_keys({"extra": deep}))
    (event,) = redacted_events([ToolCallEvent(ToolCall("1", "f", {"deep": deep}))])
    assert "bottom" not in str(event)


def test_what_was_mended_in_a_call_is_blotted_out_too() -> None:
    repairs = (Repair("name", "functions.f", "f", "name"), Repair("/pin", "1234", 1234, "number"))
    (event,) = redacted_events([ToolCallEvent(ToolCall("1", "f", {"pin": 1234}, repairs=repairs))])
    assert isinstance(event, ToolCallEvent)
    assert event.call.repairs == (repairs[0], Repair("/pin", "xxxx", 1111, "number"))
