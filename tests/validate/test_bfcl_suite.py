"""A user's copy of the leaderboard's data becomes cases; what is no such copy is named as such."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import read_tools
from callgate.validate.bfcl_schema import json_schema
from callgate.validate.bfcl_suite import bfcl_cases
from callgate.validate.heard import Heard
from callgate.vocabulary import NotFound, Repair, ToolCall, UsageError
from tests.validate.bfcl_samples import PAINT, PLAY, SIMPLE_ANSWER, answer, entry, write_bfcl, write_lines

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=20,
)
TYPES = ["dict", "float", "tuple", "any", "array", "integer", "boolean", "string", "Set"]
SCHEMAS = st.recursive(
    st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES)}, optional={"enum": st.lists(JSON, max_size=3), "default": JSON}
    ),
    lambda inner: st.fixed_dictionaries(
        {"type": st.sampled_from(TYPES)},
        optional={
            "properties": st.dictionaries(st.text(max_size=5), inner, max_size=3),
            "items": inner,
            "required": st.lists(st.text(max_size=5)) | st.booleans(),
            "enum": st.lists(st.text(), max_size=3),
            "optional": st.booleans(),
        },
    ),
    max_leaves=8,
)


def test_the_four_categories_become_cases_in_groups(tmp_path: Path) -> None:
    cases = bfcl_cases(str(write_bfcl(tmp_path)))
    names = [known.case.name for known in cases]
    assert names[:3] == ["bfcl/simple/simple_0", "bfcl/multiple/multiple_0", "bfcl/parallel/parallel_0"]
    assert len(names) == 13
    assert [known.case.check for known in cases[:4]] == [
        "bfclSimple",
        "bfclMultiple",
        "bfclParallel",
        "bfclIrrelevance",
    ]
    assert cases[0].case.ask == ("A wall of 4 metres, {two} coats, please.",)
    assert cases[0].own_expected == {"calls": [SIMPLE_ANSWER]}
    assert cases[-1].own_expected == {"calls": []}


@pytest.mark.parametrize("place", ["data", "bfcl_eval/data", "berkeley-function-call-leaderboard/bfcl_eval/data"])
def test_the_data_is_found_within_a_copy_of_the_repository(tmp_path: Path, place: str) -> None:
    write_bfcl(tmp_path / place)
    assert len(bfcl_cases(str(tmp_path))) == 13


def test_version_3_called_its_first_category_otherwise(tmp_path: Path) -> None:
    folder = write_bfcl(tmp_path, simple="simple")
    assert bfcl_cases(str(folder), ["simple"])[0].case.name == "bfcl/simple/simple_0"


def test_a_limit_takes_evenly_of_each_category(tmp_path: Path) -> None:
    cases = bfcl_cases(str(write_bfcl(tmp_path)), ["irrelevance"], limit=5)
    assert [known.case.name.rpartition("_")[2] for known in cases] == ["0", "2", "4", "6", "8"]


def test_functions_become_tools_in_json_schema(tmp_path: Path) -> None:
    (tool,) = bfcl_cases(str(write_bfcl(tmp_path)), ["simple"])[0].tools
    assert tool.name == "shop.paint_needed"
    assert "Python 3" in tool.description
    properties = tool.parameters["properties"]
    assert tool.parameters["type"] == "object"
    assert tool.parameters["required"] == ["width"]
    assert properties["width"]["type"] == "number"
    assert properties["width"]["format"] == "float"
    assert properties["size"] == {
        "type": "array",
        "description": "Width and height.",
        "items": {"type": "number", "format": "float", "description": "This is a float type value."},
    }
    assert properties["buyer"]["properties"]["age"] == {"type": "integer"}
    assert "optional" not in properties["primer"]


def test_choices_end_up_where_they_make_sense() -> None:
    schema = json_schema(
        {
            "type": "dict",
            "properties": {
                "kinds": {"type": "array", "items": {"type": "string"}, "enum": ["a", "b"]},
                "adults": {"type": "integer", "enum": ["1", "any"]},
                "unit": {"type": "string", "enum": ["m", "ft"]},
            },
        }
    )["properties"]
    assert schema["kinds"] == {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}}
    assert schema["adults"] == {"anyOf": [{"type": "integer"}, {"enum": ["1", "any"]}]}
    assert schema["unit"] == {"type": "string", "enum": ["m", "ft"]}


@given(st.dictionaries(st.text(max_size=5), SCHEMAS | JSON, max_size=4))
def test_whatever_the_dialect_says_becomes_a_schema_that_tools_may_have(properties: dict[str, Any]) -> None:
    schema = json_schema({"type": "dict", "properties": properties, "required": list(properties)})
    read_tools([{"name": "f", "description": "d", "parameters": schema}])


def test_a_conversation_keeps_its_system_prompt_and_what_was_said_before(tmp_path: Path) -> None:
    said = [("system", "Be brief."), ("user", "Hello"), ("assistant", "Yes?"), ("user", "Play Blue.")]
    made = {**entry("live_0", "", PLAY), "question": [[{"role": role, "content": text} for role, text in said]]}
    write_lines(tmp_path / "BFCL_v4_live_relevance.json", [made])
    (known,) = bfcl_cases(str(tmp_path), ["live_relevance"])
    assert known.case.system == "Be brief."
    assert [message["role"] for message in known.case.history] == ["user", "assistant"]
    assert known.case.ask == ("Play Blue.",)


def test_a_case_judges_by_the_rules_and_strictly_if_told_so(tmp_path: Path) -> None:
    (known,) = bfcl_cases(str(write_bfcl(tmp_path)), ["simple"])
    assert known.own_judge is not None
    right = ToolCall("1", "shop.paint_needed", {"width": 4, "coats": 2, "colour": "Sky Blue"})
    mended = ToolCall("1", right.name, right.arguments, repairs=(Repair("/coats", "2", 2, "number"),))
    assert known.own_judge(Heard(calls=(right,)), True) is None
    assert known.own_judge(Heard(calls=(mended,)), False) is None
    fault = known.own_judge(Heard(calls=(mended,)), True)
    assert fault is not None
    assert fault.kind == "invalid-arguments"
    assert known.own_judge(Heard(text="8 litres"), False) is not None


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no folder"):
        bfcl_cases(str(tmp_path / "nowhere"))
    with pytest.raises(NotFound, match="nothing of BFCL"):
        bfcl_cases(str(tmp_path))
    with pytest.raises(NotFound, match="no category 'live_simple'"):
        bfcl_cases(str(write_bfcl(tmp_path)), ["live_simple"])
    with pytest.raises(UsageError, match="no category 'simple_java'"):
        bfcl_cases(str(tmp_path), ["simple_java"])
    (tmp_path / "possible_answer" / "BFCL_v4_multiple.json").unlink()
    with pytest.raises(NotFound, match=r"no file .*possible_answer"):
        bfcl_cases(str(tmp_path))


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ([answer("other", SIMPLE_ANSWER), answer("more", SIMPLE_ANSWER)], "has no answer to 'simple_0'"),
        ([answer("simple_0", {"unheard_of": {}})], "calls what isn't offered"),
        ([answer("simple_0")], "is empty"),
        ([{"id": "simple_0", "ground_truth": "yes"}], "line 1 .* not in BFCL's form"),
    ],
)
def test_answers_that_fit_no_question_are_named(tmp_path: Path, answers: list[object], message: str) -> None:
    write_bfcl(tmp_path)
    write_lines(tmp_path / "possible_answer" / "BFCL_v4_simple_python.json", answers)
    with pytest.raises(UsageError, match=message):
        bfcl_cases(str(tmp_path), ["simple"])


def test_answers_under_other_names_are_taken_in_their_order(tmp_path: Path) -> None:
    write_bfcl(tmp_path)
    write_lines(tmp_path / "possible_answer" / "BFCL_v4_simple_python.json", [answer("other", SIMPLE_ANSWER)])
    assert bfcl_cases(str(tmp_path), ["simple"])


@given(st.lists(JSON | st.just(entry("a", "b", PAINT)) | st.binary(max_size=20), max_size=4))
def test_any_file_is_read_or_refused(tmp_path_factory: pytest.TempPathFactory, lines: list[object]) -> None:
    folder = tmp_path_factory.mktemp("bfcl")
    written = b"\n".join(line if isinstance(line, bytes) else json.dumps(line).encode() for line in lines)
    (folder / "BFCL_v4_irrelevance.json").write_bytes(written)
    with suppress(UsageError):
        assert len(bfcl_cases(str(folder))) <= len(lines)


@given(JSON)
def test_any_question_is_put_or_refused(tmp_path_factory: pytest.TempPathFactory, question: object) -> None:
    folder = tmp_path_factory.mktemp("bfcl")
    write_lines(folder / "BFCL_v4_irrelevance.json", [{**entry("a", "b", PLAY), "question": question}])
    with suppress(UsageError):
        (known,) = bfcl_cases(str(folder))
        assert isinstance(known.case.ask[0], str)
