from __future__ import annotations

import pytest

from callgate.gate import Decision, Mode, Policy, decide, mode_of
from callgate.vocabulary import Answer, Capabilities, Evidence, Means, Source

YES, NO, UNKNOWN = Answer.YES, Answer.NO, Answer.UNKNOWN


@pytest.mark.parametrize(
    ("tools", "route", "mode"),
    [
        (YES, YES, "native"),
        (YES, UNKNOWN, "native"),
        (YES, NO, "emulated"),
        (NO, YES, "emulated"),
        (UNKNOWN, YES, "emulated"),
        (NO, NO, "emulated"),
    ],
)
def test_the_mode_follows_from_both_answers(tools: Answer, route: Answer, mode: Mode) -> None:
    assert mode_of(tools, route) == mode


def test_who_cannot_call_tools_is_left_alone_where_that_is_wanted() -> None:
    assert [mode_of(tools, YES, when_unsupported="off") for tools in (YES, NO, UNKNOWN)] == ["native", "off", "off"]
    assert mode_of(YES, NO, when_unsupported="off") == "emulated"


@pytest.mark.parametrize("tools", [YES, NO, UNKNOWN])
def test_models_for_embedding_get_no_tools(tools: Answer) -> None:
    assert mode_of(tools, YES, embedding=True) == "off"


NATIVE = Capabilities(name="m", tools=YES, native_route=YES)
PLAIN = Capabilities(
    name="m", tools=NO, evidence=(Evidence("tools", NO, Source.TEMPLATE, "its chat template has no tools", 0.0),)
)


@pytest.mark.parametrize(
    ("policy", "mode"),
    [
        (Policy(), "native"),
        (Policy(strategy="native"), "native"),
        (Policy(strategy="emulate"), "emulated"),
        (Policy(strategy="off"), "off"),
    ],
)
def test_the_users_word_decides(policy: Policy, mode: Mode) -> None:
    assert decide(NATIVE, Means(), policy).mode == mode


def test_tools_reach_a_model_natively_against_all_evidence_if_that_is_wanted() -> None:
    assert decide(PLAIN, Means(), Policy(strategy="native")).mode == "native"
    refused = decide(PLAIN, Means(), Policy(strategy="native", when_unsupported="off"), refusal="no tools here")
    assert refused == Decision("off", "no tools here")


def test_no_strategy_gives_tools_to_a_model_for_embedding() -> None:
    embedding = Capabilities(name="m", tools=YES, native_route=YES, is_embedding=True)
    assert {decide(embedding, Means(), Policy(strategy=strategy)).mode for strategy in ("native", "emulate")} == {"off"}


def test_the_reason_is_the_evidence_that_decides() -> None:
    assert decide(PLAIN, Means(), Policy(when_unsupported="off")) == Decision("off", "its chat template has no tools")
    assert decide(PLAIN, Means(), Policy()) == Decision("emulated", "its chat template has no tools")


def test_where_the_route_is_what_is_missing_the_reason_says_so() -> None:
    known = Capabilities(
        name="m",
        tools=YES,
        native_route=NO,
        evidence=(
            Evidence("tools", YES, Source.TEMPLATE, "its chat template has tools", 0.0),
            Evidence("native_route", NO, Source.ENGINE, "its server was started without --jinja", 0.0),
        ),
    )
    assert decide(known, Means(), Policy()) == Decision("emulated", "its server was started without --jinja")


def test_a_refusal_is_the_reason_for_the_next_mode() -> None:
    assert decide(NATIVE, Means(), Policy(), refusal="m takes no tools") == Decision("emulated", "m takes no tools")


@pytest.mark.parametrize("choice", ["required", "get_weather"])
def test_a_server_that_ignores_tool_choice_is_held_to_it_by_emulation(choice: str) -> None:
    assert decide(NATIVE, Means(schema=True), Policy(), choice=choice).mode == "emulated"
    assert decide(NATIVE, Means(schema=True, tool_choice=True), Policy(), choice=choice).mode == "native"
    assert decide(NATIVE, Means(schema=True), Policy(), choice="auto").mode == "native"
