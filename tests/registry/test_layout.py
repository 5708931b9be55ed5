from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.registry.layout import CURRENT, Document, Unreadable
from callgate.registry.records import Fields
from callgate.vocabulary import ModelRef

QWEN = ModelRef.parse("qwen3:8b")

_numbers = st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
_plain = st.none() | st.booleans() | _numbers | st.text()
values = st.recursive(
    _plain, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3), max_leaves=8
)
entries = st.fixed_dictionaries(
    {"id": st.text(min_size=1, max_size=20)},
    optional={
        "tool_support": st.booleans() | values,
        "manual_context": values,
        "tool_support_source": values,
        "note": values,
        "z": values,
    },
)


def parsed(whole: object) -> Document:
    return Document.parse(json.dumps(whole, ensure_ascii=False).encode())


def written(document: Document) -> Any:
    return json.loads(document.to_bytes())


def test_an_entry_with_an_id_and_a_word_on_tools_is_enough() -> None:
    record = parsed({"user_models": [{"id": "qwen3:8b", "tool_support": True}]}).get(QWEN)
    assert record
    assert (record.id, record.tool_support, record.tool_support_source, record.manual_context) == (
        "qwen3:8b",
        True,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        (True, True),
        (False, False),
        ("yes", True),
        ("No", False),
        ("unknown", None),
        (None, None),
        (1, None),
        ([], None),
    ],
)
def test_a_word_on_tools_may_be_written_in_several_ways(said: object, meant: bool | None) -> None:
    record = parsed({"user_models": [{"id": "qwen3:8b", "tool_support": said}]}).get(QWEN)
    assert record
    assert record.tool_support is meant


@pytest.mark.parametrize("context", [0, -1, 2**50, "8192", 8192.5, True, None, {}])
def test_a_context_that_is_no_number_of_tokens_counts_for_nothing(context: object) -> None:
    record = parsed({"user_models": [{"id": "qwen3:8b", "manual_context": context}]}).get(QWEN)
    assert record
    assert record.manual_context is None


@given(st.lists(entries | values, max_size=5), st.dictionaries(st.text(), values, max_size=3))
def test_what_we_dont_know_stays_as_it_was(items: list[Any], members: dict[str, Any]) -> None:
    whole = {**{name: value for name, value in members.items() if name != "version"}, "user_models": items}
    document = parsed(whole).with_fields(ModelRef("ollama", "one nobody has"), Fields(tool_support=True))
    again = written(document)
    assert [name for name in again if name != "version"] == list(whole)
    assert {name: value for name, value in again.items() if name not in ("version", "user_models")} == {
        name: value for name, value in whole.items() if name != "user_models"
    }
    assert again["user_models"][:-1] == items
    assert [list(item) for item in again["user_models"] if isinstance(item, dict)][:-1] == [
        list(item) for item in items if isinstance(item, dict)
    ]


def test_fields_are_kept_to_the_letter_and_in_their_order() -> None:
    text = (
        b'{"user_models": [{"mine": 1.10, "id": "qwen3:8b", "huge": 1e400, "tool_support": false, "last": "\\u00e9"}]}'
    )
    changed = Document.parse(text).with_fields(QWEN, Fields(tool_support=True, digest="d"))
    entry = changed.to_bytes().decode().partition("[")[2]
    assert [line.strip().rstrip(",") for line in entry.splitlines() if ":" in line] == [
        '"mine": 1.10',
        '"id": "qwen3:8b"',
        '"huge": 1e400',
        '"tool_support": true',
        '"last": "\\u00e9"',
        '"digest": "d"',
    ]


def test_of_two_entries_for_one_model_the_last_counts() -> None:
    document = parsed(
        {"user_models": [{"id": "qwen3:8b", "tool_support": False}, {"id": "ollama:qwen3:8b", "tool_support": True}]}
    )
    record = document.get(QWEN)
    assert record
    assert record.tool_support is True
    assert written(document.without(QWEN))["user_models"] == []


@pytest.mark.parametrize(
    "older",
    [
        [{"id": "qwen3:8b", "tool_support": True, "mine": 1}],
        {"user_models": {"qwen3:8b": {"tool_support": True, "mine": 1}}, "also": 2},
        {"user_models": {"qwen3:8b": {"tool_support": True, "mine": 1}, "other": False}},
    ],
)
def test_an_older_layout_is_read_and_written_in_the_current_one(older: object) -> None:
    document = parsed(older)
    assert document.version < CURRENT
    record = document.get(QWEN)
    assert record
    assert record.tool_support is True
    now = written(document)
    assert now["version"] == CURRENT
    assert now["user_models"][0] == {"id": "qwen3:8b", "tool_support": True, "mine": 1}
    assert parsed(now).version == CURRENT


@pytest.mark.parametrize("version", [2, 99, "2026-11", [1]])
@pytest.mark.parametrize("models", [[{"id": "qwen3:8b", "tool_support": True}], {"by": "something else"}, 7])
def test_a_newer_layout_is_known_as_such_and_read_as_far_as_it_goes(version: object, models: object) -> None:
    document = parsed({"version": version, "user_models": models})
    assert document.version > CURRENT
    assert (document.get(QWEN) is not None) == isinstance(models, list)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\0\0\0",
        b"{",
        b'{"user_models": [{"id": "x"',
        b'{"user_models": [{"id": "x"}]} and more',
        b'"text"',
        b"7",
        b"null",
        b'{"user_models": 7}',
        b'{"user_models": null}',
        b"\xff\xfe",
        b'{"user_models": ["\xff"]}',
        b'{"user_models": ' + b"[" * 100_000,
        b'{"user_models": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
    ],
)
def test_what_is_no_registry_is_told_apart(content: bytes) -> None:
    with pytest.raises(Unreadable):
        Document.parse(content)


@given(st.binary() | st.text().map(str.encode) | values.map(lambda value: json.dumps(value).encode()))
def test_whatever_is_in_the_file_it_is_read_or_told_apart(content: bytes) -> None:
    try:
        document = Document.parse(content)
    except Unreadable:
        return
    document.get(QWEN)
    list(document.records)
    Document.parse(document.to_bytes())


def test_a_byte_order_mark_does_no_harm() -> None:
    assert list(Document.parse(b'\xef\xbb\xbf{"user_models": [{"id": "x"}]}').records)


def test_entries_that_name_no_model_are_kept_and_left_alone() -> None:
    whole = {"user_models": [7, "text", None, {"name": "no id"}, {"id": ""}, {"id": 3}, {"id": "hf:nonsense"}]}
    document = parsed(whole)
    assert [record.id for record in document.records] == []
    assert written(document)["user_models"] == whole["user_models"]
