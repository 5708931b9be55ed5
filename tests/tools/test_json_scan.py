from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import ValueScan, scan_value

containers: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=10,
).filter(lambda value: isinstance(value, dict | list | str))


@given(containers, st.text(), st.text(max_size=5), st.lists(st.integers(1, 5), min_size=1))
def test_the_end_is_found_wherever_the_chunks_are_cut(value: Any, before: str, after: str, sizes: list[int]) -> None:
    text = json.dumps(value, ensure_ascii=False)
    assert scan_value(before + text + after, len(before)) == len(before) + len(text)
    scan, at, end = ValueScan(), 0, None
    whole = text + after
    while at < len(whole) and end is None:
        chunk = whole[at : at + sizes[at % len(sizes)]]
        found = scan.feed(chunk)
        end = None if found is None else at + found
        at += len(chunk)
    assert end == len(text)


@given(containers)
def test_what_is_cut_off_has_no_end(value: Any) -> None:
    assert scan_value(json.dumps(value)[:-1]) is None


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("5 x", 1), ("5", None), ("true}", 4), ("'a}' b", 4), ("{'a': 'it\\'s}'} x", 15), ("{a: don't}", 10),
        ("{'a': ['}', \"]\"]} {", 17), ("12, 13", 2), (" {}", 3), ("x[1]", 1), ("", None), ("]", 0),
    ],
)  # fmt: skip
def test_the_end_of_what_is_nearly_json(text: str, end: int | None) -> None:
    assert scan_value(text) == end
