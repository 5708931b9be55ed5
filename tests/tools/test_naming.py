from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import Names, new_call_id
from callgate.vocabulary import Means, Repair, Tool, UsageError

PATTERN = Means().tool_names
NUMBERS: dict[str, Any] = {
    "type": "object",
    "properties": {"a": {"type": "number"}, "b": {"type": "number"}},
    "required": ["a", "b"],
}
CALCULATOR: dict[str, Any] = {
    "type": "object",
    "properties": {**NUMBERS["properties"], "operation": {"type": "string", "enum": ["add", "sub-tract"]}},
}


def meant(said: str, *offered: str, arguments: dict[str, Any] | str = "{}") -> str | None:
    found = Names([Tool(name, "", NUMBERS) for name in offered]).resolve(said, arguments)
    return found.name if found else None


def test_an_accepted_name_is_sent_and_understood_as_it_is() -> None:
    names = Names([Tool("add", "", NUMBERS)])
    assert names.sent("add") == "add"
    assert names.tools == (Tool("add", "", NUMBERS),)
    found = names.resolve("add", {"a": 1})
    assert found is not None
    assert (found.name, found.arguments, found.repairs) == ("add", {"a": 1}, ())


def test_names_that_a_backend_does_not_take_are_spelled_with_what_it_takes() -> None:
    names = Names([Tool("server/tool.name"), Tool("météo du jour"), Tool("_private"), Tool("9")])
    assert [tool.name for tool in names.tools] == ["server_tool_name", "meteo_du_jour", "_private", "9"]
    assert names.resolve("server_tool_name") == names.resolve("server/tool.name")


def test_renamed_tools_are_the_same_records_each_time() -> None:
    offered = [Tool("a.b"), Tool("c")]
    first, second = Names(offered).tools, Names(offered).tools
    assert [one is other for one, other in zip(first, second, strict=True)] == [True, True]
    assert Names(offered, r"^[a-z.]+$").tools == tuple(offered)


def test_names_that_would_be_sent_alike_are_told_apart_whatever_their_order() -> None:
    offered = [Tool("a.b"), Tool("a/b"), Tool("a_b"), Tool("天気"), Tool("x" * 80), Tool("x" * 81)]
    names, reverse = Names(offered), Names(reversed(offered))
    assert names.sent("a_b") == "a_b"
    assert names.sent("a.b").startswith("a_b_")
    assert names.sent("天気").startswith("tool_")
    assert all(names.sent(tool.name) == reverse.sent(tool.name) for tool in offered)
    assert len({names.sent(tool.name) for tool in offered}) == len(offered)


def test_a_tool_that_is_no_longer_offered_gets_a_name_that_is_nobodys() -> None:
    names = Names([Tool("a_b"), Tool("c.d")])
    assert names.sent("old.tool") == "old_tool"
    assert re.fullmatch(PATTERN, names.sent("a.b"))
    assert names.resolve(names.sent("a.b")) is None
    assert names.resolve(names.sent("c_d")) is None


@pytest.mark.parametrize(
    "said",
    [
        "calculator.add",
        "calculator-add",
        "calculator add",
        "calculator/add",
        "calculator::add",
        "calculatorAdd",
        "Calculator_Add",
        "CALCULATOR_ADD",
        "functions.calculator_add",
        "functions.calculator.add",
        "functions.calculator_add:0",
        "function:calculator_add",
        "default_api:calculator_add",
        "default_api.calculator_add",
        "api.calculator_add",
        "multi_tool_use.calculator_add",
        "tool_call:calculator_add",
        "tools.calculator_add",
        "tools.functions.calculator_add",
        "mcp__calculator__add",
        "calculator_add()",
        " calculator_add\n",
        '"calculator_add"',
        "`calculator.add()`",
        "calculator_add<|channel|>commentary",
        "ｃalculator_add",
    ],
)
def test_a_name_may_be_spelled_in_many_ways(said: str) -> None:
    found = Names([Tool("calculator_add"), Tool("weather")]).resolve(said)
    assert found is not None
    assert found.name == "calculator_add"
    assert found.repairs == (Repair("name", said, "calculator_add", "name-spelling"),)


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("", ["add"]),
        ("()", ["add"]),
        ("...", ["add", "_"]),
        ("functions.", ["add"]),
        ("ad", ["add"]),
        ("add2", ["add"]),
        ("addition", ["add"]),
        ("read", ["mark_as_read"]),
        ("v1.2", ["v12"]),
        ("Add", ["add", "ADD"]),
        ("a-b", ["a_b", "a.b"]),
        ("functions.add", ["Add", "functions_add"]),
        ("math.add", ["calculator.add"]),
        ("math.add", ["add"]),
        ("math_add", ["add"]),
        ("shell.add", ["add", "weather"]),
        ("mcp__server__add", ["add"]),
        ("other.calculator.add", ["calculator.add"]),
        ("add", ["calculator_add"]),
        ("calculator.add", ["calculator"]),
        ("add" * 1000, ["add"]),
        ("functions." * 100 + "add", ["add"]),
        ("." * 400 + "x", ["add"]),
    ],
)
def test_what_may_mean_none_or_several_is_unknown(said: str, offered: list[str]) -> None:
    assert meant(said, *offered, arguments={"a": 1, "b": 2}) is None


def test_an_exact_name_wins_over_others_that_are_spelled_alike() -> None:
    assert meant("add", "add", "ADD") == "add"
    assert meant('"add"', "add", "ADD") == "add"
    assert meant("functions.ADD", "add", "ADD") == "ADD"


@pytest.mark.parametrize(
    ("said", "offered"),
    [
        ("add", "calculator.add"),
        ("ADD", "calculator/add"),
        ("calculator.add", "server.calculator.add"),
        ("default_api:add", "calc/add"),
        ("functions.add:0", "calc__add"),
    ],
)
def test_a_namespace_that_is_missing_takes_arguments_that_are_the_tools(said: str, offered: str) -> None:
    assert meant(said, offered, "weather", arguments={"a": 1, "b": 2}) == offered
    assert meant(said, offered, "weather", arguments='{"a": 1, "b": 2}') == offered
    for arguments in ({}, {"a": 1}, {"a": 1, "b": 2, "path": "/"}, "{", "[]", ""):
        assert meant(said, offered, "weather", arguments=arguments) is None


def test_several_tools_in_different_namespaces_are_never_chosen_between() -> None:
    assert meant("add", "calculator.add", "vector.add", arguments={"a": 1, "b": 2}) is None


@pytest.mark.parametrize("said", ["calculator.add", "functions.calculator.add", "Calculator:add", "calculator/ADD"])
def test_a_value_behind_the_name_goes_to_the_one_parameter_that_takes_it(said: str) -> None:
    found = Names([Tool("calculator", "", CALCULATOR), Tool("weather")]).resolve(said, {"a": 1, "b": 2})
    assert found is not None
    assert found.name == "calculator"
    assert found.arguments == {"a": 1, "b": 2, "operation": "add"}
    assert found.repairs == (
        Repair("name", said, "calculator", "name-value"),
        Repair("/operation", None, "add", "name-value"),
    )


def test_the_value_may_be_listed_behind_a_reference_and_its_parameter_may_be_called_anything() -> None:
    schema = {
        "type": "object",
        "properties": {"a/b~": {"anyOf": [{"$ref": "#/$defs/Operation"}, {"type": "null"}]}},
        "$defs": {"Operation": {"enum": ["add"]}, "Loop": {"$ref": "#/$defs/Loop"}},
    }
    found = Names([Tool("calculator", "", schema)]).resolve("calculator.add", '{"a/b~": null}')
    assert found is not None
    assert found.arguments == {"a/b~": "add"}
    assert found.repairs[1].path == "/a~1b~0"


@pytest.mark.parametrize(
    ("said", "arguments"),
    [
        ("calculator.mul", {}),
        ("calculator.add", {"operation": "sub-tract"}),
        ("calculator.add", "not JSON"),
        ("other.add", {}),
        ("calculator_add", {}),
    ],
)
def test_a_value_that_can_not_be_put_is_unknown(said: str, arguments: dict[str, Any] | str) -> None:
    assert Names([Tool("calculator", "", CALCULATOR)]).resolve(said, arguments) is None


def test_a_value_that_two_parameters_take_is_unknown() -> None:
    schema = {"type": "object", "properties": {"x": {"enum": ["add"]}, "y": {"enum": ["add"]}}}
    names = Names([Tool("calculator", "", schema)])
    assert names.resolve("calculator.add") is None
    found = names.resolve("calculator.add", {"x": "add"})
    assert found is not None
    assert found.arguments == {"x": "add", "y": "add"}


def test_a_tool_and_a_value_against_a_tool_without_its_namespace_is_unknown() -> None:
    names = Names([Tool("calculator", "", CALCULATOR), Tool("math.calculator.add", "", NUMBERS)])
    assert names.resolve("calculator.add", {"a": 1, "b": 2}) is None


def test_a_tool_and_what_may_be_a_value_or_a_tool_is_unknown() -> None:
    names = Names([Tool("calculator", "", CALCULATOR), Tool("add", "", NUMBERS)])
    assert names.resolve("calculator.add", {"a": 1, "b": 2}) is None


def test_two_tools_of_one_name_are_refused() -> None:
    add = Tool("add")
    for offered in ([add, add], [add, Tool("add", "another")]):
        with pytest.raises(UsageError, match="'add'"):
            Names(offered)


@pytest.mark.parametrize("pattern", [r"^[A-Z]{1,4}$", r"^[0-9]+$"])
def test_a_pattern_that_leaves_no_room_is_an_error(pattern: str) -> None:
    with pytest.raises(UsageError, match="'a/b'"):
        Names([Tool("a/b")], pattern)


def test_ids_of_calls_are_what_every_template_takes() -> None:
    ids = {new_call_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(re.fullmatch("[a-zA-Z0-9]{9}", one) for one in ids)


tricky = st.lists(
    st.sampled_from(["a", "A", "b", "_", "__", "-", ".", "/", ":", "1", "2", "é", "天", " ", '"', "()", "functions"]),
    max_size=6,
).map("".join)
any_name = tricky | st.text(max_size=100) | st.text("ab_./", min_size=60, max_size=90)
patterns = st.sampled_from([PATTERN, r"^[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}$", r"^[a-z0-9-]{1,12}$", r"(?s).*"])


@given(st.lists(any_name, max_size=12, unique=True), patterns, st.randoms(use_true_random=False))
def test_sent_names_are_accepted_one_to_one_and_resolve_to_their_tool(
    offered: list[str], pattern: str, random: Any
) -> None:
    names = Names(map(Tool, offered), pattern)
    sent = [names.sent(name) for name in offered]
    assert [tool.name for tool in names.tools] == sent
    assert len(set(sent)) == len(offered)
    assert all(re.fullmatch(pattern, name) for name in sent)
    for name, one in zip(offered, sent, strict=True):
        for said in (name, one):
            found = names.resolve(said)
            assert found is not None
            assert (found.name, found.repairs) == (name, ())
    shuffled = random.sample(offered, len(offered))
    assert [Names(map(Tool, shuffled), pattern).sent(name) for name in offered] == sent


@given(st.lists(any_name, max_size=8, unique=True), any_name, st.dictionaries(st.sampled_from("ab"), st.integers()))
def test_whatever_is_said_is_one_offered_tool_or_unknown_and_order_plays_no_part(
    offered: list[str], said: str, arguments: dict[str, Any]
) -> None:
    tools = [Tool(name, "", CALCULATOR) for name in offered]
    found = Names(tools).resolve(said, arguments)
    assert found == Names(reversed(tools)).resolve(said, arguments)
    if found is not None:
        assert found.name in offered
        assert not found.repairs or found.repairs[0] == Repair("name", said, found.name, found.repairs[0].rule)


@given(st.lists(any_name, max_size=8, unique=True), any_name)
def test_a_name_that_is_not_offered_is_sent_under_one_that_nobody_has(offered: list[str], other: str) -> None:
    names = Names(map(Tool, offered))
    sent = names.sent(other)
    assert re.fullmatch(PATTERN, sent)
    if other not in offered:
        assert sent not in {names.sent(name) for name in offered}
