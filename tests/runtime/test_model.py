from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

import pytest

import callgate
from callgate.runtime import FunctionTools, Limits, Permissions
from callgate.vocabulary import AssistantDelta, Done, Event, Message, Tool, ToolCall, ToolCallEvent, UsageError
from callgate.vocabulary import event_as_json as as_json

Script = Callable[..., str]


def multiply(a: int, b: int) -> int:
    """Multiply two numbers."""
    return a * b


async def fail(a: int) -> int:
    """Always fails."""
    raise ValueError(f"{a} is too much")


def said(*texts: str) -> list[Event]:
    return [*(AssistantDelta(text) for text in texts), Done("stop")]


def call(name: str, arguments: dict[str, object]) -> list[Event]:
    return [ToolCallEvent(ToolCall("c1", name, arguments)), Done("tool_calls")]


@pytest.fixture
def scripted(tmp_path: Path) -> Script:
    def write(*exchanges: list[Event]) -> str:
        lines: list[object] = [{"callgate_recording": 1, "model": "tiny", "backend": "llamacpp"}]
        for exchange in exchanges:
            lines.append({"request": {}})
            lines += [{"at": 0, "event": as_json(event)} for event in exchange]
        path = tmp_path / "recording.jsonl"
        path.write_text("\n".join(map(json.dumps, lines)) + "\n")
        return f"scripted:{path}"

    return write


def test_calls_are_run_until_there_is_an_answer(scripted: Script) -> None:
    ref = scripted(call("multiply", {"a": "17", "b": 23}), said("It is ", "391."))
    with callgate.Model(ref) as model:
        turn = model.ask("What is 17 times 23?", tools=[multiply])
    assert turn.text == "It is 391."
    assert [(made.name, made.arguments) for made in turn.calls] == [("multiply", {"a": 17, "b": 23})]
    assert [(message.role, message.content) for message in turn.messages] == [
        ("user", "What is 17 times 23?"),
        ("assistant", ""),
        ("tool", "391"),
        ("assistant", "It is 391."),
    ]
    assert turn.messages[2].call_id == turn.messages[1].calls[0].id


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (call("fail", {"a": 1}), "ValueError: 1 is too much"),
        (call("multiply", {"a": 1}), "b"),
        (call("divide", {"a": 1}), "there is no tool 'divide'"),
    ],
)
def test_what_goes_wrong_with_a_call_is_told_to_the_model(made: list[Event], told: str, scripted: Script) -> None:
    ref = scripted(made, said("Sorry."))
    with callgate.Model(ref) as model:
        turn = model.ask("Try.", tools=[multiply, fail])
    assert turn.text == "Sorry."
    assert turn.messages[2].content.startswith("error: ")
    assert told in turn.messages[2].content


def test_a_tool_that_somebody_else_runs_ends_it(scripted: Script) -> None:
    ref = scripted(call("elsewhere", {}))
    with callgate.Model(ref) as model:
        turn = model.ask("Try.", tools=[Tool("elsewhere")])
    assert [made.name for made in turn.calls] == ["elsewhere"]
    assert turn.messages[-1].calls == turn.calls


def test_a_model_that_goes_on_and_on_is_stopped(scripted: Script) -> None:
    ref = scripted(*[call("multiply", {"a": 1, "b": 1})] * 5)
    with callgate.Model(ref) as model:
        turn = model.ask("Try.", tools=[multiply], max_turns=3)
    assert len(turn.calls) == 3
    assert [notice.kind for notice in turn.notices] == ["turns_exhausted"]


def test_a_stream_gives_events_and_runs_nothing(scripted: Script) -> None:
    ref = scripted(call("fail", {"a": 1}))
    with callgate.Model(ref) as model:
        events = list(model.stream([{"role": "user", "content": "Try."}], tools=[fail]))
    assert [type(event) for event in events] == [ToolCallEvent, Done]


def test_whoever_stops_listening_may_go_on_with_the_model(scripted: Script) -> None:
    ref = scripted(said("one", "two"), said("three"))
    with callgate.Model(ref) as model:
        for event in model.stream("Count."):
            assert event == AssistantDelta("one")
            break
        assert model.ask("Go on.").text == "three"


async def test_the_asynchronous_twin_does_the_same(scripted: Script) -> None:
    ref = scripted(call("multiply", {"a": 2, "b": 3}), said("6"))
    async with callgate.AsyncModel(ref) as model:
        turn = await model.ask([Message(role="user", content="2 * 3?")], tools=[multiply])
    assert turn.text == "6"


@dataclass
class Point:
    x: int
    y: int = 0


def mirror(point: Point, on: date) -> Point:
    """Mirror a point."""
    assert on == date(2026, 1, 2)
    return Point(point.y, point.x)


def test_arguments_come_as_the_function_expects_them(scripted: Script) -> None:
    ref = scripted(call("mirror", {"point": {"x": 1, "y": 2}, "on": "2026-01-02"}), said("done"))
    with callgate.Model(ref) as model:
        turn = model.ask("Mirror it.", tools=[mirror])
    assert turn.messages[2].content == '{"x":2,"y":1}'


def test_a_source_of_tools_needs_permission_where_it_is_not_harmless(scripted: Script) -> None:
    made = call("multiply", {"a": 2, "b": 3}), said("6")
    source = FunctionTools([multiply], name="sums", harmless=False)
    with callgate.Model(scripted(*made)) as model:
        denied = model.ask("2 * 3?", tools=[source])
    assert "allow" in denied.messages[2].content
    with callgate.Model(scripted(*made)) as model:
        allowed = model.ask("2 * 3?", tools=[source], permissions=Permissions(allow=["sums/*"]))
    assert allowed.messages[2].content == "6"


def test_another_model_takes_over_and_says_who_it_is(scripted: Script, tmp_path: Path) -> None:
    ref = scripted(said("hello"))
    with callgate.Model(f"scripted:{tmp_path / 'nowhere.jsonl'}") as model:
        turn = model.ask("hi", fallback=[ref])
    assert (turn.text, turn.ref) == ("hello", callgate.ModelRef.parse(ref))
    assert [notice.kind for notice in turn.notices] == ["model_changed"]


def test_a_tool_that_hangs_is_given_up(scripted: Script) -> None:
    async def hang() -> None:
        await asyncio.Event().wait()

    with callgate.Model(scripted(call("hang", {}), said("sorry"))) as model:
        turn = model.ask("Wait.", tools=[hang], limits=Limits(call_seconds=0.05))
    assert "given up" in turn.messages[2].content


def test_two_tools_of_one_name_are_refused(scripted: Script) -> None:
    ref = scripted(said("hello"))
    with callgate.Model(ref) as model, pytest.raises(UsageError, match="two tools called 'multiply'"):
        model.ask("Try.", tools=[multiply, {"type": "function", "function": {"name": "multiply"}}])


@pytest.mark.engine
def test_the_three_lines_of_the_readme_work(require_engine: None) -> None:
    with callgate.Model("tiny") as model:
        turn = model.ask("What is 17 times 23?", tools=[multiply], temperature=0)
    assert [(made.name, made.arguments) for made in turn.calls] == [("multiply", {"a": 17, "b": 23})]
    assert "391" in turn.text
    assert not turn.notices


@pytest.mark.engine
def test_a_model_without_tools_calls_them_all_the_same(require_engine: None) -> None:
    with callgate.Model("tiny-plain") as model:
        turn = model.ask("What is 17 times 23?", tools=[multiply], tool_choice="required", max_tokens=200)
    assert turn.calls[0].name == "multiply"
    assert turn.calls[0].problem is None
    assert "tools_emulated" in {notice.kind for notice in turn.notices}
