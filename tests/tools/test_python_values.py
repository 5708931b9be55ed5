from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NewType, TypedDict
from uuid import UUID

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import bound_call, tool_of
from callgate.vocabulary import UsageError


class Colour(enum.Enum):
    RED = "red"
    GREEN = "green"


class Share(enum.Enum):
    HALF = 0.5


@dataclass
class Point:
    x: int
    y: int = 0
    seen: date | None = None


@dataclass
class Circle:
    centre: Point
    radius: float


class Options(TypedDict, total=False):
    when: datetime


class Pair(NamedTuple):
    left: str
    right: Decimal


class Person(pydantic.BaseModel):
    name: str
    born: date


class Box(msgspec.Struct):
    sides: tuple[int, int]


@dataclass
class Owner:
    person: Person


Id = NewType("Id", UUID)


def test_dates_and_the_like(as_called: Callable[..., Any]) -> None:
    assert as_called(datetime, "2026-01-02T03:04:05Z") == datetime.fromisoformat("2026-01-02T03:04:05+00:00")
    assert as_called(date, "2026-01-02") == date(2026, 1, 2)
    assert as_called(timedelta, "PT5M") == timedelta(minutes=5)
    assert as_called(UUID, "12345678-1234-5678-1234-567812345678") == UUID("12345678-1234-5678-1234-567812345678")
    assert as_called(Decimal, 1.5) == Decimal("1.5")
    assert as_called(Path, "a/b") == Path("a/b")
    assert as_called(Id, "12345678-1234-5678-1234-567812345678") == UUID("12345678-1234-5678-1234-567812345678")
    assert as_called(float, 3) == 3.0


def test_records(as_called: Callable[..., Any]) -> None:
    assert as_called(Point, {"x": 1}) == Point(1)
    assert as_called(Circle, {"centre": {"x": 1, "seen": "2026-01-02"}, "radius": 2}) == Circle(
        Point(1, 0, date(2026, 1, 2)), 2.0
    )
    assert as_called(Options, {"when": "2026-01-02T03:04:05Z"}) == {"when": datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)}
    assert as_called(Pair, ["a", 1]) == Pair("a", Decimal(1))
    assert as_called(Box, {"sides": [1, 2]}) == Box((1, 2))


def test_choices_and_collections(as_called: Callable[..., Any]) -> None:
    assert as_called(Colour, "red") is Colour.RED
    assert as_called(Share, 0.5) is Share.HALF
    assert as_called(list[Colour], ["red", "green"]) == [Colour.RED, Colour.GREEN]
    assert as_called(set[int], [1, 2]) == {1, 2}
    assert as_called(tuple[int, str], [1, "a"]) == (1, "a")
    assert as_called(Iterable[Point], [{"x": 1}]) == [Point(1)]
    assert as_called(Sequence[date], ["2026-01-02"]) == [date(2026, 1, 2)]
    assert as_called(dict[str, Point | Circle], {"a": {"x": 1}}) == {"a": Point(1)}


def test_one_of_several_records(as_called: Callable[..., Any]) -> None:
    assert as_called(Point | Circle, {"centre": {"x": 1}, "radius": 2}) == Circle(Point(1), 2.0)
    assert as_called(Point | None, None) is None


def test_what_is_pydantics(as_called: Callable[..., Any]) -> None:
    anna = Person(name="Anna", born=date(1990, 1, 2))
    plain = {"name": "Anna", "born": "1990-01-02"}
    assert as_called(Person, plain) == anna
    assert as_called(list[Person], [plain]) == [anna]
    assert as_called(Owner, {"person": plain}) == Owner(anna)
    assert as_called(Annotated[date, pydantic.Field(description="a day")], "1990-01-02") == date(1990, 1, 2)


@pytest.fixture
def as_called() -> Callable[..., Any]:
    """What a function with that hint gets for a value."""

    def call(hint: Any, value: Any) -> Any:
        def tool(given):  # type: ignore[no-untyped-def]
            return given

        tool.__annotations__ = {"given": hint}
        return bound_call(tool, {"given": value})()

    return call


def test_an_argument_that_is_no_good_is_named() -> None:
    def meet(when: datetime) -> None: ...

    with pytest.raises(UsageError, match="'when'"):
        bound_call(meet, {"when": "tomorrow"})

    def greet(person: Person) -> None: ...

    with pytest.raises(UsageError, match=r"'person'.*born"):
        bound_call(greet, {"person": {"name": "x"}})


def test_every_kind_of_parameter_gets_its_value() -> None:
    def tool(a: int, /, b: date, *, c: Colour = Colour.RED, **more: date) -> object:
        return a, b, c, more

    day = date(2026, 1, 2)
    arguments = {"a": 1, "b": "2026-01-02", "c": "green", "d": "2026-01-02"}
    assert bound_call(tool, arguments)() == (1, day, Colour.GREEN, {"d": day})
    assert bound_call(tool, {"a": 1, "b": "2026-01-02"})() == (1, day, Colour.RED, {})


def test_a_default_that_pydantic_holds_is_given() -> None:
    def tool(a: int = pydantic.Field(5, description="five")) -> int:
        return a

    assert bound_call(tool, {})() == 5


def test_fixed_arguments_methods_and_callable_things() -> None:
    class Meeting:
        def at(self, when: date) -> date:
            return when

        def __call__(self, when: date) -> date:
            return when

    def tool(a: date, b: int) -> object:
        return a, b

    day = date(2026, 1, 2)
    assert bound_call(functools.partial(tool, b=3), {"a": "2026-01-02"})() == (day, 3)
    assert bound_call(Meeting().at, {"when": "2026-01-02"})() == day
    assert bound_call(Meeting(), {"when": "2026-01-02"})() == day


def test_a_class_makes_a_value_of_its_fields() -> None:
    assert bound_call(Point, {"x": 1, "seen": "2026-01-02"})() == Point(1, 0, date(2026, 1, 2))
    assert bound_call(Person, {"name": "Anna", "born": "1990-01-02"})() == Person(name="Anna", born=date(1990, 1, 2))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)


@given(value=JSON, hint=st.sampled_from([Circle, Person, Point | Circle, list[Colour], Options, Owner, Path, set[int]]))
def test_whatever_comes_it_is_a_value_or_a_usage_error(value: Any, hint: Any) -> None:
    def tool(given):  # type: ignore[no-untyped-def]
        return given

    tool.__annotations__ = {"given": hint}
    assert tool_of(tool).name == "tool"
    try:
        bound_call(tool, {"given": value})()
    except UsageError as error:
        complaint = error.message
    else:
        return
    assert "'given'" in complaint
