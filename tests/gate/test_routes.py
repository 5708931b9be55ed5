from __future__ import annotations

import pytest

from callgate.gate import Policy, Routes, plan, plan_by
from callgate.gate.routes import REMEMBERED
from callgate.vocabulary import Answer, Capabilities, ChatRequest, Means, Message, Tool, UsageError

CAN = Capabilities(name="m", tools=Answer.YES, native_route=Answer.YES)
ALL = Means(schema=True, tool_choice=True, parallel_tool_calls=True)
TOOLS = (Tool("get_weather"), Tool("maps/find.place"))


def routes(known: Capabilities = CAN, policy: Policy | None = None) -> Routes:
    return Routes("m", known, ALL, policy or Policy())


def test_the_same_tools_take_the_same_route() -> None:
    ours = routes()
    assert ours.of(TOOLS, None, None, None) is ours.of(TOOLS, None, None, None)


@pytest.mark.parametrize("asked", [("required", None, None), (None, False, None), (None, None, "no tools here")])
def test_whatever_else_is_asked_for_takes_its_own(asked: tuple[str | None, bool | None, str | None]) -> None:
    ours = routes()
    usual = ours.of(TOOLS, None, None, None)
    other = ours.of(TOOLS, *asked)
    assert other != usual
    assert other.reason == routes().of(TOOLS, *asked).reason
    assert ours.of(TOOLS, None, None, None) is usual


def test_however_many_sets_of_tools_come_each_gets_its_own() -> None:
    ours = routes()
    for number in range(3 * REMEMBERED):
        offer = ours.of((Tool(f"tool_{number}"),), None, None, None).offer
        assert offer is not None
        assert [tool.name for tool in offer.names.tools] == [f"tool_{number}"]


def test_two_tools_of_one_name_are_refused_each_time() -> None:
    ours, twice = routes(), (Tool("same"), Tool("same"))
    for _ in range(2):
        with pytest.raises(UsageError, match="two tools called 'same'"):
            ours.of(twice, None, None, None)


@pytest.mark.parametrize("strategy", ["native", "emulate", "off"])
@pytest.mark.parametrize("tools", [TOOLS, ()])
def test_the_plan_is_for_the_model_that_the_routes_lead_to(strategy: str, tools: tuple[Tool, ...]) -> None:
    policy = Policy(strategy=strategy)  # type: ignore[arg-type]
    asked = ChatRequest(model="", messages=(Message(role="user", content="hello"),), tools=tools)
    named = ChatRequest(model="m", messages=asked.messages, tools=tools)
    by_routes = plan_by(routes(policy=policy), asked)
    assert by_routes.request == plan(named, CAN, ALL, policy).request
    assert by_routes.request.model == "m"
