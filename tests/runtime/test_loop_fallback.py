from __future__ import annotations

import pytest
from aiohttp import web

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
from tests.runtime.played import WITHOUT, PlayedOllama
from tests.wire.server import serving

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
    played = await play(script([Unreachable("gone")]), fallback=chain)
    assert asked == [paid]
    assert (played.notices, played.text) == (["fallback_skipped"], "hello")


@pytest.mark.parametrize("says_yes", [True, False])
async def test_what_is_agreed_to_takes_over_and_the_line_says_that_it_may_cost(script: Script, says_yes: bool) -> None:
    async def consent(_: ModelRef) -> bool:
        return says_yes

    spoken: list[str] = []

    async def chat(request: web.Request) -> web.StreamResponse:
        spoken.append((await request.json())["model"])
        message = {"role": "assistant", "content": "hello from far away"}
        return web.json_response({"model": "m:cloud", "message": message, "done": True, "done_reason": "stop"})

    async with serving(("POST", "/api/chat", chat), *PlayedOllama(m__cloud=WITHOUT).routes) as url:
        cloud = ModelRef("ollama", "m:cloud", url)
        chain = Fallback([cloud], settings=load_settings(), consent=consent)
        if says_yes:
            played = await play(script([Unreachable("gone")]), fallback=chain)
            assert played.events[0] == ModelChanged(cloud, "gone (it may cost money)")
            assert played.text == "hello from far away"
        else:
            with pytest.raises(Unreachable, match="gone"):
                await play(script([Unreachable("gone")]), fallback=chain)
    assert spoken == ["m:cloud"] * says_yes


async def test_auto_is_what_it_stands_for_then_and_never_the_one_that_failed(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    failing, far, auto = script([Unreachable("gone")]), "https://api.example.com/v1#gpt", ModelRef.parse("auto")
    asked: list[ModelRef] = []

    async def consent(ref: ModelRef) -> bool:
        asked.append(ref)
        return False

    monkeypatch.setenv("CALLGATE_MODELS_DEFAULT", far)
    chain = Fallback([auto, script(says("hello"))], settings=load_settings(), consent=consent)
    played = await play(failing, fallback=chain)
    assert asked == [ModelRef.parse(far)]
    assert (played.notices, played.text) == (["fallback_skipped"], "hello")

    monkeypatch.setenv("CALLGATE_MODELS_DEFAULT", str(failing))
    chain = Fallback([auto, script(says("hello"))], settings=load_settings(), consent=consent)
    played = await play(failing, fallback=chain)
    assert len([event for event in played.events if isinstance(event, ModelChanged)]) == 1
    assert played.text == "hello"
