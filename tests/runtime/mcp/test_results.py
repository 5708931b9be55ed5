from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_types import CallToolResult

from callgate.runtime.mcp.results import MOST_IMAGES, outcome_of
from tests.runtime.mcp.test_servers_file import json_values


def said(structured: Any = None, *texts: str, **more: Any) -> str:
    content = [{"type": "text", "text": text} for text in texts]
    result = {"content": content, **({} if structured is None else {"structuredContent": structured}), **more}
    return outcome_of(CallToolResult.model_validate(result)).content


@pytest.mark.parametrize(
    ("structured", "texts", "content"),
    [
        (None, ["a", "b"], "a\nb"),
        ({"a": 1}, [], '{"a":1}'),
        ({"a": 1}, ['{ "a": 1 }'], '{ "a": 1 }'),
        ({"a": 1}, ["one"], 'one\n{"a":1}'),
        ({"result": 5}, ["5"], "5"),
        ({"result": "five"}, ["five"], "five"),
        ({"result": [1, "b"]}, ["1", "b"], "1\nb"),
        ({"result": []}, [], '{"result":[]}'),
        ({"result": 5, "unit": "m"}, ["5"], '5\n{"result":5,"unit":"m"}'),
    ],
)
def test_what_is_structured_is_said_once(structured: Any, texts: list[str], content: str) -> None:
    assert said(structured, *texts) == content


@given(st.dictionaries(st.text(max_size=8), json_values, max_size=4), st.lists(st.text(max_size=20), max_size=3))
def test_no_text_is_lost(structured: dict[str, Any], texts: list[str]) -> None:
    content = said(structured, *texts)
    assert content.startswith("\n".join(texts))
    assert content or not texts or not any(texts)


def test_only_some_images_are_taken() -> None:
    image = {"type": "image", "data": "AAAA", "mimeType": "image/png"}
    odd = {"type": "image", "data": "AAAA", "mimeType": "text/html\n"}
    outcome = outcome_of(CallToolResult.model_validate({"content": [odd, *[image] * (MOST_IMAGES + 2)]}))
    assert len(outcome.images) == MOST_IMAGES
    assert outcome.content.splitlines() == ["[text/html : left out]", *["[image/png: left out]"] * 2]


def test_an_error_is_one() -> None:
    result = CallToolResult.model_validate({"content": [], "isError": True})
    assert outcome_of(result).is_error
