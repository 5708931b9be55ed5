from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from callgate.runtime import FunctionTools, Outcome, Toolbox
from callgate.vocabulary import CallgateError, Tool, ToolCall, ToolServerFailed, UsageError


def look() -> str:
    """Look around."""
    return "nothing"


def see() -> str:
    return "something"


class Broken:
    name = "broken"

    def __init__(self, error: CallgateError | None = None, *tools: str) -> None:
        self.error = error
        self.listed = tools

    async def tools(self) -> Sequence[Tool]:
        if self.error:
            raise self.error
        return [Tool(name) for name in self.listed]

    async def call(self, name: str, arguments: Mapping[str, Any]) -> Outcome:  # noqa: ARG002
        return Outcome("half a character: \ud800")

    def is_harmless(self, name: str) -> bool:  # noqa: ARG002
        return False

    async def close(self) -> None:
        raise ToolServerFailed("it doesn't even close")


async def test_functions_descriptions_and_sources_lie_side_by_side() -> None:
    box = Toolbox([look, Tool("far"), FunctionTools([see], name="eyes", harmless=False)])
    assert await box.refresh() == ()
    found = [(entry.name, entry.path, entry.is_harmless, entry.runs_here) for entry in box.entries]
    assert sorted(found) == [
        ("far", "elsewhere/far", False, False),
        ("look", "functions/look", True, True),
        ("see", "eyes/see", False, True),
    ]


async def test_two_of_one_name_have_their_source_in_front_and_are_called_by_it() -> None:
    def look() -> str:
        return "another"

    box = Toolbox([FunctionTools([globals()["look"]], name="here"), FunctionTools([look], name="there")])
    await box.refresh()
    assert [tool.name for tool in box.tools] == ["here_look", "there_look"]
    assert (await box.run(ToolCall("c", "here_look", {}))).content == "nothing"
    assert (await box.run(ToolCall("c", "there_look", {}))).content == "another"
    assert "no tool" in (await box.run(ToolCall("c", "look", {}))).content


async def test_tools_are_switched_off_and_on_one_by_one_and_by_pattern() -> None:
    box = Toolbox([look, see])
    await box.refresh()
    assert box.switch("look", on=False) == ("look",)
    assert [tool.name for tool in box.tools] == ["see"]
    await box.refresh()
    assert [tool.name for tool in box.tools] == ["see"]
    assert [(entry.name, entry.is_on) for entry in box.entries] == [("look", False), ("see", True)]
    result = await box.run(ToolCall("c", "look", {}))
    assert result.is_error
    assert box.is_answered_here(ToolCall("c", "look", {}))
    assert box.switch("functions/*", on=True) == ("look", "see")
    assert [tool.name for tool in box.tools] == ["look", "see"]
    assert box.switch("nothing*", on=False) == ()


async def test_the_tools_are_the_same_records_while_nothing_changes() -> None:
    box = Toolbox([look])
    await box.refresh()
    before = box.tools
    await box.refresh()
    assert box.tools is before


async def test_a_source_that_fails_or_offers_nonsense_is_left_out_and_named() -> None:
    for source in (Broken(ToolServerFailed("down")), Broken(None, "twice", "twice")):
        box = Toolbox([look, source])
        (failure,) = await box.refresh()
        assert failure.source == "broken"
        assert [tool.name for tool in box.tools] == ["look"]


async def test_a_result_can_be_sent_whatever_is_in_it() -> None:
    box = Toolbox([Broken(None, "odd")])
    await box.refresh()
    assert (await box.run(ToolCall("c", "odd", {}))).content == "half a character: ?"
    assert (await box.run(ToolCall("c", "odd", "no object"))).is_error
    await box.close()


def test_two_sources_of_one_name_are_refused() -> None:
    with pytest.raises(UsageError, match="two sources of tools called 'x'"):
        Toolbox([FunctionTools([look], name="x"), FunctionTools([see], name="x")])
    box = Toolbox([FunctionTools([look], name="x")])
    assert box.names == {"x", "elsewhere"}
    for name in box.names:
        with pytest.raises(UsageError, match=f"called '{name}'"):
            box.add(FunctionTools([see], name=name))
    assert [source.name for source in box.sources] == ["x"]


@pytest.mark.parametrize("given", [[5], "x", [None], {"name": "f"}, [{"description": "nameless"}]])
def test_what_is_no_tool_is_refused_in_words(given: Any) -> None:
    with pytest.raises(UsageError, match="tool"):
        Toolbox(given)


async def test_tools_come_as_other_programs_write_them_down() -> None:
    box = Toolbox({"tools": [{"name": "find", "inputSchema": {"type": "object"}}]})
    await box.refresh()
    assert [tool.name for tool in box.tools] == ["find"]
    assert not Toolbox(None).tools
