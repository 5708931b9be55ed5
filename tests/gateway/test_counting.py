from __future__ import annotations

from pathlib import Path

from callgate.gateway.counting import count_tokens, estimated
from callgate.runtime import Session
from callgate.vocabulary import ChatRequest, Image, Message, ModelRef, Tool, ToolCall
from tests.gateway.running import no_servers, recording

ASKED = Message(role="user", content="What is 17 times 23?")
CALLED = Message(role="assistant", calls=(ToolCall("1", "multiply", {"a": 17, "b": 23}),))


def of(*messages: Message, tools: tuple[Tool, ...] = ()) -> int:
    return estimated(ChatRequest(model="", messages=messages, tools=tools))


def test_all_that_is_sent_counts() -> None:
    sizes = [
        of(),
        of(ASKED),
        of(ASKED, CALLED),
        of(ASKED, CALLED, tools=(Tool("multiply", "Multiplies two numbers."),)),
        of(ASKED, CALLED, Message(role="user", images=(Image(b"x"),))),
    ]
    assert sizes == sorted(set(sizes))


def test_other_scripts_have_more_tokens_to_a_letter() -> None:
    assert of(Message(role="user", content="天" * 100)) > 2 * of(Message(role="user", content="a" * 100))


async def test_who_cannot_count_estimates(tmp_path: Path) -> None:
    async with Session(no_servers(), surface="gateway") as session:
        request = ChatRequest(model="", messages=(ASKED,))
        counted = await count_tokens(session, ModelRef.parse(recording(tmp_path / "said")), request)
        assert counted == (estimated(request), True)
