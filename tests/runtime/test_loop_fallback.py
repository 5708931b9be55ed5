from __future__ import annotations

import pytest

from callgate.runtime import (
    Fallback,
    ModelChanged,
)
from callgate.settings import load_settings
from callgate.vocabulary import (
    AssistantDelta,
    BadStatus,
    CallgateError,
    ModelRef,
    StreamCut,
    Unreachable,
    UsageError,
)
from tests.runtime.agents import Script, calls, play, says, script

__all__ = ["script"]


def double(number: int) -> int:
    return 2 * number


@pytest.mark.parametrize(
    "error", [Unreachable("gone"), BadStatus("busy", status=503), BadStatus("slow down", status=429), StreamCut("cut")]
)
async def test_another_model_takes_over_before_anything_was_shown(error: CallgateError, script: Script) -> None:
    second = script(says("hello"))
    played = await play(script([error]), fallback=[second])
    assert played.events[0] == ModelChanged(second, error.message)
    assert (played.text, played.ref, played.ended) == ("hello", second, "answered")


async def test_the_models_are_tried_in_their_order_until_one_answers(script: Script) -> None:
    chain = [script([Unreachable("b")]), script([Unreachable("c")]), script(says("hello"))]
    played = await play(script([Unreachable("a")]), fallback=chain)
    assert [event.ref for event in played.events if isinstance(event, ModelChanged)] == chain
    assert [event.why for event in played.events if isinstance(event, ModelChanged)] == ["a", "b", "c"]


async def test_the_last_error_is_raised_if_nobody_answers(script: Script) -> None:
    ref, other = script([Unreachable("a")]), script([Unreachable("b")])
    with pytest.raises(Unreachable, match="b"):
        await play(ref, fallback=[other, ref])


@pytest.mark.parametrize(
    "error", [BadStatus("who are you", status=401), UsageError("wrong"), BadStatus("", status=400)]
)
async def test_what_the_user_can_mend_is_raised(error: CallgateError, script: Script) -> None:
    with pytest.raises(type(error)):
        await play(script([error]), fallback=[script(says("hello"))])


async def test_nobody_takes_over_once_something_was_shown(script: Script) -> None:
    other = script(says("hello"))
    with pytest.raises(StreamCut):
        await play(script([AssistantDelta("Hel"), StreamCut("cut")]), fallback=[other])
    with pytest.raises(Unreachable):
        await play(script(calls(("double", {"number": 1})), [Unreachable("gone")]), double, fallback=[other])


async def test_a_model_that_may_cost_money_needs_a_yes(script: Script) -> None:
    paid = ModelRef("openai", "gpt", "https://api.example.com/v1")
    free = script(says("hello"))
    played = await play(script([Unreachable("gone")]), fallback=[paid, free])
    assert (played.notices, played.ref) == (["fallback_skipped"], free)

    asked: list[ModelRef] = []

    async def consent(ref: ModelRef) -> bool:
        asked.append(ref)
        return False

    chain = Fallback([paid, script(says("hello"))], settings=load_settings(), consent=consent)
    await play(script([Unreachable("gone")]), fallback=chain)
    assert asked == [paid]
