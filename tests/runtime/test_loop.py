from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing

import pytest

from callgate.runtime import (
    Agent,
    Limits,
    Outcome,
    Session,
    Toolbox,
    ToolFinished,
    ToolStarted,
)
from callgate.settings import load_settings
from callgate.vocabulary import (
    AssistantDelta,
    ChatRequest,
    Done,
    Image,
    Message,
    ModelRef,
    Notice,
    Tool,
    ToolServerFailed,
    Usage,
)
from tests.runtime.agents import ALL, ASKED, Script, Source, calls, play, says, script

__all__ = ["script"]


def double(number: int) -> int:
    return 2 * number


async def test_calls_are_run_and_their_results_go_back(script: Script) -> None:
    ref = script([Usage(5, 1), *calls(("double", {"number": 4}))], [AssistantDelta("8"), Usage(7, 2), Done("stop")])
    played = await play(ref, double)
    kinds = ["Usage", "ToolCallEvent", "ToolStarted", "ToolFinished", "AssistantDelta", "Usage", "Done"]
    assert played.kinds == kinds
    assert [message.role for message in played.messages] == ["assistant", "tool", "assistant"]
    assert played.requests[1].messages == (*ASKED.messages, *played.messages[:2])
    assert (played.ended, played.results, played.usage) == ("answered", ["8"], Usage(12, 3))


async def test_calls_run_at_once_and_their_results_keep_their_order(script: Script) -> None:
    second_is_done = asyncio.Event()

    async def first() -> str:
        await second_is_done.wait()
        return "1"

    async def second() -> str:
        second_is_done.set()
        return "2"

    played = await play(script(calls(("first", {}), ("second", {})), says("done")), first, second)
    assert played.results == ["1", "2"]
    assert played.kinds[2:6] == ["ToolStarted", "ToolStarted", "ToolFinished", "ToolFinished"]


async def test_a_tool_that_hangs_is_given_up_and_the_model_told(script: Script) -> None:
    release = asyncio.Event()

    async def hang() -> None:
        await release.wait()

    def block() -> None:
        time.sleep(3600)

    async def deaf() -> None:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue

    ref = script(calls(("hang", {}), ("block", {}), ("deaf", {}), ("double", {"number": 1})), says("done"))
    played = await play(ref, hang, block, deaf, double, limits=Limits(call_seconds=0.5))
    release.set()
    given_up = "error: the tool took longer than 0.5 s, and was given up"
    assert played.results == [given_up, given_up, given_up, "2"]


async def test_a_tool_that_fails_is_told_to_the_model(script: Script) -> None:
    async def fails(name: str) -> Outcome:
        if name == "raises":
            raise OSError("no such thing")
        if name == "exits":
            raise SystemExit(3)
        return Outcome("it is broken", is_error=True)

    def leaves() -> None:
        raise SystemExit(4)

    source = Source("raises", "exits", "says", do=fails)
    ref = script(calls(("raises", {}), ("exits", {}), ("says", {}), ("leaves", {})), says("sorry"))
    played = await play(ref, source, leaves, permissions=ALL)
    assert played.results == [
        "error: OSError: no such thing",
        "error: SystemExit: 3",
        "error: it is broken",
        "error: RuntimeError: SystemExit: 4",
    ]
    assert all(event.result.is_error for event in played.events if isinstance(event, ToolFinished))


async def test_a_result_of_ten_megabytes_is_cut_off(script: Script) -> None:
    def much() -> str:
        return "x" * 10_000_000

    (result,) = (await play(script(calls(("much", {})), says("done")), much)).results
    assert len(result) < 101_000
    assert result.endswith("characters)")
    assert "10,000,000" in result


async def test_a_call_that_is_no_good_goes_back_once_with_the_reason(script: Script) -> None:
    played = await play(script(calls(("double", {})), calls(("double", {"number": 3})), says("6")), double)
    assert played.results[0].startswith("error: the arguments of 'double' don't fit")
    assert (played.results[1], played.text, played.notices) == ("6", "6", [])


async def test_a_model_that_makes_no_good_call_has_to_answer_without_tools(script: Script) -> None:
    played = await play(script(calls(("nope", {})), calls(("nope", {})), says("well")), double)
    assert "there is no tool 'nope'; there are: double" in played.results[0]
    assert (played.notices, played.text, played.ended) == (["calls_useless"], "well", "answered")
    assert [request.tool_choice for request in played.requests] == [None, None, "none"]


async def test_a_model_that_calls_for_ever_has_to_answer_without_tools(script: Script) -> None:
    again = calls(("double", {"number": 1})), calls(("double", {"number": 2}))
    played = await play(script(*again, says("enough")), double, limits=Limits(turns=2))
    assert (played.notices, played.text, played.ended) == (["turns_exhausted"], "enough", "answered")
    played = await play(script(*again, *again), double, limits=Limits(turns=2))
    assert (played.ended, played.events[-1]) == ("turns", Done("tool_calls"))
    assert len(played.results) == 2


async def test_the_very_same_call_is_run_only_so_often(script: Script) -> None:
    source = Source("look")
    same = calls(("look", {}))
    played = await play(script(*[same] * 5, says("ok")), source, permissions=ALL, limits=Limits(repeats=3))
    assert source.called == ["look"] * 3
    assert "was made 3 times already" in played.results[3]
    assert (played.notices, played.text) == (["calls_useless"], "ok")


async def test_too_many_calls_at_once_are_not_all_run(script: Script) -> None:
    made = calls(*[("double", {"number": number}) for number in range(5)])
    played = await play(script(made, says("ok")), double, limits=Limits(calls_in_a_turn=2))
    assert played.results[:2] == ["0", "2"]
    assert all("more than 2 calls at once" in result for result in played.results[2:])


async def test_the_time_for_all_is_limited(script: Script) -> None:
    async def slow() -> None:
        await asyncio.Event().wait()

    played = await play(script(calls(("slow", {})), says("late")), slow, limits=Limits(seconds=0.05))
    assert (played.ended, played.notices, played.events[-1]) == ("time", ["time_up"], Done("cancelled"))
    assert len(played.requests) == 1


async def test_a_model_that_says_nothing_is_stopped_when_the_time_is_up(script: Script) -> None:
    slow = script([AssistantDelta("wait"), Done("stop")], at=60)
    played = await play(ModelRef("scripted", f"{slow.name}?timing=1"), limits=Limits(seconds=0.05))
    assert (played.ended, played.text) == ("time", "")


async def test_somebody_elses_call_ends_it_and_ours_are_run(script: Script) -> None:
    played = await play(script(calls(("double", {"number": 1}), ("far", {}))), double, Tool("far"))
    assert (played.ended, played.results, played.events[-1]) == ("calls_left", ["2"], Done("tool_calls"))


async def test_pictures_go_on_to_the_model(script: Script) -> None:
    async def draw(name: str) -> Outcome:
        return Outcome("here", images=(Image(b"\x89PNG"),))

    played = await play(script(calls(("draw", {})), says("nice")), Source("draw", do=draw), permissions=ALL)
    assert played.messages[1].images == (Image(b"\x89PNG"),)


# --- tools that come and go ---


async def test_a_source_that_fails_is_named_once_and_the_rest_works(script: Script) -> None:
    broken = Source("x", name="broken")
    broken.failure = ToolServerFailed("it is down")
    played = await play(script(calls(("double", {"number": 1})), says("2")), broken, double)
    assert (played.notices, played.text) == (["tools_missing"], "2")


async def test_tools_that_change_meanwhile_are_offered_anew(script: Script) -> None:
    async def more(name: str) -> str:
        source.listed = ("look", "see")
        return "look again"

    source = Source("look", do=more)
    played = await play(script(calls(("look", {})), calls(("see", {})), says("ok")), source, permissions=ALL)
    assert [[tool.name for tool in request.tools] for request in played.requests[:2]] == [["look"], ["look", "see"]]
    assert source.called == ["look", "see"]


async def test_tools_that_fill_the_context_are_warned_of_once(script: Script) -> None:
    tools = [Tool(f"tool{number}", "d" * 300) for number in range(60)]
    request = ChatRequest(model="", messages=ASKED.messages, options={"num_ctx": 4096})
    played = await play(script(says("ok")), *tools, request=request)
    (warning,) = [event for event in played.events if isinstance(event, Notice)]
    assert warning.kind == "tools_fill_context"
    assert "60 tools" in warning.message
    assert "4,096" in warning.message
    assert [sent.tool_choice for sent in played.requests] == ["none"]  # else the server would refuse them
    some = await play(script(says("ok")), *tools[:20], request=request)
    assert (some.notices, some.requests[0].tool_choice) == (["tools_fill_context"], None)
    assert (await play(script(says("ok")), *tools[:3], request=request)).notices == []


# --- broken off ---


async def test_whoever_stops_listening_stops_the_tools_and_keeps_the_conversation(script: Script) -> None:
    stopped = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    ref = script([AssistantDelta("Let me see."), *calls(("double", {"number": 1}), ("hang", {}))])
    async with Session(load_settings()) as session:
        answering = Agent(session, Toolbox([double, hang])).answer(ref, ASKED)
        async with aclosing(answering.events()) as events:
            async for event in events:
                if isinstance(event, ToolFinished):
                    break
    assert stopped.is_set()
    assert [(message.role, message.content) for message in answering.messages] == [
        ("assistant", "Let me see."),
        ("tool", "2"),
    ]
    assert answering.ended is None


async def test_a_cancelled_answer_keeps_what_was_said(script: Script) -> None:
    started = asyncio.Event()

    async def hang() -> None:
        started.set()
        await asyncio.Event().wait()

    async with Session(load_settings()) as session:
        answering = Agent(session, Toolbox([hang])).answer(script(calls(("hang", {}))), ASKED)

        async def listen() -> None:
            async for _ in answering.events():
                pass

        task = asyncio.create_task(listen())
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert [message.role for message in answering.messages] == ["assistant"]


async def test_a_tool_is_told_of_before_and_after_it_runs(script: Script) -> None:
    played = await play(script(calls(("double", {"number": 4})), says("8")), double)
    started = next(event for event in played.events if isinstance(event, ToolStarted))
    finished = next(event for event in played.events if isinstance(event, ToolFinished))
    assert started.call.id == finished.result.call_id
    assert finished.result.seconds is not None


async def test_no_tools_are_collected_for_a_model_that_gets_none(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Watched(Source):
        async def tools(self) -> Sequence[Tool]:
            asked.append(self.name)
            return await super().tools()

    monkeypatch.setenv("CALLGATE_TOOLS_STRATEGY", "off")
    played = await play(script(says("Hello.")), Watched("search"))
    assert (played.text, asked) == ("Hello.", [])
    monkeypatch.delenv("CALLGATE_TOOLS_STRATEGY")
    await play(script(says("Hello.")), Watched("search"))
    assert asked == ["there"]


@pytest.mark.engine
async def test_the_model_in_the_box_asks_for_a_tool_and_answers(require_engine: None) -> None:
    def multiply(a: int, b: int) -> int:
        """Multiply two numbers."""
        return a * b

    request = ChatRequest(
        model="", messages=(Message(role="user", content="What is 17 times 23?"),), options={"temperature": 0}
    )
    played = await play(ModelRef.parse("tiny"), multiply, request=request)
    assert played.results == ["391"]
    assert "391" in played.text
