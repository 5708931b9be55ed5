from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate import Expected, ExpectedCall, Heard
from callgate.validate.judging import expected_as_json, judge
from callgate.vocabulary import Repair, Tool, ToolCall

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLS = (Tool("weather", "", CITY), Tool("time", "", CITY))


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall("c", name, arguments)


def expected(name: str | tuple[str, ...], **arguments: Any) -> ExpectedCall:
    return ExpectedCall(name=name, arguments=arguments)


def kind(expect: Expected, heard: Heard, **how: bool) -> str | None:
    fault = judge(expect, heard, TOOLS, **how)
    return fault.kind if fault else None


ROME_AND_OSLO = Expected(calls=(expected("weather", city="Rome"), expected("weather", city="Oslo")))


def test_calls_may_come_in_any_order_unless_the_case_says_otherwise() -> None:
    turned = Heard(calls=(call("weather", city="Oslo"), call("weather", city="Rome")))
    assert kind(ROME_AND_OSLO, turned) is None
    in_order = Expected(calls=ROME_AND_OSLO.calls, ordered=True)
    assert kind(in_order, turned) == "wrong-order"
    assert kind(in_order, Heard(calls=turned.calls[::-1])) is None


def test_each_call_counts_for_one_expected_call_only() -> None:
    rome = call("weather", city="Rome")
    assert kind(ROME_AND_OSLO, Heard(calls=(rome, rome))) == "wrong-arguments"
    assert kind(ROME_AND_OSLO, Heard(calls=(rome,))) == "missing-call"


def test_one_of_several_tools_may_be_right() -> None:
    either = Expected(calls=(expected(("weather", "time"), city="Rome"),))
    for name in ("weather", "time"):
        assert kind(either, Heard(calls=(call(name, city="Rome"),))) is None
    assert kind(either, Heard(calls=(call("bell", city="Rome"),))) == "wrong-name"


def test_another_tool_that_is_there_is_the_wrong_one() -> None:
    assert kind(Expected(calls=(expected("time", city="Rome"),)), Heard(calls=(call("weather", city="Rome"),))) == (
        "wrong-tool"
    )


def test_a_call_with_a_problem_is_invalid() -> None:
    broken = ToolCall("c", "weather", {"city": "Rome"}, problem="it was cut off")
    assert kind(Expected(calls=(expected("weather", city="Rome"),)), Heard(calls=(broken,))) == "invalid-arguments"


def test_strictly_a_mended_call_was_wrong() -> None:
    for path, fault in (("name", "wrong-name"), ("/city", "invalid-arguments")):
        mended = ToolCall("c", "weather", {"city": "Rome"}, repairs=(Repair(path, "a", "b", "rule"),))
        expect = Expected(calls=(expected("weather", city="Rome"),))
        assert kind(expect, Heard(calls=(mended,))) is None
        assert kind(expect, Heard(calls=(mended,)), strict=True) == fault


def test_a_call_in_the_text_is_told_from_mere_words() -> None:
    expect = Expected(calls=(expected("weather", city="Rome"),))
    text = '<tool_call>{"name": "weather", "arguments": {"city": "Rome"}}</tool_call>'
    assert kind(expect, Heard(text=text)) == "text-call"
    assert kind(expect, Heard(text="The weather in Rome is fine.")) == "no-call"
    assert kind(expect, Heard()) == "empty"
    assert kind(Expected(calls=()), Heard(text=text)) == "text-call"


@pytest.mark.parametrize(
    "text",
    [
        "58213",
        "There are 58,213.",
        "58 213 of them",
        "It's 58’213!",
        "58213.",
        "Es sind 58.213 Stück",
        "在庫は58213個です",
        "**58213**",
        "５８２１３",
    ],
)
def test_a_number_is_found_however_it_is_written(text: str) -> None:
    assert kind(Expected(mentions=("58213",)), Heard(text=text)) is None


@pytest.mark.parametrize("text", ["158213", "582134", "5821", "fifty-eight thousand", "58213a"])
def test_a_number_is_not_found_in_another(text: str) -> None:
    assert kind(Expected(mentions=("58213",)), Heard(text=text)) == "wrong-text"
    assert kind(Expected(mentions=("58213",)), Heard(text=text), after_result=True) == "result-unused"


def test_one_of_several_words_is_enough_and_none_may_be_there_that_must_not() -> None:
    expect = Expected(mentions=(("sorry", "failed"),), avoids=("success",))
    assert kind(expect, Heard(text="That FAILED.")) is None
    assert kind(expect, Heard(text="That failed: no success.")) == "wrong-text"
    assert kind(expect, Heard(text="Done.")) == "wrong-text"


def test_marks_of_a_template_do_not_belong_into_an_answer() -> None:
    assert kind(Expected(calls=()), Heard(text="Hello!<|im_end|>")) == "wrong-text"
    assert kind(Expected(calls=()), Heard(text="a <b> | <c>")) is None


@pytest.mark.parametrize("text", ['{"a": 1.0}', ' {"a":1}\n', '```json\n{"a": 1}\n```', 'Here:\n```\n{"a": 1}\n```'])
def test_json_is_read_by_what_it_means(text: str) -> None:
    assert kind(Expected(json={"a": 1}), Heard(text=text)) is None


@pytest.mark.parametrize(
    ("text", "fault"),
    [("{", "invalid-json"), ("a: 1", "invalid-json"), ('{"a": 2}', "wrong-json"), ("[" * 9999, "invalid-json")],
)
def test_other_json_is_wrong(text: str, fault: str) -> None:
    assert kind(Expected(json={"a": 1}), Heard(text=text)) == fault


def test_an_answer_that_was_cut_off_is_told_so() -> None:
    expect = Expected(calls=(expected("weather", city="Rome"),))
    assert kind(expect, Heard(was_cut=True)) == "cut-off"  # it was still thinking
    assert kind(expect, Heard(text="Well, let me tell", was_cut=True)) == "cut-off"  # it might have called
    assert kind(Expected(mentions=("fox",)), Heard(text="Once upon a time", was_cut=True)) == "cut-off"
    assert kind(expect, Heard(calls=(call("weather", city="Rome"),), was_cut=True)) is None
    assert kind(Expected(calls=()), Heard(text="Once upon a time", was_cut=True)) is None


def test_what_was_expected_is_shown_without_what_was_not() -> None:
    assert expected_as_json(Expected(calls=())) == {"calls": []}
    assert expected_as_json(Expected(calls=(expected("time", city="Rome"),))) == {
        "calls": [{"name": "time", "arguments": {"city": "Rome"}}]
    }
    assert expected_as_json(Expected(mentions=("a",), pieces=2)) == {"mentions": ["a"], "pieces": 2}


def test_long_answers_are_kept_short() -> None:
    heard = Heard(text="a" * 10_000, calls=(call("time"),) * 100).as_json()
    assert len(heard["text"]) < 2_100
    assert len(heard["calls"]) == 50


@given(
    text=st.text(max_size=200),
    names=st.lists(st.sampled_from(["weather", "time", "bell", ""]), max_size=4),
    arguments=st.dictionaries(st.sampled_from(["city", "x"]), st.text(max_size=3) | st.none(), max_size=2),
)
def test_anything_can_be_judged(text: str, names: list[str], arguments: dict[str, Any]) -> None:
    heard = Heard(text=text, calls=tuple(ToolCall("", name, arguments) for name in names))
    for expect in (ROME_AND_OSLO, Expected(calls=()), Expected(any_valid_call=True), Expected(json=1)):
        fault = judge(expect, heard, TOOLS)
        assert fault is None or (fault.kind and fault.reason)


def test_where_more_calls_may_come_only_their_fit_counts() -> None:
    expect = Expected(calls=(expected(("weather", "time"), city="Rome"),), more_calls=True)
    both = (call("weather", city="Rome"), call("time", city="Rome"))
    assert kind(expect, Heard(calls=both)) is None
    assert kind(expect, Heard(calls=(*both, call("time")))) == "invalid-arguments"
    assert kind(expect, Heard(calls=(call("time", city="Oslo"),))) == "wrong-arguments"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("I couldn't reach the garage (incident AB1234).", None),
        ("I couldn’t look that up.", None),
        ("I couldn't say, but there are 42.", "wrong-text"),
        ("Unable to tell: 12,345 perhaps.", "wrong-text"),
    ],
)
def test_a_number_that_nobody_gave_is_made_up(text: str, fault: str | None) -> None:
    expect = Expected(calls=(), mentions=(("couldn't", "unable to"),), no_numbers=True)
    assert kind(expect, Heard(text=text)) == fault


def test_a_mark_of_html_is_no_mark_of_a_template() -> None:
    assert kind(Expected(calls=()), Heard(text="Use <s>text</s> to strike it out.")) is None
    for leak in ("<s> Hello", "Hello</s>", "Hello<|im_end|>"):
        assert kind(Expected(calls=()), Heard(text=leak)) == "wrong-text"
