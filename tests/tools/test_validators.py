from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

from callgate.tools import repair
from callgate.tools.validators import schema_of
from callgate.vocabulary import UsageError


def _deep(depth: int) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    for _ in range(depth):
        schema = {"properties": {"a": schema}}
    return schema


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "strin"}, "no JSON Schema at /type"),
        ({"properties": []}, "no JSON Schema at /properties"),
        ({"properties": {"a": {"pattern": "(("}}}, "no JSON Schema at /properties/a/pattern"),
        ({"$ref": "#/$defs/nowhere"}, "'/$defs/nowhere' does not exist"),
        ({"a": object()}, "isn't JSON"),
        ([], "neither an object nor true or false"),
        ("{}", "neither an object nor true or false"),
        (_deep(60), "nested more than 100 levels"),
        (_deep(10_000), "nested too deeply"),
        ({"enum": ["x" * 1000] * 1001}, "bytes"),
        ({"patternProperties": {"((": {}}}, "no JSON Schema at /patternProperties/(("),
        ({"type": "string", "pattern": "a" * 2000}, "no regular expression"),
    ],
)
def test_a_schema_that_is_no_good_is_refused(schema: Any, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        repair({}, schema)
    assert message in caught.value.message


def test_a_reference_to_elsewhere_is_never_followed() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = threading.Event()

        def listen() -> None:
            try:
                server.accept()
            except OSError:
                return
            asked.set()

        listener = threading.Thread(target=listen)
        listener.start()
        address = f"http://127.0.0.1:{server.getsockname()[1]}/schema.json"
        for schema in ({"$ref": address}, {"properties": {"a": {"$ref": address}}}, {"$ref": "file:///etc/hostname"}):
            with pytest.raises(UsageError):
                repair({"a": 1}, schema)
        assert repair({}, {"$schema": address, "type": "object"}).errors == ()
        server.shutdown(socket.SHUT_RDWR)
        listener.join()
    assert not asked.is_set()


@pytest.mark.parametrize("pattern", ["(a+)+$", "^(a|a)*$", r"(?=a)(a+)+\1$", "(.*a){20}$"])
def test_a_pattern_takes_no_longer_than_it_may(pattern: str) -> None:
    schema = {"type": "object", "properties": {"a": {"type": "string", "pattern": pattern}}}
    assert len(repair({"a": "a" * 50_000 + "!"}, schema).errors) == 1


def test_a_schema_is_compiled_once() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert schema_of(schema) is schema_of(dict(schema))


def test_a_schema_that_was_changed_is_another_one() -> None:
    schema: dict[str, Any] = {"type": "object", "properties": {"n": {"type": "integer"}}}
    assert repair({"n": "5"}, schema).arguments == {"n": 5}
    schema["properties"]["n"] = {"type": "string"}
    assert repair({"n": "5"}, schema).arguments == {"n": "5"}


def test_parts_are_found_whatever_their_names() -> None:
    names = ["type", "required", "$ref", "a/b", "a~b", "100 %", "é", "", "#", "?q"]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
    assert repair(dict.fromkeys(names, "5"), schema).arguments == dict.fromkeys(names, 5)


def test_older_dialects_are_spoken() -> None:
    schema = {
        "$schema": "http://json-schema.org/draft-04/schema#",
        "id": "http://example.com/weather",
        "definitions": {"n": {"type": "integer", "minimum": 3, "exclusiveMinimum": True}},
        "type": "object",
        "properties": {"n": {"$ref": "#/definitions/n"}},
    }
    assert repair({"n": "4"}, schema).arguments == {"n": 4}
    assert repair({"n": "3"}, schema).arguments == {"n": "3"}


@pytest.mark.parametrize(
    "dialect", ["http://json-schema.org/draft-99/schema", "https://example.com/mine", "#", 5, None]
)
def test_a_dialect_that_nobody_knows_is_read_as_the_newest(dialect: object) -> None:
    schema = {"$schema": dialect, "type": "object", "properties": {"n": {"type": "integer"}}}
    assert repair({"n": "4"}, schema).arguments == {"n": 4}


def test_parts_with_an_identity_of_their_own_are_left_alone() -> None:
    part = {"$id": "http://example.com/part", "$ref": "#/$defs/n", "$defs": {"n": {"type": "integer"}}}
    schema = {"type": "object", "properties": {"n": part}, "$defs": {"n": {"type": "boolean"}}}
    assert repair({"n": 5}, schema).errors == ()
    assert repair({"n": "5"}, schema).arguments == {"n": "5"}


def test_a_reference_to_where_nobody_is_mends_nothing_and_breaks_nothing() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/d"}},
        "$defs": {"d": {"anyOf": [{"type": "integer"}, {"$ref": "."}]}},
    }
    outcome = repair({"a": "5"}, schema)
    assert outcome.arguments == {"a": "5"}
    assert outcome.errors
