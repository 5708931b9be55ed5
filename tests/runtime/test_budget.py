from __future__ import annotations

import msgspec
import pytest

from callgate.runtime import Session, budget_of, context_of
from callgate.runtime.budget import COMMON_TOKENS
from callgate.runtime.estimates import tokens_of_tool
from callgate.settings import load_settings
from callgate.vocabulary import ChatRequest, Message, ModelRef, Tool, Usage

WEATHER = Tool(
    "get_weather",
    "Get the current weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string", "description": "The city"}}, "required": ["city"]},
)


def test_a_budget_counts_each_tool_and_all_together() -> None:
    budget = budget_of([WEATHER, Tool("now")], 8192)
    assert [cost.name for cost in budget.costs] == ["get_weather", "now"]
    assert budget.tokens == COMMON_TOKENS + tokens_of_tool(WEATHER) + tokens_of_tool(Tool("now"))
    assert budget_of([]).tokens == 0
    assert 40 < tokens_of_tool(WEATHER) < 100
    assert budget.share is not None
    assert 0 < budget.share < 0.03


def test_sixty_tools_in_a_small_context_are_warned_of_and_in_a_large_one_not() -> None:
    tools = [Tool(f"tool_{number}", WEATHER.description * 5, WEATHER.parameters) for number in range(60)]
    warning = budget_of(tools, 4096).warning
    assert warning is not None
    assert "60 tools" in warning.message
    assert budget_of(tools, 131_072).warning is None
    assert budget_of(tools).warning is None


def test_the_dearest_are_named() -> None:
    tools = [Tool("cheap"), Tool("dear", "d" * 9000), Tool("middling", "m" * 900)]
    warning = budget_of(tools, 4096).warning
    assert warning is not None
    assert warning.message.index("dear") < warning.message.index("middling") < warning.message.index("cheap")


def test_results_share_what_is_left_of_a_small_context() -> None:
    assert budget_of([WEATHER], None).longest_result(1, 100_000) == 100_000
    assert budget_of([WEATHER], 1 << 20).longest_result(1, 100_000) == 100_000
    one = budget_of([WEATHER], 8192).longest_result(1, 100_000)
    assert 8_000 < one < 20_000
    assert budget_of([WEATHER], 8192).longest_result(2, 100_000) == one // 2
    assert budget_of([WEATHER], 512).longest_result(4, 100_000) == 2_000


async def test_the_context_is_what_the_model_will_really_have() -> None:
    tiny = ModelRef.parse("tiny")
    plain = ChatRequest(model="", messages=(Message(role="user", content="hello"),))
    async with Session(load_settings()) as session:
        own = (await session.find(tiny)).capabilities.context_length
        assert own is not None
        assert await context_of(session, tiny, plain) == min(own, 8192)
        session.knowledge.say(tiny, context=1000)
        assert await context_of(session, tiny, plain) == 1000
    async with Session(load_settings({"llamacpp.context": 2048})) as session:
        session.knowledge.say(tiny, context="auto")
        assert await context_of(session, tiny, plain) == 2048


@pytest.mark.engine
@pytest.mark.parametrize("number", [1, 8])
async def test_the_estimate_is_near_what_the_engine_counts(number: int, require_engine: None) -> None:
    tiny = ModelRef.parse("tiny")
    tools = tuple(Tool(f"tool_{index}", WEATHER.description, WEATHER.parameters) for index in range(number))
    plain = ChatRequest(model="", messages=(Message(role="user", content="hello"),), max_tokens=1)
    offered = msgspec.structs.replace(plain, tools=tools)
    used = []
    async with Session(load_settings()) as session:
        for request in (plain, offered):
            events = [event async for event in session.turn(tiny, request)]
            used += [event.prompt_tokens or 0 for event in events if isinstance(event, Usage)]
    assert 0.6 < budget_of(tools).tokens / (used[1] - used[0]) < 1.6  # enough to tell whether sixty tools fit
