from __future__ import annotations

import msgspec
import pytest

from callgate.gate import Observation, Plan
from callgate.settings import load_settings
from callgate.validate import Mode
from callgate.validate.moded_session import ModedSession, NotThisWay
from callgate.vocabulary import ChatRequest, Message, ModelRef, Tool

REF = ModelRef.parse("tiny")
ASKED = ChatRequest(model="m", messages=(Message(role="user", content="Hi"),), tools=(Tool("ring"),))
NATIVE = Plan(mode="native", reason="it can", request=ASKED)
EMULATED = Plan(mode="emulated", reason="it said no", request=ASKED)


@pytest.mark.parametrize(
    ("mode", "strategy", "recover"),
    [("native", "native", False), ("recovered", "native", True), ("emulated", "emulate", False), ("off", "off", False)],
)
def test_a_mode_is_a_policy(mode: Mode, strategy: str, recover: bool) -> None:
    session = ModedSession(load_settings({"tools.strategy": "auto"}))
    assert session.policy(REF).strategy == "auto"
    session.mode = mode
    assert (session.policy(REF).strategy, session.policy(REF).recover) == (strategy, recover)


def test_another_way_than_ours_is_not_taken() -> None:
    session = ModedSession()
    session.mode = "native"
    session.require_way(NATIVE, ASKED)
    with pytest.raises(NotThisWay) as no:
        session.require_way(EMULATED, ASKED)
    assert (no.value.why, no.value.is_known) == ("it said no", False)
    session._hear(REF, Observation("tools_refused"))
    with pytest.raises(NotThisWay) as no:
        session.require_way(EMULATED, ASKED)
    assert no.value.is_known


def test_a_server_of_a_kind_that_can_not_be_told_to_call_does_not_support_that() -> None:
    session = ModedSession()
    session.mode = "native"
    must = msgspec.structs.replace(ASKED, tool_choice="required")
    session.require_way(NATIVE, must)  # nobody knows what kind it is
    session.knows_server = True
    with pytest.raises(NotThisWay) as no:
        session.require_way(NATIVE, must)
    assert no.value.is_known
    session.require_way(msgspec.structs.replace(NATIVE, request=must), must)  # it is told


def test_where_no_tool_is_sent_every_way_is_ours() -> None:
    session = ModedSession()
    session.mode = "native"
    off = Plan(mode="off", reason="tool_choice is none", request=ASKED)
    session.require_way(off, msgspec.structs.replace(ASKED, tool_choice="none"))
    session.require_way(off, msgspec.structs.replace(ASKED, tools=()))
