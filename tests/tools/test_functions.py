from __future__ import annotations

import dataclasses
import datetime as dt
import enum
import functools
import pathlib
import socket
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    NotRequired,
    Required,
    TypedDict,
    TypeVar,
)

import msgspec
import pydantic
import pytest

from callgate.tools import read_tools, tool_of
from callgate.vocabulary import UsageError

if TYPE_CHECKING:
    from decimal import Decimal

Name = NewType("Name", str)
Number = TypeVar("Number", int, float)
Short = TypeVar("Short", bound=str)


class Unit(enum.Enum):
    METRIC = "metric"
    IMPERIAL = "imperial"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


@dataclasses.dataclass
class Place:
    """A place on earth.

    Args:
        lat: north of the equator
    """

    lat: float
    lon: float = 0.0
    tags: list[str] = dataclasses.field(default_factory=list)
    known: bool = dataclasses.field(default=False, init=False)


@dataclasses.dataclass
class Node:
    value: int
    children: list[Node] = dataclasses.field(default_factory=list)


class Options(TypedDict, total=False):
    unit: Required[Unit]
    days: Annotated[int, "how many"]


class Strict(TypedDict):
    a: int
    b: NotRequired[int]


class Pair(NamedTuple):
    left: int
    right: str = "r"


class Wire(msgspec.Struct):
    unit: Unit
    port: int = 80


class Leaf(pydantic.BaseModel):
    unit: Unit


class Model(pydantic.BaseModel):
    """A model."""

    leaf: Leaf
    count: int = pydantic.Field(default=1, ge=1, description="how many")


def parameters_of(function: Callable[..., Any]) -> dict[str, Any]:
    (tool,) = read_tools([function])  # which also checks that it is a schema
    return dict(tool.parameters)


def schema_of(hint: object) -> dict[str, Any]:
    def function(x: Any) -> None: ...

    function.__annotations__["x"] = hint
    schema: dict[str, Any] = parameters_of(function)["properties"]["x"]
    return schema


def test_signature_hints_and_docstring_make_a_tool() -> None:
    def forecast(city: str, days: int = 3, *, unit: Literal["C", "F"] = "C") -> str:
        """Tells the weather.

        Args:
            city: the town
            days: how many
        """
        return f"{city}{days}{unit}"

    tool = tool_of(forecast)
    assert (tool.name, tool.description) == ("forecast", "Tells the weather.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "city": {"type": "string", "description": "the town"},
            "days": {"type": "integer", "description": "how many", "default": 3},
            "unit": {"type": "string", "enum": ["C", "F"], "default": "C"},
        },
        "required": ["city"],
        "additionalProperties": False,
    }
    assert tool_of(forecast) is tool


def test_name_and_description_may_be_given() -> None:
    tool = tool_of(lambda x: x, name="echo", description="Says it again.")
    assert (tool.name, tool.description) == ("echo", "Says it again.")
    assert tool.parameters["required"] == ["x"]


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (str, {"type": "string"}),
        (bool, {"type": "boolean"}),
        (None, {"type": "null"}),
        (Any, {}),
        (list, {"type": "array"}),
        (list[int], {"type": "array", "items": {"type": "integer"}}),
        (Sequence[list[str]], {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}),
        (set[str], {"type": "array", "items": {"type": "string"}, "uniqueItems": True}),
        (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}),
        (
            tuple[int, str],
            {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        ),
        (tuple[()], {"type": "array", "prefixItems": [], "minItems": 0, "maxItems": 0}),
        (dict, {"type": "object"}),
        (dict[str, Any], {"type": "object"}),
        (Mapping[str, float], {"type": "object", "additionalProperties": {"type": "number"}}),
        (int | None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}),
        (typing.Optional[int], {"anyOf": [{"type": "integer"}, {"type": "null"}]}),  # noqa: UP045
        (int | Any, {}),
        (Literal["a", 1], {"enum": ["a", 1]}),
        (Unit, {"type": "string", "enum": ["metric", "imperial"]}),
        (Level, {"type": "integer", "enum": [1, 2]}),
        (Literal[Unit.METRIC], {"type": "string", "enum": ["metric"]}),
        (Name, {"type": "string"}),
        (Number, {"anyOf": [{"type": "integer"}, {"type": "number"}]}),
        (Short, {"type": "string"}),
        (dt.datetime, {"type": "string", "format": "date-time"}),
        (dt.date, {"type": "string", "format": "date"}),
        (pathlib.Path, {"type": "string"}),
        (Annotated[int, "a number"], {"type": "integer", "description": "a number"}),
        (Annotated[int, pydantic.Field(ge=1, lt=9)], {"type": "integer", "minimum": 1, "exclusiveMaximum": 9}),
        (Annotated[str, msgspec.Meta(max_length=5)], {"type": "string", "maxLength": 5}),
        (
            Annotated[list[int], pydantic.Field(min_length=2)],
            {"type": "array", "items": {"type": "integer"}, "minItems": 2},
        ),
        (
            Options,
            {
                "type": "object",
                "properties": {
                    "unit": {"type": "string", "enum": ["metric", "imperial"]},
                    "days": {"type": "integer", "description": "how many"},
                },
                "required": ["unit"],
            },
        ),
        (
            Place,
            {
                "type": "object",
                "properties": {
                    "lat": {"type": "number", "description": "north of the equator"},
                    "lon": {"type": "number", "default": 0.0},
                    "tags": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["lat"],
                "additionalProperties": False,
                "description": "A place on earth.",
            },
        ),
        (
            Pair,
            {
                "type": "object",
                "properties": {"left": {"type": "integer"}, "right": {"type": "string", "default": "r"}},
                "required": ["left"],
                "additionalProperties": False,
            },
        ),
    ],
)
def test_hints_become_schemas(hint: object, schema: dict[str, Any]) -> None:
    assert schema_of(hint) == schema


def test_what_a_typed_dictionary_need_not_have_is_optional() -> None:
    assert schema_of(Strict)["required"] == ["a"]


def test_a_record_that_holds_itself_is_a_definition() -> None:
    def function(node: Node) -> None: ...

    parameters = parameters_of(function)
    assert parameters["properties"]["node"] == {"$ref": "#/$defs/Node"}
    assert parameters["$defs"]["Node"]["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}


def test_pydantic_and_msgspec_say_for_themselves_what_their_models_are() -> None:
    def function(model: Model, wire: Wire, models: list[Model]) -> None: ...

    parameters = parameters_of(function)
    model = parameters["properties"]["model"]
    assert model["properties"]["count"] == {
        "default": 1,
        "description": "how many",
        "minimum": 1,
        "title": "Count",
        "type": "integer",
    }
    assert model["properties"]["leaf"] == {"$ref": "#/$defs/Leaf"}
    assert parameters["properties"]["wire"] == {"$ref": "#/$defs/Wire"}
    # Both call it Unit, but they describe it differently.
    units = {name for name in parameters["$defs"] if name.startswith("Unit")}
    assert units == {"Unit", "Unit1"}
    assert parameters["$defs"]["Wire"]["properties"]["unit"] == {"$ref": "#/$defs/Unit1"}


def test_a_discriminated_union_is_pydantics_own() -> None:
    class Cat(pydantic.BaseModel):
        kind: Literal["cat"]

    class Dog(pydantic.BaseModel):
        kind: Literal["dog"]

    schema = schema_of(Annotated[Cat | Dog, pydantic.Field(discriminator="kind")])
    assert schema["discriminator"]["propertyName"] == "kind"


def test_pydantics_fields_may_stand_in_for_defaults() -> None:
    def function(
        a: int = pydantic.Field(description="needed"), b: int = pydantic.Field(default=5, le=9), c: int = 1
    ) -> None: ...

    parameters = parameters_of(function)
    assert parameters["required"] == ["a"]
    assert parameters["properties"]["a"] == {"type": "integer", "description": "needed"}
    assert parameters["properties"]["b"] == {"type": "integer", "maximum": 9, "default": 5}


def test_a_class_is_a_tool_whose_parameters_are_its_fields() -> None:
    assert tool_of(Model).description == "A model."
    assert tool_of(Place).name == "Place"
    assert tool_of(Place).description == "A place on earth."
    assert "description" not in tool_of(Place).parameters
    assert tool_of(Node).parameters["properties"]["children"]["items"] == {"$ref": "#/$defs/Node"}
    with pytest.raises(UsageError, match="'Unit'"):
        tool_of(Unit)


def test_methods_callable_objects_and_partial_functions_are_tools() -> None:
    class Clock:
        """Keeps the time."""

        def tell(self, zone: str) -> None:
            """Tells the time."""

        def __call__(self, at: int) -> None: ...

    assert tool_of(Clock().tell).parameters["required"] == ["zone"]
    assert (tool_of(Clock()).name, tool_of(Clock()).description) == ("Clock", "Keeps the time.")
    assert tool_of(Clock()).parameters["properties"] == {"at": {"type": "integer"}}
    fixed = functools.partial(Clock().tell, zone="UTC")
    assert (tool_of(fixed).name, tool_of(fixed).description) == ("tell", "Tells the time.")
    assert tool_of(fixed).parameters["properties"] == {}


def test_a_decorated_function_is_described_by_what_it_wraps() -> None:
    def logged(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return inner

    @logged
    async def count(upto: int) -> None:
        """Counts."""

    assert tool_of(count).name == "count"
    assert tool_of(count).parameters["properties"] == {"upto": {"type": "integer"}}


def test_what_takes_any_keyword_says_so() -> None:
    def function(a: int, *args: int, **kwargs: float) -> None: ...

    parameters = parameters_of(function)
    assert list(parameters["properties"]) == ["a"]
    assert parameters["additionalProperties"] == {"type": "number"}


def test_defaults_that_json_can_not_say_are_left_out() -> None:
    def function(
        a: pathlib.Path = pathlib.Path(),
        b: float = float("nan"),
        c: int = None,  # type: ignore[assignment]  # noqa: RUF013
        d: Unit = Unit.METRIC,
        e: int | None = None,
        f: Any = print,
    ) -> None: ...

    properties = parameters_of(function)["properties"]
    assert {name: part.get("default", "left out") for name, part in properties.items()} == {
        "a": "left out",
        "b": "left out",
        "c": "left out",
        "d": "metric",
        "e": None,
        "f": "left out",
    }


def test_what_a_function_returns_plays_no_part() -> None:
    def function(x: int) -> Decimal | None: ...

    assert parameters_of(function)["required"] == ["x"]


def takes_a_socket(connection: socket.socket) -> None: ...


def takes_what_is_not_there(amount: Decimal) -> None: ...


def takes_bytes_in_a_literal(x: Literal[b"a"]) -> None: ...


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (takes_a_socket, "'connection' of the tool 'takes_a_socket'"),
        (takes_what_is_not_there, "'takes_what_is_not_there'.*Decimal"),
        (takes_bytes_in_a_literal, "'x' of the tool"),
        (lambda: None, "lambda"),
        (type, "'type'"),
    ],
)
def test_what_can_not_be_a_tool_is_named(function: Callable[..., Any], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        tool_of(function)
