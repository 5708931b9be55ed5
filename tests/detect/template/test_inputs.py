from __future__ import annotations

from datetime import datetime

from callgate.detect.template import template_input
from callgate.vocabulary import Capabilities, ChatRequest, Image, Message, Tool, ToolCall

KNOWN = Capabilities(name="m")
QUESTION = Message(role="user", content="17 times 23?")
CALLING = Message(role="assistant", calls=(ToolCall("c1", "multiply", {"a": 17, "b": 23}),))
RESULT = Message(role="tool", content="391", call_id="c1", name="multiply")


def asking(*messages: Message, **more: object) -> ChatRequest:
    return ChatRequest(**{"model": "m", "messages": messages or (QUESTION,), **more})  # type: ignore[arg-type]


def test_a_conversation_is_in_openais_form_with_arguments_as_objects() -> None:
    given = template_input(asking(QUESTION, CALLING, RESULT), KNOWN)
    call = {"type": "function", "function": {"name": "multiply", "arguments": {"a": 17, "b": 23}}, "id": "c1"}
    assert given.messages == [
        {"role": "user", "content": "17 times 23?"},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "content": "391", "name": "multiply", "tool_call_id": "c1"},
    ]


def test_a_template_that_insists_on_parts_gets_parts() -> None:
    given = template_input(asking(QUESTION, RESULT), Capabilities(name="m", requires_typed_content=True))
    assert [message["content"] for message in given.messages] == [
        [{"type": "text", "text": "17 times 23?"}],
        [{"type": "text", "text": "391"}],
    ]


def test_a_template_that_insists_on_texts_gets_arguments_as_the_model_wrote_them() -> None:
    known = Capabilities(name="m", requires_string_arguments=True)
    raw = Message(role="assistant", calls=(ToolCall("c1", "f", {"a": 1}, '{ "a": 1 }'),))
    said = [template_input(asking(QUESTION, calling), known).messages[1] for calling in (CALLING, raw)]
    assert [message["tool_calls"][0]["function"]["arguments"] for message in said] == ['{"a":17,"b":23}', '{ "a": 1 }']


def test_arguments_that_came_as_text_are_read_where_objects_are_wanted() -> None:
    calls = (ToolCall("c1", "f", '{"a": 1}'), ToolCall("c2", "f", "no JSON"))
    given = template_input(asking(QUESTION, Message(role="assistant", calls=calls), RESULT), KNOWN)
    assert [call["function"]["arguments"] for call in given.messages[1]["tool_calls"]] == [{"a": 1}, "no JSON"]


def test_pictures_are_parts_without_their_data() -> None:
    seen = Message(role="user", content="What is this?", images=(Image(b"\x89PNG"),))
    given = template_input(asking(seen), KNOWN)
    assert given.messages[0]["content"] == [{"type": "text", "text": "What is this?"}, {"type": "image"}]


def test_thinking_stands_where_templates_look_for_it() -> None:
    thought = Message(role="assistant", content="391", thinking="17 * 23")
    given = template_input(asking(QUESTION, thought, QUESTION), KNOWN)
    assert given.messages[1]["reasoning_content"] == "17 * 23"


def test_tools_are_wrapped_and_have_a_description_in_any_case() -> None:
    given = template_input(asking(tools=(Tool("now"),)), KNOWN)
    parameters = {"type": "object", "properties": {}}
    assert given.tools == [
        {"type": "function", "function": {"name": "now", "description": "", "parameters": parameters}}
    ]
    assert given.context()["tools"] == given.tools


def test_tools_that_there_arent_are_undefined() -> None:
    assert "tools" not in template_input(asking(), KNOWN).context()


def test_the_start_of_an_answer_stands_behind_the_prompt() -> None:
    given = template_input(asking(QUESTION, Message(role="assistant", content="It is ")), KNOWN)
    assert ([message["role"] for message in given.messages], given.answer) == (["user"], "It is ")


def test_thinking_is_on_where_there_is_a_switch_and_nobody_says_otherwise() -> None:
    able = Capabilities(name="m", supports_enable_thinking=True)
    wishes: list[dict[str, object]] = [{}, {"think": False}, {"think": "max"}]
    given = [template_input(asking(**wish), able).context() for wish in wishes]
    assert [context["enable_thinking"] for context in given] == [True, False, True]
    assert [context.get("reasoning_effort") for context in given] == [None, None, "high"]
    assert template_input(asking(), KNOWN).context()["enable_thinking"] is False


def test_variables_of_the_caller_reach_the_template() -> None:
    given = template_input(asking(extra={"chat_template_kwargs": {"documents": [], "enable_thinking": True}}), KNOWN)
    assert (given.context()["documents"], given.context()["enable_thinking"]) == ([], True)


def test_the_date_is_todays() -> None:
    given = template_input(asking(), KNOWN)
    assert given.context()["strftime_now"]("%Y-%m-%d") == given.now.strftime("%Y-%m-%d")
    assert abs((datetime.now() - given.now).total_seconds()) < 3600  # noqa: DTZ005
