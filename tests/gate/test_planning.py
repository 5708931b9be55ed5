from __future__ import annotations

from typing import Any

import pytest

from callgate.gate import Plan, Policy, needs_knowledge, plan
from callgate.vocabulary import (
    Answer,
    Capabilities,
    ChatRequest,
    Done,
    Image,
    Means,
    Message,
    Tool,
    ToolCall,
    ToolCallEvent,
    UsageError,
)

QUESTION = Message(role="user", content="What is the weather?")
TOOLS = (Tool("get_weather", "Get the weather."), Tool("maps/find.place", "Find a place."))
CAN = Capabilities(name="m", tools=Answer.YES, native_route=Answer.YES)
CANNOT = Capabilities(name="m", tools=Answer.NO)
ALL = Means(schema=True, tool_choice=True, parallel_tool_calls=True)
OLLAMA = Means(schema=True)
PAST = (
    QUESTION,
    Message(role="assistant", calls=(ToolCall("1", "maps/find.place", {"where": "Rome"}),)),
    Message(role="tool", call_id="1", name="maps/find.place", content="found"),
)


def planned(known: Capabilities = CAN, means: Means = ALL, policy: Policy | None = None, **request: Any) -> Plan:
    asked = {"messages": (QUESTION,), "tools": TOOLS, **request}
    return plan(ChatRequest(model="m", **asked), known, means, policy or Policy())


def test_native_tools_have_names_that_the_backend_takes() -> None:
    ours = planned()
    assert ours.mode == "native"
    assert [tool.name for tool in ours.request.tools] == ["get_weather", "maps_find_place"]
    assert ours.request.messages == (QUESTION,)


def test_past_calls_have_the_names_under_which_tools_are_sent() -> None:
    ours = planned(messages=PAST)
    assert ours.request.messages[1].calls[0].name == "maps_find_place"
    assert ours.request.messages[2].name == "maps_find_place"


def test_a_call_under_the_sent_name_comes_back_under_its_own() -> None:
    mender = planned().mender()
    event, _ = *mender.feed(ToolCallEvent(ToolCall("1", "maps_find_place", {}))), *mender.feed(Done("stop"))
    assert isinstance(event, ToolCallEvent)
    assert (event.call.name, event.call.problem) == ("maps/find.place", None)


@pytest.mark.parametrize("choice", ["get_weather", "maps/find.place"])
def test_a_tool_that_must_be_called_is_offered_alone(choice: str) -> None:
    ours = planned(tool_choice=choice)
    assert (len(ours.request.tools), ours.request.tool_choice) == (1, "required")
    held = planned(means=OLLAMA, tool_choice=choice)
    assert (held.mode, held.request.tools) == ("emulated", ())
    assert choice in held.request.messages[0].content


def test_a_tool_that_must_be_called_has_to_be_offered() -> None:
    with pytest.raises(UsageError, match="isn't offered"):
        planned(tool_choice="get_time")


def test_a_call_cannot_be_required_where_there_is_no_tool() -> None:
    with pytest.raises(UsageError, match="none is offered"):
        planned(tools=(), tool_choice="required")


@pytest.mark.parametrize("known", [CAN, CANNOT])
@pytest.mark.parametrize("means", [ALL, OLLAMA, Means()])
def test_where_no_tool_may_be_called_none_is_sent(known: Capabilities, means: Means) -> None:
    ours = planned(known, means, tool_choice="none")
    assert (ours.mode, ours.reason) == ("off", "tool_choice is none")
    assert ours.request == ChatRequest(model="m", messages=(QUESTION,))
    assert not ours.notices


def test_without_tools_the_request_is_the_same() -> None:
    ours = planned(tools=())
    assert ours.request == ChatRequest(model="m", messages=(QUESTION,))
    assert not ours.notices


def test_withheld_tools_are_mentioned_once_in_the_system_message() -> None:
    system = Message(role="system", content="Be brief.")
    ours = planned(CANNOT, policy=Policy(when_unsupported="off"), messages=(system, QUESTION))
    assert ours.mode == "off"
    assert [message.role for message in ours.request.messages] == ["system", "user"]
    assert ours.request.messages[0].content.startswith("Be brief.")
    assert "off" in ours.request.messages[0].content
    assert [notice.kind for notice in ours.notices] == ["tools_off"]


def test_a_model_without_a_system_role_is_told_in_the_first_words_of_the_user() -> None:
    known = Capabilities(name="m", tools=Answer.NO, supports_system_role=False)
    ours = planned(known, policy=Policy(when_unsupported="off"))
    assert [message.role for message in ours.request.messages] == ["user"]
    assert "off" in ours.request.messages[0].content


def test_past_tool_turns_become_text_for_a_model_without_tools() -> None:
    ours = planned(CANNOT, tools=(), messages=PAST)
    assert all(not message.calls and message.role != "tool" for message in ours.request.messages)
    assert "found" in "".join(message.content for message in ours.request.messages)
    kept = planned(CAN, tools=(), messages=PAST)
    assert kept.request.messages == PAST


@pytest.mark.parametrize(
    ("wanted", "knows", "sent"),
    [(None, True, True), (None, False, False), (None, None, None), (False, True, False), (True, False, True)],
)
def test_parallel_calls_are_as_the_model_supports_unless_said_otherwise(
    wanted: bool | None, knows: bool | None, sent: bool | None
) -> None:
    known = Capabilities(name="m", tools=Answer.YES, native_route=Answer.YES, supports_parallel_tool_calls=knows)
    assert planned(known, parallel_tool_calls=wanted).request.parallel_tool_calls is sent
    assert planned(known, OLLAMA, parallel_tool_calls=wanted).request.parallel_tool_calls is None


def test_an_emulated_request_offers_no_tools_and_is_held_to_a_schema() -> None:
    ours = planned(CANNOT, OLLAMA)
    assert ours.mode == "emulated"
    assert (ours.request.tools, ours.request.tool_choice) == ((), None)
    assert ours.request.schema is not None
    assert [notice.kind for notice in ours.notices] == ["tools_emulated"]


@pytest.mark.parametrize(
    ("request_", "matters"),
    [
        (ChatRequest(model="m", messages=(QUESTION, Message(role="assistant", content="Sunny."))), False),
        (ChatRequest(model="m", messages=(QUESTION,), tools=TOOLS), True),
        (ChatRequest(model="m", messages=(Message(role="system", content="Be brief."), QUESTION)), True),
        (ChatRequest(model="m", messages=PAST), True),
        (ChatRequest(model="m", messages=(Message(role="user", images=(Image(b"x"),)),)), True),
        (ChatRequest(model="m", messages=(Message(role="assistant", content="a", thinking="b"),)), True),
    ],
)
def test_what_the_model_can_do_matters_only_where_it_changes_something(request_: ChatRequest, matters: bool) -> None:
    assert needs_knowledge(request_) is matters


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('[TOOL_CALLS]get_weather[ARGS]{"city": "Rome"}', 1),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>', 1),
        ('{"name": "get_weather", "arguments": {"city": "Rome"}}', 1),
        ('<｜DSML｜invoke name="get_weather"></｜DSML｜invoke>', 0),
    ],
)
def test_what_a_template_shows_and_what_anybody_writes_is_looked_for(text: str, found: int) -> None:
    from callgate.vocabulary import AssistantDelta, Done, ToolCallEvent

    request = ChatRequest(model="m", messages=(QUESTION,), tools=TOOLS)
    mender = plan(request, CAN, ALL, Policy(), template="{{ tools }} [TOOL_CALLS]").mender()
    events = [*mender.feed(AssistantDelta(text)), *mender.feed(Done("stop"))]
    assert sum(isinstance(event, ToolCallEvent) for event in events) == found


def test_recovery_can_be_switched_off() -> None:
    from callgate.vocabulary import AssistantDelta

    words = AssistantDelta('<tool_call>{"name": "get_weather", "arguments": {}}</tool_call>')
    assert planned(policy=Policy(recover=False)).mender().feed(words) == (words,)


@pytest.mark.parametrize("means", [OLLAMA, Means(grammar=True), Means()])
def test_text_calls_are_recovered_where_a_server_does_not_hold_the_answer(means: Means) -> None:
    from callgate.vocabulary import AssistantDelta, Done, ToolCallEvent

    text = '<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>'
    mender = planned(CANNOT, means).mender()
    events = [*mender.feed(AssistantDelta(text)), *mender.feed(Done("stop"))]
    (call,) = [event.call for event in events if isinstance(event, ToolCallEvent)]
    assert (call.name, call.arguments) == ("get_weather", {"city": "Rome"})
    assert events[-1] == Done("tool_calls")


def test_recovery_can_be_switched_off_for_answers_that_should_be_held() -> None:
    from callgate.vocabulary import AssistantDelta

    words = AssistantDelta('[TOOL_CALLS][{"name": "get_weather", "arguments": {}}]')
    assert planned(CANNOT, OLLAMA, Policy(recover=False)).mender().feed(words) == (words,)
