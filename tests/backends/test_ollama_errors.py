import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.ollama.errors import refusal, said_in, without_quotes
from callgate.vocabulary import BadSchema, BadStatus, CallNotParsed
from tests.backends.played_ollama import WEATHER, asking


@given(st.text() | st.recursive(st.text(), lambda inner: st.dictionaries(st.text(), inner)).map(json.dumps))
def test_any_body_can_be_read(body: str) -> None:
    assert isinstance(said_in(body), str)


@given(st.text(), st.sampled_from('{[<"`'), st.text())
def test_what_comes_after_a_quote_is_cut(before: str, quote: str, after: str) -> None:
    kept = without_quotes(f"{before}{quote}secret{after}")
    assert "secret" not in kept.removeprefix(without_quotes(before))
    assert kept.isprintable()
    assert len(kept) <= 202


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"error":"no memory"}', "no memory"),
        ('{"error":{"message":"no memory","code":500}}', "no memory"),
        (json.dumps({"error": json.dumps({"error": {"code": 400, "message": "no memory"}})}), "no memory"),
        (json.dumps({"error": json.dumps({"error": {"code": 400, "message": "no memory"}})})[:60], "no mem"),
        ('{"error":"no mem', "no mem"),
        ("<html>", "<html>"),
        ('{"error":5}', ""),
        ("{", ""),
        ("", ""),
    ],
)
def test_an_error_is_found_however_it_is_wrapped_and_cut(body: str, said: str) -> None:
    assert said_in(body) == said


@pytest.mark.parametrize(
    "said",
    ["error parsing tool call: raw='x'", "invalid tool call: no opening parenthesis", "empty Laguna tool call name"],
)
def test_a_call_that_was_not_parsed_is_known_in_many_words(said: str) -> None:
    problem = BadStatus("?", status=500, body=json.dumps({"error": said}))
    assert isinstance(refusal(problem, asking(tools=(WEATHER,)), "Ollama", None), CallNotParsed)


def test_that_a_call_quotes_the_word_schema_makes_it_no_bad_schema() -> None:
    said = "error parsing tool call: raw='{\"schema\": 1}'"
    problem = BadStatus("?", status=500, body=json.dumps({"error": said}))
    assert isinstance(refusal(problem, asking(tools=(WEATHER,), schema={}), "Ollama", None), CallNotParsed)


def test_a_wrong_type_is_a_schemas_fault_only_where_there_is_one() -> None:
    problem = BadStatus("?", status=400, body='{"error":"json: cannot unmarshal string into Go value of type bool"}')
    assert isinstance(refusal(problem, asking(schema={}), "Ollama", None), BadSchema)
    assert isinstance(plain := refusal(problem, asking(), "Ollama", None), BadStatus)
    assert plain.message == "Ollama answered with status 400: json: cannot unmarshal string into Go value of type bool"
