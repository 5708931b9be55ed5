from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import read_loosely
from callgate.tools.loose_json import DEEPEST, LONGEST_MENDED, Loose

json_values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
_pieces = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    "'",
    "\\",
    "//",
    "/*",
    "*/",
    "#",
    "\n",
    " ",
    "a",
    "5",
    "True",
    "null",
    '"""',
    "`",
    "“",
    "\ud800",
    "\\ud800",
    "```",
]
texts = st.one_of(
    st.text(),
    st.lists(st.sampled_from(_pieces), max_size=30).map("".join),
    st.builds(
        lambda value, at, piece: json.dumps(value)[:at] + piece + json.dumps(value)[at:],
        json_values,
        st.integers(0, 80),
        st.sampled_from(_pieces),
    ),
)


@given(json_values)
def test_what_is_json_is_read_as_it_is(value: Any) -> None:
    for text in (json.dumps(value), json.dumps(value, ensure_ascii=False, indent=1)):
        assert read_loosely(text) == Loose(value)


@given(texts)
def test_any_text_has_one_reading_or_none_and_that_is_json(text: str) -> None:
    found = read_loosely(text)
    if found is not None:
        again = read_loosely(msgspec.json.encode(found.value).decode())
        assert again == Loose(found.value)


@given(texts)
def test_without_leave_to_mend_a_cut_the_reading_is_the_same_or_there_is_none(text: str) -> None:
    found = read_loosely(text, cut=False)
    assert found is None or found == read_loosely(text)


printable = st.text(st.characters(blacklist_categories=["C", "Z"]) | st.just(" "))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | printable,
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(printable, inner, max_size=4),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict | list))
)
def test_what_python_prints_is_read_as_python_meant_it(value: Any) -> None:
    found = read_loosely(repr(value))
    assert found is not None
    assert found.value == value


@given(st.dictionaries(st.text(max_size=3), json_values, max_size=4), st.integers(1, 60))
def test_nothing_is_made_up_for_what_was_cut_off(value: dict[str, Any], cut: int) -> None:
    text = json.dumps(value)
    found = read_loosely(text[: max(1, len(text) - cut)])
    if found is not None:
        assert _is_start(found.value, value)


def _is_start(found: Any, whole: Any) -> bool:
    match found, whole:
        case dict(), dict():
            return all(key in whole and _is_start(item, whole[key]) for key, item in found.items())
        case list(), list():
            return len(found) <= len(whole) and all(map(_is_start, found, whole))
        case ((bool() | None | str()), _):
            return found is whole or bool(found == whole)
    return not isinstance(whole, bool) and isinstance(whole, int | float)  # digits may be missing at the end


@pytest.mark.parametrize(
    ("text", "value", "rules"),
    [
        ("{'a': 'b'}", {"a": "b"}, ["single-quotes"]),
        ("{`a`: `b`}", {"a": "b"}, ["backquotes"]),
        ("{“a”: ‘b’}", {"a": "b"}, ["typographic-quotes"]),
        ("{'a': 'it's'}", {"a": "it's"}, ["single-quotes", "unescaped-quote"]),
        ('{"a": "say "hi" to me", "b": 1}', {"a": 'say "hi" to me', "b": 1}, ["unescaped-quote"]),
        ('{"a": "say "x", then", "b": 1}', {"a": 'say "x", then', "b": 1}, ["unescaped-quote"]),
        ('{"a": [1, 2,],}', {"a": [1, 2]}, ["trailing-comma"]),
        ('{"a": 1 "b": 2}', {"a": 1, "b": 2}, ["missing-comma"]),
        ('{"a": "x" "b": 2}', {"a": "x", "b": 2}, ["missing-comma"]),
        ('[{"a": 1} {"a": 2}]', [{"a": 1}, {"a": 2}], ["missing-comma"]),
        ("[True, False, None, NULL]", [True, False, None, None], ["literal"]),
        ("{a: 1, b_c: 2, 3: 4}", {"a": 1, "b_c": 2, "3": 4}, ["unquoted-key"]),
        ('{"a": celsius}', {"a": "celsius"}, ["unquoted-text"]),
        ('{"a": 00713}', {"a": "00713"}, ["unquoted-text"]),
        ("[+5, .5, 5., 1_000, 0x1F]", [5, 0.5, 5.0, 1000, 31], ["number"]),
        ('// hi\n{"a": /* x */ 1, # y\n "b": 2}', {"a": 1, "b": 2}, ["comment"]),
        ('{"a": {"b": [1, 2 ', {"a": {"b": [1, 2]}}, ["missing-bracket"]),
        ('{"a": 12,', {"a": 12}, ["missing-bracket", "trailing-comma"]),
        ('{"a": true', {"a": True}, ["missing-bracket"]),
        ('```json\n{"a": 12\n```', {"a": 12}, ["code-fence", "missing-bracket"]),
        ('{"a": [1, 2}', {"a": [1, 2]}, ["missing-bracket"]),
        ('[{"a": 1]', [{"a": 1}], ["missing-bracket"]),
        ('{"a": 1}}', {"a": 1}, ["stray-bracket"]),
        ('{"a": tru', {"a": True}, ["cut-off", "missing-bracket"]),
        ('{"a": "x\ny"}', {"a": "x\ny"}, ["control-character"]),
        (r'{"a": "C:\Users\d"}', {"a": r"C:\Users\d"}, ["escape"]),
        (r"{'a': 'it\'s \x41'}", {"a": "it's A"}, ["escape", "single-quotes"]),
        ('{"a": """x "y" z"""}', {"a": 'x "y" z'}, ["triple-quotes"]),
        ('```json\n{"a": 1}\n```', {"a": 1}, ["code-fence"]),
        ('"\\ud83d"', "\ufffd", ["half-character"]),
        ('\ufeff{"a": 1}', {"a": 1}, ["white-space"]),
        ('{"a": "{"b": 1}"}', {"a": '{"b": 1}'}, ["unescaped-quote"]),
    ],
)
def test_what_models_write_is_read(text: str, value: object, rules: list[str]) -> None:
    assert read_loosely(text) == Loose(value, tuple(rules))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "{",
        "[",
        '{"a',
        '{"a"',
        '{"a":',
        '{"a": "Par',
        '{"a": "x", "b": [',
        '{"a": N',
        '{"a": 12',
        '{"a": 12.',
        '{"a": -0x1F',
        '{"a": {"b": [1, 2',
        '```json\n{"a": 12```',
        '["a" "b"]',
        "[1 2]",
        "[1,,2]",
        "[,1]",
        '{"a": foo bar}',
        '{"a": (1, 2)}',
        "{1, 2}",
        '{"a": NaN}',
        "[Infinity]",
        "[undefined]",
        '{"a": 1} {"b": 2}',
        '{"a": 1}, {"b": 2}',
        'Sure: {"a": 1}',
        '{"a": 1, "a": 2}',
        '{"a":1,"a"\t:true}',
        "{'a': 1, 'a': 2}",
        '{"a": "say "hi", "b": 2}',
        '{"f": "g("x", "y")"}',
        "1e999",
        "9" * 5000,
        "/* {}",
        "]",
        "{]",
        "[}",
    ],
)
def test_what_has_no_one_reading_has_none(text: str) -> None:
    assert read_loosely(text) is None


def test_a_key_that_says_the_same_twice_says_it_once() -> None:
    assert read_loosely('{"a": {"b": 1, "b": 1}}') == Loose({"a": {"b": 1}})
    assert read_loosely("{'a': 1, 'a': 1}") == Loose({"a": 1}, ("single-quotes",))


def test_brackets_are_missing_at_the_end_only_where_that_may_be() -> None:
    assert read_loosely('{"a": [1', cut=False) is None
    assert read_loosely('{"a": tru', cut=False) is None
    assert read_loosely("{'a': 1}", cut=False) is not None


@given(
    st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(['{"a": ', "[", '[{"a": [0, '])
)
def test_a_number_that_just_ends_may_have_gone_on(number: float, before: str) -> None:
    assert read_loosely(f"{before}{number}") is None
    assert read_loosely(f"{before}{number}\n") is not None


@pytest.mark.parametrize(
    "text", ["[" * 10_000, "[" * 10_000 + "]" * 10_000, '{"a":' * 10_000, "[{" * 5_000, "'" * 100_000]
)
def test_brackets_without_end_are_no_crash(text: str) -> None:
    assert read_loosely(text) is None


def test_depth_is_bounded_alike_with_and_without_flaws() -> None:
    for depth, readable in ((DEEPEST, True), (DEEPEST + 1, False)):
        assert (read_loosely("[" * depth + "]" * depth) is not None) is readable
        assert (read_loosely("[" * depth + "1" + "," + "]" * depth) is not None) is readable


def test_many_brackets_side_by_side_are_not_depth() -> None:
    value = [{"a": [n]} for n in range(1000)]
    assert read_loosely(json.dumps(value)) == Loose(value)


def test_a_very_long_text_is_read_only_if_it_is_json() -> None:
    long = "x" * LONGEST_MENDED
    assert read_loosely(json.dumps({"a": long})) == Loose({"a": long})
    assert read_loosely(f"{{'a': '{long}'}}") is None
