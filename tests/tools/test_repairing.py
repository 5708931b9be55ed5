from __future__ import annotations

import json
import sys
from types import MappingProxyType
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given, settings

import callgate
from callgate.tools import Repaired, repair
from callgate.tools.mending_walk import FEWEST_STEPS
from callgate.tools.schema_errors import MOST_EXTRA_STEPS
from callgate.tools.validators import Schema
from callgate.vocabulary import Repair, UsageError
from tests.tools.schemas import arguments, damaged, schemas

WEATHER = {
    "type": "object",
    "properties": {
        "city": {"type": "string"},
        "days": {"type": "integer"},
        "unit": {"enum": ["celsius", "fahrenheit"]},
        "tags": {"type": "array", "items": {"type": "string"}},
        "loud": {"type": "boolean"},
        "place": {
            "type": "object",
            "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
            "required": ["lat"],
        },
        "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
    },
    "required": ["city"],
    "additionalProperties": False,
}


@given(schemas, arguments)
def test_repairing_twice_changes_nothing_more(schema: dict[str, Any], given_: Any) -> None:
    first = _repaired(given_, schema)
    if first is None or isinstance(first.arguments, str):  # a text is read anew, whatever was done to it before
        return
    assert repair(first.arguments, schema) == Repaired(first.arguments, (), first.errors)


@given(schemas, arguments)
def test_errors_are_told_if_and_only_if_the_arguments_do_not_fit(schema: dict[str, Any], given_: Any) -> None:
    found = _repaired(given_, schema)
    if found is not None and not isinstance(found.arguments, str):
        assert jsonschema_rs.validator_for(schema).is_valid(found.arguments) is (not found.errors)


@given(schemas, arguments)
def test_what_fits_is_never_touched(schema: dict[str, Any], given_: Any) -> None:
    found = _repaired(given_, schema)
    if found is not None and not isinstance(given_, str) and jsonschema_rs.validator_for(schema).is_valid(given_):
        assert found == Repaired(given_)
        assert found.arguments is given_


@given(schemas, arguments)
def test_repairing_never_changes_what_it_was_given(schema: dict[str, Any], given_: Any) -> None:
    before = json.dumps([schema, given_])
    _repaired(given_, schema)
    assert json.dumps([schema, given_]) == before


def _repaired(given_: Any, schema: dict[str, Any]) -> Repaired | None:
    try:
        return repair(given_, schema)
    except UsageError as error:
        assert "refers to itself" in error.message  # noqa: PT017 - nothing else is wrong with these schemas
        return None


@settings(max_examples=300)
@given(damaged())
def test_damage_that_models_do_is_undone(case: tuple[dict[str, Any], Any, Any]) -> None:
    schema, whole, broken = case
    found = repair(broken, schema)
    assert found.errors == ()
    assert found.arguments == whole
    assert bool(found.repairs) is (broken != whole and broken != json.dumps(whole))


@pytest.mark.parametrize(
    ("given_", "fixed", "changes"),
    [
        ({"city": "Rome", "days": "5"}, {"city": "Rome", "days": 5}, [("/days", "5", 5, "number")]),
        ({"city": "Rome", "loud": "True"}, {"city": "Rome", "loud": True}, [("/loud", "True", True, "boolean")]),
        (
            {"city": "Rome", "unit": " Celsius"},
            {"city": "Rome", "unit": "celsius"},
            [("/unit", " Celsius", "celsius", "enum")],
        ),
        ({"city": "Rome", "tags": "a"}, {"city": "Rome", "tags": ["a"]}, [("/tags", "a", ["a"], "array")]),
        (
            {"city": "Rome", "tags": '["a"]'},
            {"city": "Rome", "tags": ["a"]},
            [("/tags", '["a"]', ["a"], "encoded-json")],
        ),
        ({"city": "Rome", "days": None}, {"city": "Rome"}, [("/days", None, None, "null")]),
        ({"city": "Rome", "why": 1}, {"city": "Rome"}, [("/why", 1, None, "stray-key")]),
        ({"City": "Rome"}, {"city": "Rome"}, [("/City", "City", "city", "key")]),
        ({"city": 713}, {"city": "713"}, [("/city", 713, "713", "text")]),
        ({"city": "Rome", "limit": "7"}, {"city": "Rome", "limit": 7}, [("/limit", "7", 7, "number")]),
        ({"city": "Rome", "limit": "null"}, {"city": "Rome", "limit": None}, [("/limit", "null", None, "null-text")]),
        (
            {"city": "Rome", "place": '{"lat": "1.5"}'},
            {"city": "Rome", "place": {"lat": 1.5}},
            [("/place", '{"lat": "1.5"}', {"lat": "1.5"}, "encoded-json"), ("/place/lat", "1.5", 1.5, "number")],
        ),
        (
            {"arguments": {"city": "Rome"}},
            {"city": "Rome"},
            [("", {"arguments": {"city": "Rome"}}, {"city": "Rome"}, "wrapped")],
        ),
        (
            "{'city': 'Rome'}",
            {"city": "Rome"},
            [("", "{'city': 'Rome'}", {"city": "Rome"}, "malformed-json: single-quotes")],
        ),
        (
            '"{\\"city\\": \\"Rome\\"}"',
            {"city": "Rome"},
            [("", '"{\\"city\\": \\"Rome\\"}"', {"city": "Rome"}, "encoded-json")],
        ),
        ('{"city": "Rome"}', {"city": "Rome"}, []),
        ({"city": "00713"}, {"city": "00713"}, []),
        ({"city": "5"}, {"city": "5"}, []),
        ({"city": "Rome", "days": 5.0}, {"city": "Rome", "days": 5.0}, []),
    ],
)
def test_each_change_is_listed(given_: Any, fixed: Any, changes: list[tuple[Any, ...]]) -> None:
    assert repair(given_, WEATHER) == Repaired(fixed, tuple(Repair(*change) for change in changes))


def test_nothing_is_made_up_for_what_is_missing() -> None:
    schema = {
        "type": "object",
        "properties": {"city": {"type": "string", "default": "Rome"}, "days": {"type": "integer"}},
        "required": ["city", "days"],
    }
    assert repair({"days": "3"}, schema) == Repaired(
        {"days": 3}, (Repair("/days", "3", 3, "number"),), ("`/city` is missing: a string",)
    )
    assert repair({"city": None, "days": 3}, schema).errors == ("`/city` must be a string",)


def test_no_arguments_at_all_are_an_empty_object() -> None:
    nothing = {"type": "object", "properties": {}}
    for empty in ("", " \n", None):
        assert repair(empty, nothing) == Repaired({}, (Repair("", empty, {}, "empty"),))
    assert repair("", WEATHER).errors == ("`/city` is missing: a string",)


def test_a_text_that_is_no_json_is_given_back() -> None:
    assert repair("Rome", WEATHER) == Repaired("Rome", (), ("the arguments are no JSON that can be read in one way",))
    assert repair('{"city": "Rom', WEATHER).arguments == '{"city": "Rom'


@pytest.mark.parametrize("text", ["5", "[]", '"Rome"', "[1, 2]", '[{"city": "Rome"}, {"city": "Oslo"}]'])
def test_what_is_no_object_is_an_error(text: str) -> None:
    assert repair(text, WEATHER).errors == ("the arguments must be an object",)


def test_it_is_in_the_public_api() -> None:
    assert callgate.repair is repair


def test_other_mappings_and_tuples_count_as_objects_and_arrays() -> None:
    given_ = MappingProxyType({"city": "Rome", "tags": ("a", "b")})
    assert repair(given_, WEATHER) == Repaired({"city": "Rome", "tags": ["a", "b"]})
    assert repair({"city": "Rome"}, MappingProxyType(WEATHER)) == Repaired({"city": "Rome"})


def test_half_a_character_is_replaced() -> None:
    found = repair({"city": "Rome \ud83d"}, WEATHER)
    assert found.arguments == {"city": "Rome \ufffd"}
    assert [change.rule for change in found.repairs] == ["half-character"]


def test_numbers_that_json_does_not_have_do_not_fit() -> None:
    number = {"type": "object", "properties": {"n": {"type": "number"}}}
    for text in ("NaN", "Infinity", "-Infinity"):
        assert repair({"n": text}, number).errors == ("`/n` must be a number",)
        assert repair({"n": float(text)}, number).errors == ("`/n` must be a number",)


def _nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def _endless() -> list[Any]:
    value: list[Any] = []
    value.append(value)
    return value


def _shared(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "given_",
    [
        _nested(100_000),
        _endless(),
        _shared(100),
        "[" * 10_000,
        "{" * 10_000,
        '{"city":' * 10_000,
        {1: 2},
        {"city": {1}},
    ],
)
def test_arguments_without_end_or_measure_are_errors(given_: Any) -> None:
    found = repair(given_, WEATHER)
    assert found.arguments is given_
    assert len(found.errors) == 1


def test_long_texts_are_no_trouble() -> None:
    long = "5" * 10_000_000
    assert repair({"city": long}, WEATHER).errors == ()
    assert repair({"city": "Rome", "days": long}, WEATHER).errors == ("`/days` must be an integer",)
    assert repair({"city": "Rome", "unit": long}, WEATHER).errors != ()


def test_arguments_are_not_mended_by_half_where_that_would_take_too_long() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "integer"}}}}
    few, many = {"a": ["5"] * 10_000}, {"a": ["5"] * 300_000}
    assert repair(few, schema).arguments == {"a": [5] * 10_000}
    found = repair(many, schema)
    assert found.arguments is many
    assert found.errors


def test_the_validator_is_loaded_only_when_arguments_are_repaired() -> None:
    import subprocess

    script = "import sys, callgate, callgate.tools; callgate.repair; print('jsonschema_rs' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_what_is_asked_of_a_text_at_the_top_is_asked_of_what_it_encodes() -> None:
    assert repair("5", {"type": "integer"}) == Repaired(5)
    assert repair("5", True) == Repaired(5)


def test_arguments_that_end_within_a_number_are_an_error() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "number"}}}
    cut = repair('{"a": 12', schema)
    assert cut.arguments == '{"a": 12'
    assert cut.errors
    assert repair('{"a": 12 ', schema).arguments == repair('{"a": 12,', schema).arguments == {"a": 12}


def nested(depth: int) -> Any:
    value: Any = {"v": "5"}
    for _ in range(depth):
        value = {"v": value}
    return value


def alternatives(count: int, **more: Any) -> list[Any]:
    part = {"type": "object", **more}
    return [
        {**part, "properties": {"v": {"$ref": "#/properties/v"}, f"k{n}": {"type": "integer"}}, "required": [f"k{n}"]}
        for n in range(count)
    ]


@pytest.mark.parametrize(
    "union",
    [
        {"anyOf": alternatives(8)},
        {"oneOf": alternatives(30)},
        {"anyOf": alternatives(500)},
        {"allOf": [{"anyOf": alternatives(8)}, {"anyOf": alternatives(8, minProperties=1)}]},
    ],
)
@pytest.mark.parametrize("depth", [3, 10, 50])
def test_unions_within_unions_take_no_more_checks_than_they_may(
    union: dict[str, Any], depth: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks = 0
    is_valid_at = Schema.is_valid_at

    def counted(self: Schema, pointers: tuple[str, ...], value: object) -> bool:
        nonlocal checks
        checks += len(pointers)
        return is_valid_at(self, pointers, value)

    monkeypatch.setattr(Schema, "is_valid_at", counted)
    given_ = nested(depth)
    found = repair(given_, {"type": "object", "properties": {"v": union}})
    assert found.arguments is given_
    assert found.errors
    assert checks < FEWEST_STEPS + MOST_EXTRA_STEPS


def test_what_is_deep_in_unions_of_unions_is_mended() -> None:
    value: Any = {"k3": "5"}
    for _ in range(12):
        value = {"k7": 1, "v": value}
    found = repair({"v": value}, {"type": "object", "properties": {"v": {"anyOf": alternatives(8)}}})
    assert found.errors == ()
    assert [change.path for change in found.repairs] == ["/v" * 13 + "/k3"]
