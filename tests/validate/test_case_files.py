from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate import chosen_cases, own_cases, read_cases
from callgate.vocabulary import NotFound, UsageError

TOOL = {
    "name": "ring",
    "parameters": {"type": "object", "properties": {"times": {"type": "integer"}}, "required": ["times"]},
}
CASE: dict[str, Any] = {
    "name": "bell",
    "check": "toolCall",
    "about": "a bell",
    "tools": ["ring"],
    "ask": ["Ring the bell {times} times."],
    "values": [{"times": 2}, {"times": 3}],
    "expect": {"calls": [{"name": "ring", "arguments": {"times": "{times}"}}]},
}


def with_call(**call: object) -> dict[str, Any]:
    return {"calls": [{"name": "ring", "arguments": {"times": 2}} | call]}


def folder_of(path: Path, **files: object) -> str:
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name.replace("__", ".")).write_text(text, "utf-8")
    return str(path)


def test_what_comes_with_callgate_is_all_that_was_promised() -> None:
    checks = {known.case.check for known in own_cases()}
    assert checks >= {
        "toolCall",
        "toolSelection",
        "typedArguments",
        "parallelCalls",
        "multiStep",
        "toolResult",
        "errorResult",
        "noToolCall",
        "longToolList",
        "longConversation",
        "nonAscii",
        "streaming",
        "toolChoice",
        "schemaValid",
        "plainText",
        "systemPrompt",
        "jsonOutput",
    }
    assert {known.case.tool_choice for known in own_cases()} > {None, "none", "required"}
    assert {known.case.stream for known in own_cases()} == {True, False}


def test_the_quick_suite_is_part_of_the_full_one() -> None:
    quick, full = (
        {known.case.name for known in chosen_cases("quick")},
        {known.case.name for known in chosen_cases("full")},
    )
    assert quick < full == {known.case.name for known in own_cases()}


def test_some_cases_can_be_chosen_by_name_pattern_and_check_out_of_any_suite() -> None:
    assert [known.case.name for known in chosen_cases("quick", only=["one-call"])] == ["one-call"]
    assert all(known.case.name.startswith("long-") for known in chosen_cases("quick", only=["long-*"]))
    assert {known.case.check for known in chosen_cases("quick", only=["toolChoice"])} == {"toolChoice"}
    with pytest.raises(UsageError, match="nonsense"):
        chosen_cases("quick", only=["one-call", "nonsense"])


def test_a_users_cases_belong_to_every_suite_and_share_the_tools_of_their_folder(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, tools__json={"tools": [TOOL]}, bell__json={"cases": [CASE]})
    for suite in ("quick", "full"):
        mine = chosen_cases("quick" if suite == "quick" else "full", folders=[folder])[-1]
        assert (mine.case.name, mine.tools[0].name, mine.is_users) == ("bell", "ring", True)


def test_cases_can_be_written_in_toml(tmp_path: Path) -> None:
    text = """
        [[tools]]
        name = "ring"
        [[cases]]
        name = "bell"
        check = "toolCall"
        about = "a bell"
        tools = ["*"]
        ask = ["Ring!"]
        expect.calls = [{name = "ring"}]
    """
    (found,) = read_cases(folder_of(tmp_path, bell__toml=text))
    assert (found.case.name, [tool.name for tool in found.tools]) == ("bell", ["ring"])


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"expect": {}}, "can't fail"),
        ({"then": [{"results": {}, "expect": {}}]}, "can't fail"),
        ({"tools": ["knock"]}, "'knock'"),
        ({"tools": []}, "'ring', which it doesn't offer"),
        ({"ask": ["Ring {often}."]}, "'{often}'"),
        ({"ask": []}, "at least one question"),
        ({"values": [{"times": "twice"}]}, "don't fit"),
        ({"values": [{"times": "2"}]}, "don't fit"),
        ({"tool_choice": "knock"}, "'knock'"),
        ({"asks": ["Ring!"]}, "asks"),
        ({"secrets": {"word": "poem"}}, "poem"),
        ({"values": [{"times": 1}] * 20_000}, "combinations"),
        ({"expect": {"calls": [{"name": "ring", "arguments": "{times}"}]}}, "got `int`"),
        ({"expect": {"calls": [{"name": "ring", "arguments": "often"}]}}, "no object"),
        ({"expect": {"ordered": True}}, "can't fail"),
        ({"expect": {"more_calls": True}}, "can't fail"),
        ({"expect": CASE["expect"] | {"mentions": ["ZZZ"]}}, "calls and words"),
        ({"expect": CASE["expect"] | {"pieces": 9}}, "calls and words"),
        ({"expect": CASE["expect"] | {"json": {}}}, "calls and words"),
        ({"expect": {"any_valid_call": True, "avoids": ["no"]}}, "calls and words"),
        ({"expect": {"calls": [], "any_valid_call": True}}, "any valid call"),
        ({"expect": {"mentions": [""]}}, "empty text"),
        ({"expect": {"mentions": ["{nothing}"]}, "values": [{"times": 1, "nothing": ""}]}, "empty text"),
        ({"expect": {"mentions": [[]]}}, "can't pass"),
        ({"expect": {"avoids": [""]}}, "empty text"),
        ({"tools_off": True}, "can't pass"),
        ({"tool_choice": "none"}, "can't pass"),
        ({"then": [{"results": {"rong": "done"}, "expect": {"mentions": ["a"]}}]}, "'rong'"),
        ({"then": [{"results": {"ring": ["a", "b"]}, "expect": {"mentions": ["a"]}}]}, "2 results of 'ring' for 1"),
        ({"then": [{"results": {}, "repeats": -1, "expect": {"mentions": ["a"]}}]}, "-1 repeats"),
        ({"expect": {"calls": []}, "then": [{"results": {}, "expect": {"calls": []}}]}, "without calls"),
        ({"expect": with_call(accept={"times": ["five"]})}, "don't fit"),
        ({"expect": with_call(accept={"nope": [1]})}, "'nope'"),
        ({"expect": with_call(optional={"nope": [1]})}, "'nope'"),
        ({"expect": with_call(arguments={"times": 2, "loudly": True})}, "'loudly'"),
        ({"history": [{"role": "foo"}]}, "history"),
        ({"tools": [], "tool_choice": "required", "expect": {"mentions": ["a"]}}, "offers no tool"),
        ({"max_tokens": -5}, "-5 max_tokens"),
        ({"schema": {"type": "banana"}}, "'banana'"),
        ({"schema": {"properties": {"a": {"items": {"type": ["string", "fruit"]}}}}}, "'fruit'"),
    ],
)
def test_what_is_wrong_with_a_case_is_said_with_its_file(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    folder = folder_of(tmp_path, bell__json={"tools": [TOOL], "cases": [CASE | change]})
    with pytest.raises(UsageError) as error:
        read_cases(folder)
    assert told in error.value.message
    assert "bell" in error.value.message


def test_a_name_or_a_tool_can_not_be_had_twice(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, a__json={"tools": [TOOL], "cases": [CASE, CASE]})
    with pytest.raises(UsageError, match="two cases called 'bell'"):
        chosen_cases("quick", folders=[folder])
    folder_of(tmp_path, b__json={"tools": [TOOL]})
    with pytest.raises(UsageError, match="another tool 'ring'"):
        read_cases(folder)


def test_a_folder_without_cases_or_no_folder_at_all_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no cases"):
        read_cases(str(tmp_path))
    with pytest.raises(NotFound):
        read_cases(str(tmp_path / "nowhere"))


ANY_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=8) | st.just("{times}"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=10,
)


@given(field=st.sampled_from([*CASE, "then", "history", "secrets", "system", "schema"]), value=ANY_JSON)
def test_any_case_is_read_or_refused(field: str, value: object) -> None:
    with TemporaryDirectory() as name, suppress(UsageError):
        read_cases(folder_of(Path(name), any__json={"tools": [TOOL], "cases": [CASE | {field: value}]}))


@given(st.binary(max_size=300))
def test_any_file_is_read_or_refused(content: bytes) -> None:
    with TemporaryDirectory() as name:
        for ending in ("json", "toml"):
            (Path(name) / f"any.{ending}").write_bytes(content)
        with suppress(UsageError):
            read_cases(name)
