from __future__ import annotations

from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate import CUT_OFF, Mender, Observation, Policy, plan
from callgate.vocabulary import (
    Answer,
    AssistantDelta,
    Capabilities,
    ChatRequest,
    Done,
    Event,
    Means,
    Message,
    Notice,
    Repair,
    ThinkingDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
    Usage,
)
from callgate.vocabulary.events import DoneReason

WEATHER = Tool(
    "get_weather",
    "",
    {
        "type": "object",
        "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
        "required": ["city"],
        "additionalProperties": False,
    },
)
ASKED = ChatRequest(model="m", messages=(Message(role="user", content="hello"),), tools=(WEATHER,))
KNOWN = Capabilities(name="m", tools=Answer.YES, native_route=Answer.YES)
STOP = Done("stop")


def mender(request: ChatRequest = ASKED, **wishes: object) -> Mender:
    request = ChatRequest(**{**{name: getattr(request, name) for name in request.__struct_fields__}, **wishes})
    return plan(request, KNOWN, Means(tool_choice=True), Policy()).mender()


def mended(events: Iterable[Event], by: Mender | None = None) -> list[Event]:
    by = by or mender()
    return [after for before in events for after in by.feed(before)]


def native(name: str, arguments: dict[str, object] | str, id_: str = "1") -> ToolCallEvent:
    return ToolCallEvent(ToolCall(id_, name, arguments))


def only_call(events: Iterable[Event]) -> ToolCall:
    (call,) = [event.call for event in events if isinstance(event, ToolCallEvent)]
    return call


def test_what_needs_no_mending_passes_untouched() -> None:
    thought, used = ThinkingDelta("hm"), Usage(3, 4)
    words = AssistantDelta("It is sunny.")
    assert mended([thought, words, used, STOP]) == [thought, words, used, STOP]
    by = mender()
    assert by.feed(words)[0] is words


def test_a_native_call_is_given_the_types_that_its_schema_wants() -> None:
    by = mender()
    call = only_call(mended([native("get_weather", {"city": "Rome", "days": "3"}), Done("tool_calls")], by))
    assert call.arguments == {"city": "Rome", "days": 3}
    assert [(repair.path, repair.before, repair.after) for repair in call.repairs] == [("/days", "3", 3)]
    assert call.raw == '{"city":"Rome","days":"3"}'
    assert call.problem is None
    assert by.observations == (Observation("native_call"),)


def test_a_wrong_name_becomes_the_one_that_it_can_only_mean() -> None:
    call = only_call(mended([native("functions.GetWeather", {"city": "Rome"})]))
    assert call.name == "get_weather"
    assert [(repair.path, repair.before) for repair in call.repairs] == [("name", "functions.GetWeather")]


def test_a_call_of_an_unknown_tool_says_what_there_is() -> None:
    call = only_call(mended([native("delete_everything", {"city": "Rome"}), STOP]))
    assert call.name == "delete_everything"
    assert call.problem
    assert "get_weather" in call.problem


def test_what_is_missing_is_told_and_not_invented() -> None:
    call = only_call(mended([native("get_weather", {"days": 3}), STOP]))
    assert call.arguments == {"days": 3}
    assert call.problem
    assert "city" in call.problem


def test_arguments_that_came_as_broken_json_are_read() -> None:
    call = only_call(mended([native("get_weather", "{'city': 'Rome',}")]))
    assert call.arguments == {"city": "Rome"}
    assert call.raw == "{'city': 'Rome',}"


def test_a_call_that_came_as_text_is_one() -> None:
    by = mender()
    text = 'Let me see. <tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    events = mended([AssistantDelta(text), STOP], by)
    call = only_call(events)
    assert (call.name, call.arguments) == ("get_weather", {"city": "Rome"})
    assert call.id
    assert "tool_call" not in "".join(event.text for event in events if isinstance(event, AssistantDelta))
    assert events[-1] == Done("tool_calls")
    assert [observation.kind for observation in by.observations] == ["text_call"]


def test_ids_are_there_and_differ() -> None:
    events = mended([native("get_weather", {"city": city}, id_) for city, id_ in (("A", ""), ("B", "x"), ("C", "x"))])
    ids = [event.call.id for event in events if isinstance(event, ToolCallEvent)]
    assert len(set(ids)) == 3
    assert all(ids)
    assert ids[1] == "x"


def test_where_one_call_is_wanted_the_others_are_left_out_with_a_word() -> None:
    by = mender(parallel_tool_calls=False)
    events = mended([native("get_weather", {"city": city}, city) for city in "AB"], by)
    assert [type(event) for event in events] == [ToolCallEvent, Notice]


def test_a_model_that_does_not_call_though_it_must_is_noticed() -> None:
    by = mender(tool_choice="required")
    events = mended([AssistantDelta("No."), STOP], by)
    assert isinstance(events[-2], Notice)
    assert events[-2].kind == "tools_ignored"
    assert events[-1] == STOP
    assert by.observations == (Observation("tools_ignored"),)


def test_a_stream_that_breaks_loses_nothing_that_was_held_back() -> None:
    by = mender()
    text = "Well, that <tool_ca"
    events = [*by.feed(AssistantDelta(text)), *by.close()]
    assert "".join(event.text for event in events if isinstance(event, AssistantDelta)) == text


def test_words_before_a_native_call_come_before_it() -> None:
    events = mended(
        [AssistantDelta("I look: <tool"), native("get_weather", {"city": "Rome"}), AssistantDelta("ok"), STOP]
    )
    assert [type(event) for event in events][-3:] == [ToolCallEvent, AssistantDelta, Done]
    assert "".join(event.text for event in events if isinstance(event, AssistantDelta)) == "I look: <toolok"


def test_without_tools_nothing_is_looked_for() -> None:
    by = mender(tools=())
    words = AssistantDelta('<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>')
    assert mended([words, STOP], by) == [words, STOP]


@pytest.mark.parametrize("choice", ["none"])
def test_where_no_call_is_wanted_none_is_looked_for(choice: str) -> None:
    words = AssistantDelta('<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>')
    assert mended([words, STOP], mender(tool_choice=choice)) == [words, STOP]


@given(st.lists(st.text("<tol_ca>{}[]\"': abfunction\n`", max_size=12), max_size=12))
def test_every_word_of_an_answer_without_calls_arrives(pieces: list[str]) -> None:
    events = mended([*(AssistantDelta(piece) for piece in pieces), STOP])
    assert "".join(event.text for event in events if isinstance(event, AssistantDelta)) == "".join(pieces)


def test_repairs_of_a_call_are_never_lost_when_it_is_mended_twice() -> None:
    once = only_call(mended([native("get_weather", {"city": "Rome", "days": "3"})]))
    again = only_call(mended([ToolCallEvent(once)]))
    assert again.repairs == once.repairs == (Repair("/days", "3", 3, once.repairs[0].rule),)


@pytest.mark.parametrize(("reason", "runs"), [("length", False), ("tool_calls", True)])
def test_a_call_whose_end_was_cut_off_is_not_run(reason: DoneReason, runs: bool) -> None:
    events = mended([native("get_weather", '{"city": "Rome", "days": 3 '), Usage(1, 2), Done(reason)])
    assert [type(event) for event in events] == [Usage, ToolCallEvent, Done]
    assert (only_call(events).problem is None) is runs


@pytest.mark.parametrize("sent", ['{"city": "Rome", "days":', '{"city"', "{", "", '{"days": 3}', {}])
@pytest.mark.parametrize("reason", ["length", "tool_calls"])
def test_half_a_call_is_told_from_one_that_only_does_not_fit(sent: str | dict[str, object], reason: DoneReason) -> None:
    call = only_call(mended([native("get_weather", sent), Usage(1, 2), Done(reason)]))
    assert call.problem
    assert (call.problem == CUT_OFF) is (reason == "length")


@pytest.mark.parametrize("sent", ["", {}])
@pytest.mark.parametrize(("reason", "problem"), [("length", CUT_OFF), ("stop", None)])
def test_a_call_that_was_cut_off_before_its_arguments_is_not_run_without_any(
    sent: str | dict[str, object], reason: DoneReason, problem: str | None
) -> None:
    now = Tool("now", "", {"type": "object", "properties": {"zone": {"type": "string"}}})
    assert only_call(mended([native("now", sent), Done(reason)], mender(tools=(now,)))).problem == problem


def test_a_whole_call_runs_though_the_answer_was_cut_off_behind_it() -> None:
    events = mended([native("get_weather", '{"city": "Rome"}'), Done("length")])
    assert only_call(events).problem is None
    assert events[-1] == Done("length")


@pytest.mark.parametrize("held", [Means(), Means(grammar=True), Means(schema=True)])
def test_half_a_call_of_an_emulated_answer_is_nobodys_words(held: Means) -> None:
    planned = plan(ASKED, Capabilities(name="m", tools=Answer.NO), held, Policy(strategy="emulate"))
    whole = (
        '{"calls":[{"name":"get_weather","parameters":{"city":"Rome"}}]}'
        if held.schema
        else '<tool_call>{"name":"get_weather","arguments":{"city":"Rome"}}</tool_call>'
    )
    kinds: list[object] = []
    begun = len('{"c' if held.schema else "<tool_call>")
    for end in range(begun, whole.index("Rome") + 4):
        events = mended([AssistantDelta(whole[:end]), Done("length")], planned.mender())
        kinds = [event.kind if isinstance(event, Notice) else type(event) for event in events]
        # Between its marks and a call there is nothing yet to be left out.
        assert kinds in (["call_cut_off", Done], [Done]), whole[:end]
    assert "call_cut_off" in kinds


def test_half_a_call_in_words_is_nobodys_words_where_the_answer_was_cut_off() -> None:
    text = 'Let me see. <tool_call>{"name": "get_wea'
    for reason, words in (("length", "Let me see. "), ("stop", text)):
        events = mended([AssistantDelta(text), Done(reason)])  # type: ignore[arg-type]
        assert "".join(event.text for event in events if isinstance(event, AssistantDelta)) == words
        assert [event.kind for event in events if isinstance(event, Notice)] == ["call_cut_off"] * (reason == "length")


def test_a_call_that_is_held_back_comes_before_the_next() -> None:
    events = mended([native("get_weather", "{'city': 'A'", "1"), native("get_weather", {"city": "B"}, "2"), STOP])
    assert [event.call.id for event in events if isinstance(event, ToolCallEvent)] == ["1", "2"]


def test_a_schema_that_cannot_be_validated_by_breaks_no_stream() -> None:
    odd = Tool("odd", "", {"type": "object", "properties": {"a": {"type": "string", "pattern": "(?P<x>"}}})
    call = only_call(mended([native("odd", "{'a': 'b'}")], mender(tools=(odd,))))
    assert (call.arguments, call.problem) == ({"a": "b"}, None)


# Calls that came as text and whose end is missing

CUT_JSON = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"'
CUT_TAGS = "<function=get_weather><parameter=city>Rome</parameter>"
CUT_BLOCK = (
    '<tool_call>[{"name": "get_weather", "arguments": {"city": "A"}}, {"name": "get_weather", "arguments": {"city": "B"'
)


@pytest.mark.parametrize("text", [CUT_JSON, CUT_TAGS])
@pytest.mark.parametrize(("reason", "runs"), [("length", False), ("stop", True)])
def test_a_call_in_words_whose_end_was_cut_off_is_not_run(text: str, reason: DoneReason, runs: bool) -> None:
    events = mended([AssistantDelta(text), Usage(1, 2), Done(reason)])
    assert [type(event) for event in events] == [Usage, ToolCallEvent, Done]
    call = only_call(events)
    assert call.arguments == {"city": "Rome"}
    assert (call.problem is None) is runs
    assert len(call.repairs) == 1


def test_a_call_in_words_that_a_broken_stream_cut_off_is_not_run() -> None:
    by = mender()
    assert only_call([*by.feed(AssistantDelta(CUT_JSON)), *by.close()]).problem
    assert by.close() == ()


def test_of_a_block_that_was_cut_off_only_the_last_call_is_not_run() -> None:
    events = mended([AssistantDelta(CUT_BLOCK), Done("length")])
    calls = [event.call for event in events if isinstance(event, ToolCallEvent)]
    assert [(call.arguments, call.problem is None) for call in calls] == [({"city": "A"}, True), ({"city": "B"}, False)]


def test_what_follows_a_call_shows_that_it_was_not_cut_off() -> None:
    words = AssistantDelta("Let me think about")
    closed = AssistantDelta('<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}</tool_call>')
    for first in (closed, native("get_weather", '{"city": "Rome"')):
        events = mended([first, words, Done("length")])
        assert [type(event) for event in events] == [ToolCallEvent, AssistantDelta, Done]
        assert only_call(events).problem is None
    events = mended([AssistantDelta(CUT_JSON), native("get_weather", {"city": "Oslo"}), Done("length")])
    assert [event.call.problem for event in events if isinstance(event, ToolCallEvent)] == [None, None]


def test_what_was_mended_to_read_a_call_is_told_once() -> None:
    text = "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Rome', 'days': '3'}}</tool_call>"
    call = only_call(mended([AssistantDelta(text), STOP]))
    assert [(repair.path, repair.rule) for repair in call.repairs] == [
        ("", "malformed-json: single-quotes"),
        ("/days", "number"),
    ]
    text = '<function=get_weather><parameter=arguments>{"city": "Rome"}</parameter></function>'
    call = only_call(mended([AssistantDelta(text), STOP]))
    assert [(repair.path, repair.rule) for repair in call.repairs] == [("", "wrapped")]
