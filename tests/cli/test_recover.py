import json
from pathlib import Path

import pytest

from callgate.gate.recovery import FORMATS
from tests.cli.command import Done, callgate

CALL = '<tool_call>{"name": "get_weather", "arguments": {"city": "Paris", "days": "3"}}</tool_call>'
TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}},
    },
}
FOUND = [{"name": "get_weather", "arguments": {"city": "Paris", "days": 3}}]
AS_SENT = [{"name": "get_weather", "arguments": {"city": "Paris", "days": "3"}}]


def recover(*words: str, given: str = "") -> Done:
    return callgate("recover", *words, given=given.encode())


@pytest.fixture
def tools(tmp_path: Path) -> str:
    path = tmp_path / "tools.json"
    path.write_text(json.dumps([TOOL]))
    return str(path)


def test_help_has_examples() -> None:
    done = recover("--help")
    assert done.status == 0
    assert "callgate recover --list-formats" in done.out


def test_it_finds_the_calls_and_leaves_the_words(tools: str) -> None:
    done = recover("--tools", tools, given=f"<think>Hm.</think>I look. {CALL}")
    (said,) = done.objects
    assert (done.status, done.err) == (0, "")
    assert (said["calls"], said["content"], said["thinking"]) == (FOUND, "I look. ", "Hm.")
    assert said["format"] == "hermes_json"
    (repair,) = said["repairs"]
    assert (repair["path"], repair["from"], repair["to"]) == ("/days", "3", 3)


def test_it_reads_a_file(tmp_path: Path) -> None:
    path = tmp_path / "answer.txt"
    path.write_text(CALL)
    assert recover(str(path)).objects[0]["calls"] == AS_SENT


def test_without_repair_arguments_stay_as_they_were_sent(tools: str) -> None:
    (said,) = recover("--tools", tools, "--no-repair", given=CALL).objects
    assert (said["calls"], said["repairs"]) == (AS_SENT, [])


def test_without_repair_wrapped_arguments_stay_wrapped(tools: str) -> None:
    wrapped = {"arguments": {"city": "Paris"}}
    text = f"<function=get_weather><parameter=arguments>{json.dumps(wrapped['arguments'])}</parameter></function>"
    (said,) = recover("--tools", tools, "--no-repair", given=text).objects
    assert (said["calls"], said["repairs"]) == ([{"name": "get_weather", "arguments": wrapped}], [])
    (said,) = recover("--tools", tools, given=text).objects
    assert said["calls"] == [{"name": "get_weather", "arguments": wrapped["arguments"]}]
    assert said["repairs"] == [{"path": "", "from": wrapped, "to": wrapped["arguments"], "rule": "wrapped"}]


def test_json_that_had_to_be_mended_to_read_a_call_is_listed(tools: str) -> None:
    text = "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris'}}</tool_call>"
    (said,) = recover("--tools", tools, given=text).objects
    assert said["repairs"] == [
        {"path": "", "from": text, "to": {"city": "Paris"}, "rule": "malformed-json: single-quotes"}
    ]


def test_only_offered_tools_are_recovered(tmp_path: Path) -> None:
    path = tmp_path / "tools.json"
    path.write_text("[]")
    (said,) = recover("--tools", str(path), given=CALL).objects
    assert (said["calls"], said["content"], said["format"]) == ([], CALL, None)


@pytest.mark.parametrize("chunk", ["1", "7", "1000", "random:4", "random:x"])
def test_the_text_may_come_in_pieces(chunk: str, tools: str) -> None:
    assert recover("--tools", tools, "--chunk", chunk, given=CALL).objects[0]["calls"] == FOUND


def test_the_format_may_be_given() -> None:
    assert recover("--format", "mistral", given=CALL).objects[0]["calls"] == []
    assert recover("--format", "hermes_json", given=CALL).objects[0]["calls"] == AS_SENT


def test_the_answer_may_begin_in_its_thinking() -> None:
    (said,) = recover("--starts-in", "thinking", given=f"{CALL} hm</think>Yes.").objects
    assert (said["calls"], said["content"]) == ([], "Yes.")


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (("--format", "nobody's"), "no format"),
        (("--chunk", "0"), "random:SEED"),
        (("--chunk", "random:"), "random:SEED"),
        (("--tools", "/nowhere/tools.json"), "can't be read"),
        (("/nowhere/answer.txt",), "can't be read"),
    ],
)
def test_wrong_usage_says_what_is_wrong(words: tuple[str, ...], error: str) -> None:
    done = recover(*words, given=CALL)
    assert done.status == 2
    assert error in done.err


def test_each_line_has_its_answer_and_a_bad_one_stops_nothing() -> None:
    lines = [
        json.dumps({"id": "a", "raw": CALL, "tools": [TOOL]}),
        "no json",
        json.dumps({"id": "b", "raw": 7}),
        json.dumps({"id": "c", "raw": "x", "tools": [{"nameless": 1}]}),
        json.dumps({"id": "d", "raw": "x", "format": "nobody's"}),
        json.dumps({"id": "e", "raw": f"Hm. {CALL}</think>Yes.", "tools": None, "starts_in": "thinking"}),
        "",
        json.dumps({"id": "f", "raw": CALL, "tools": None, "format": "hermes_json"}),
        json.dumps({"id": "g", "raw": CALL, "tools": []}),
        json.dumps([1]),
    ]
    done = recover("--jsonl", given="\n".join(lines))
    assert done.status == 1
    said = {answer["id"]: answer for answer in done.objects if answer["id"]}
    assert said["a"]["calls"] == FOUND
    assert [name for name in "bcd" if "error" in said[name]] == ["b", "c", "d"]
    assert (said["e"]["calls"], said["e"]["content"]) == ([], "Yes.")
    assert (said["f"]["calls"], said["g"]["calls"]) == (AS_SENT, [])
    assert [answer["error"]["type"] for answer in done.objects if not answer["id"]] == ["UsageError", "UsageError"]


def test_tools_with_types_of_other_languages_are_understood() -> None:
    tool = {"name": "get_weather", "parameters": {"type": "dict", "properties": {"days": {"type": "int"}}}}
    done = recover("--jsonl", given=json.dumps({"id": 1, "raw": CALL, "tools": [tool]}))
    assert done.objects[0]["calls"] == FOUND


def test_every_format_is_listed() -> None:
    shown = recover("--list-formats").out
    listed = recover("--list-formats", "--json").objects
    assert [entry["name"] for entry in listed] == list(FORMATS)
    assert all(name in shown for name in FORMATS)
    assert all(entry["example"] for entry in listed)


def test_bytes_that_are_no_text_spoil_their_line_alone(tmp_path: Path) -> None:
    lines = tmp_path / "answers.jsonl"
    lines.write_bytes(b'{"id":1,"raw":"\xff"}\n{"id":2,"raw":"hello"}\n')
    done = recover("--jsonl", str(lines))
    assert done.status == 1
    first, second = done.objects
    assert "line 1" in first["error"]["message"]
    assert second["content"] == "hello"


@pytest.mark.parametrize("content", ["[" * 100_000, "null", '[{"name": "f", "parameters": {"type": "str"}}]'])
def test_tools_that_are_none_are_wrong_usage(content: str, tmp_path: Path) -> None:
    tools = tmp_path / "tools.json"
    tools.write_text(content)
    done = recover("--tools", str(tools), given="hello")
    assert (done.status, "Traceback" in done.err) == (2, False)
