"""The `openai` package's `responses`: with all that was said in each request, or going on from the answer before."""

from __future__ import annotations

from typing import Any

import openai

from tests.gateway.clients.talk import MOST_TOKENS, QUESTIONS, TOOLS, Asked, Noted, asked

OWN_TOOLS: list[Any] = [{"type": "function", "strict": False, **tool["function"]} for tool in TOOLS]
# As an agent has them, too: nobody here runs it, and nothing fails.
ALL_TOOLS = [*OWN_TOOLS, {"type": "web_search"}]


def how(wanted: Asked, items: list[Any], must: str) -> dict[str, Any]:
    return {
        "model": wanted.model,
        "instructions": "Use your tools.",
        "input": items,
        "tools": ALL_TOOLS,
        "tool_choice": {"type": "function", "name": must} if must else "auto",
        "parallel_tool_calls": False,
        "temperature": 0,
        "max_output_tokens": MOST_TOKENS,
    }


def results(response: Any, noted: Noted) -> list[Any]:
    """Of the calls in it."""
    assert response.status in ("completed", "incomplete")
    assert response.usage.output_tokens > 0
    return [
        {
            "type": "function_call_output",
            "call_id": item.call_id,
            "output": noted.called(item.name, item.arguments),
        }
        for item in response.output
        if item.type == "function_call"
    ]


def talk(client: openai.OpenAI, wanted: Asked, noted: Noted, *, stream: bool) -> None:
    """In pieces, each request has but what is new in it."""
    before: list[Any] = []
    previous = ""

    def said(items: list[Any], must: str = "") -> Any:
        nonlocal previous
        before.extend(items)
        if not stream:
            response = client.responses.create(**how(wanted, before, must), store=False)
            before.extend(item.model_dump(exclude_none=True) for item in response.output)
            return response
        more = {"previous_response_id": previous} if previous else {}
        with client.responses.stream(**how(wanted, items, must), **more) as events:
            numbers = [event.sequence_number for event in events]
            response = events.get_final_response()
        assert numbers == list(range(len(numbers)))
        previous = response.id
        return response

    for tool, question in QUESTIONS.items():
        response = said([{"role": "user", "content": question}], tool if wanted.must else "")
        noted.answered(said(results(response, noted)).output_text)
    if previous:
        assert client.responses.retrieve(previous).id == previous
        client.responses.delete(previous)
    assert client.responses.input_tokens.count(model=wanted.model, input="hello").input_tokens > 0
    noted.tell()


if __name__ == "__main__":
    told = asked()
    with openai.OpenAI(base_url=f"{told.url}/v1", api_key="none") as opened:
        for way in told.ways:
            talk(opened, told, Noted(), stream=way)
