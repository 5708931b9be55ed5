import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.recovery.literals import python_calls

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def called(text: str, *, greedy: bool = False) -> list[tuple[str, dict[str, object]]]:
    return [(said.name, dict(said.arguments)) for said in python_calls(text, greedy=greedy)]


@given(values)
def test_what_python_writes_is_read(value: object) -> None:
    assert called(f"[f(x={value!r})]") == [("f", {"x": value})]


@given(values)
def test_what_json_writes_is_read(value: object) -> None:
    assert called(f"f(x={json.dumps(value)})") == [("f", {"x": value})]


@given(st.text(alphabet="f(x='\"[]{},:=) \\1T", max_size=60))
def test_whatever_comes_it_is_read_or_not(text: str) -> None:
    python_calls(text)
    python_calls(text, greedy=True)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("f()", {}),
        ("f( a = 'x' , b = 2 )", {"a": "x", "b": 2}),
        ("f(a=True, b=false, c=None, d=null)", {"a": True, "b": False, "c": None, "d": None}),
        ("f(a=-1.5e3, b=+2, c=1_000, d=07)", {"a": -1500.0, "b": 2, "c": 1000, "d": 7}),
        ("f(a=(1, 2), b={'x', 'y'}, c={}, d=[])", {"a": [1, 2], "b": ["x", "y"], "c": {}, "d": []}),
        ("f(a=r'\\d+', b='\\d+', c='\\u00e9\\x41\\n')", {"a": "\\d+", "b": "\\d+", "c": "éA\n"}),
        ("f(a='two\nlines')", {"a": "two\nlines"}),
        ('f(a="""it\'s "quoted" """)', {"a": 'it\'s "quoted" '}),
        ("f(a='sed -n '1,2p' file')", {"a": "sed -n '1,2p' file"}),
        ("f(a='it\\'s', b=\"l'eau\")", {"a": "it's", "b": "l'eau"}),
        ("f(a=celsius)", {"a": "celsius"}),
        ("f({'a': 1})", {"a": 1}),
        ("weather.get(a=1,)", {"a": 1}),
    ],
)
def test_this_is_a_call(text: str, meant: dict[str, object]) -> None:
    ((_, arguments),) = called(text)
    assert arguments == meant


def test_several_calls_stand_in_brackets_or_on_lines() -> None:
    both: list[tuple[str, dict[str, object]]] = [("f", {"a": 1}), ("g", {})]
    for text in ("[f(a=1), g()]", "f(a=1)\ng()", "[f(a=1), g(),]", "f(a=1), g()", "[f(a=1), g()"):
        assert called(text) == both


def test_quotes_within_quotes_end_where_the_argument_does() -> None:
    text = "[run(code='print('a', 'b'))', fast=True)]"
    assert called(text) == []
    assert called(text, greedy=True) == [("run", {"code": "print('a', 'b'))", "fast": True})]


@pytest.mark.parametrize(
    "text", ["", "f", "f(", "f(1)", "f(a=1, a=2)", "f(a=)", "f(a=1) b", "f(a='x)", "[]", "f(a=g(1))"]
)
def test_this_is_none(text: str) -> None:
    assert called(text) == []


@pytest.mark.timeout(60)  # each takes minutes where every place is tried with every length
def test_long_runs_take_no_longer_than_they_are() -> None:
    digits, spaces = "1" * 50_000, " " * 50_000
    assert called(f"f(a={digits}x)") == [("f", {"a": f"{digits}x"})]
    assert called(f"f(a='b'){spaces}x", greedy=True) == []
    assert called(f"f(a='b'{spaces}x)", greedy=True) == []
