from __future__ import annotations

from callgate.runtime.estimates import tokens_of_message, tokens_of_request, tokens_of_text, tokens_of_tool
from callgate.vocabulary import ChatRequest, Message, Tool, ToolCall

ASKED = Message(role="user", content="What is 17 times 23?")
CALLED = Message(role="assistant", calls=(ToolCall("c", "now", {"zone": "x" * 3_600}),))
MULTIPLY = Tool("multiply", "Multiplies two numbers.")


def test_all_that_is_said_and_offered_counts() -> None:
    assert 1_000 < tokens_of_message(CALLED) < 1_100
    assert tokens_of_message(Message(role="assistant", thinking="word " * 10)) > tokens_of_message(ASKED)
    request = ChatRequest(model="m", messages=(ASKED, CALLED), tools=(MULTIPLY,))
    assert tokens_of_request(request) == sum(map(tokens_of_message, (ASKED, CALLED))) + tokens_of_tool(MULTIPLY)
    assert tokens_of_request(ChatRequest(model="m", messages=())) == 0


def test_other_scripts_have_more_tokens_to_a_letter() -> None:
    assert tokens_of_text("天" * 100) > 2 * tokens_of_text("a" * 100)


def test_what_is_no_json_does_no_harm() -> None:
    odd = ToolCall("c", "now", {"zone": object()})
    assert tokens_of_message(Message(role="assistant", calls=(odd,))) == tokens_of_message(Message(role="assistant"))
    assert tokens_of_tool(Tool("odd", "", {"type": "object", "default": object()})) < tokens_of_tool(MULTIPLY)
