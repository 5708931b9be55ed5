"""What was mended in order to read a call, and what is left as it was where nothing is to be mended."""

from typing import Any

import pytest

from callgate.gate.recovery import Format, recover
from callgate.gate.recovery.formats import KNOWN
from callgate.vocabulary import Repair, Tool
from tests.gate.recovery.reading import WEATHER, cut

BOOK = Tool(
    "book",
    parameters={
        "type": "object",
        "properties": {"place": {"type": "string"}, "guests": {"type": "array", "items": {"type": "string"}}},
    },
)
TOOLS = (WEATHER, BOOK)
PARIS = {"city": "Paris"}


def read(text: str, *, repair: bool = True) -> tuple[list[Any], list[tuple[str, str]]]:
    found = recover(text, TOOLS, repair=repair)
    assert [
        (call.name, call.arguments, call.repairs) for call in recover(cut(text, 3), TOOLS, repair=repair).calls
    ] == [(call.name, call.arguments, call.repairs) for call in found.calls]
    assert tuple(change for call in found.calls for change in call.repairs) == found.repairs
    return [call.arguments for call in found.calls], [(change.path, change.rule) for change in found.repairs]


@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris'}}</tool_call>", "single-quotes"),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"},}</tool_call>', "trailing-comma"),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}</tool_call>', "missing-bracket"),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"}}}</tool_call>', "stray-bracket"),
        ('<tool_call>{"name": "get_weather", "arguments": {"city": "Paris"', "missing-bracket"),
        ('{"name": "get_weather", "arguments": {\'city\': \'Paris\'}}', "single-quotes"),
        ('{"name": "get_weather", "arguments": "{\'city\': \'Paris\'}"}', "single-quotes"),
        ("[TOOL_CALLS]get_weather[ARGS]{city: 'Paris'}", "single-quotes, unquoted-key"),
        ("get_weather\n{'city': 'Paris'}", "single-quotes"),
        ("<|channel|>commentary to=get_weather<|message|>{'city': 'Paris'}", "single-quotes"),
        ("<function=get_weather>{'city': 'Paris'}</function>", "single-quotes"),
        ("```json\n{'name': 'get_weather', 'arguments': {'city': 'Paris'}}\n```", "single-quotes"),
    ],
)
def test_malformed_json_that_was_read_is_listed(text: str, rule: str, repair: bool) -> None:
    assert read(text, repair=repair) == ([PARIS], [("", f"malformed-json: {rule}")])


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_of_a_call_that_is_written_as_it_should_be_nothing_is_listed(known: Format) -> None:
    found = recover(known.example, None, format=known.name)
    assert found.calls
    assert found.repairs == ()


def test_the_arguments_of_a_call_may_be_a_text_of_json() -> None:
    assert read('{"name": "get_weather", "arguments": "{\\"city\\": \\"Paris\\"}"}') == ([PARIS], [])


def test_what_was_mended_says_what_was_sent_and_what_was_read() -> None:
    text = "<tool_call>{'name': 'get_weather', 'arguments': {'city': 'Paris', 'days': '3'}}</tool_call>"
    sent = {"city": "Paris", "days": "3"}
    assert recover(f"So: {text}", TOOLS).repairs == (
        Repair("", text, sent, "malformed-json: single-quotes"),
        Repair("/days", "3", 3, "number"),
    )


def test_each_call_of_a_malformed_block_tells_of_its_own_part() -> None:
    one, two = (f"{{'name': 'get_weather', 'arguments': {{'city': '{city}'}}}}" for city in "AB")
    found = recover(f"<tool_call>[{one}, {two}]</tool_call>", TOOLS)
    assert [(change.before, change.after) for change in found.repairs] == [(one, {"city": "A"}), (two, {"city": "B"})]


# Tags


@pytest.mark.parametrize("repair", [True, False])
@pytest.mark.parametrize(
    "text",
    [
        "<function=get_weather><parameter=city>Paris</parameter>",
        "<tool_call>get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>",
        ']<]minimax[>[<invoke name="get_weather">]<]minimax[>[<city>Paris]<]minimax[>[</city>',
    ],
)
def test_a_closing_tag_that_never_came_is_listed(text: str, repair: bool) -> None:
    assert read(text, repair=repair) == ([PARIS], [("", "missing-tag")])


def booking(key: str, value: str) -> str:
    return f"<tool_call><function=book><parameter={key}>{value}</parameter></function></tool_call>"


def test_a_text_in_tags_is_read_as_its_schema_says_whether_or_not_it_is_mended() -> None:
    for repair in (True, False):
        assert read(booking("guests", '["Ada", "Bo"]'), repair=repair) == ([{"guests": ["Ada", "Bo"]}], [])


@pytest.mark.parametrize(("value", "rule"), [("['Ada', 'Bo']", "single-quotes"), ('[\\"Ada\\", \\"Bo\\"]', "escape")])
def test_malformed_json_in_tags_is_mended_and_listed_or_left_alone(value: str, rule: str) -> None:
    assert read(booking("guests", value)) == ([{"guests": ["Ada", "Bo"]}], [("/guests", f"malformed-json: {rule}")])
    assert read(booking("guests", value), repair=False) == ([{"guests": value}], [])


@pytest.mark.parametrize(
    ("value", "rules", "left"),
    [
        ('{"place": "Rome"}', [("", "wrapped")], {"place": "Rome"}),
        ("{'place': 'Rome'}", [("/arguments", "malformed-json: single-quotes"), ("", "wrapped")], "{'place': 'Rome'}"),
    ],
)
def test_wrapped_arguments_in_tags_are_unwrapped_and_listed_or_left_alone(
    value: str, rules: list[tuple[str, str]], left: object
) -> None:
    assert read(booking("arguments", value)) == ([{"place": "Rome"}], rules)
    assert read(booking("arguments", value), repair=False) == ([{"arguments": left}], [])


MINICPM = '<function name="get_weather">%s</function>'
WRAPPED = '<param name="arguments">{"city": "Paris"}</param>'
STRAY = '<param name="city">Paris</param><param name="mood">fine</param>'


@pytest.mark.parametrize(
    ("inside", "rules", "sent"),
    [
        (WRAPPED, [("", "wrapped")], {"arguments": PARIS}),
        (STRAY, [("/mood", "stray-key")], {"city": "Paris", "mood": "fine"}),
    ],
)
def test_where_arguments_must_fit_they_are_told_to_as_they_are_meant_and_may_come_as_they_were_sent(
    inside: str, rules: list[tuple[str, str]], sent: dict[str, Any]
) -> None:
    assert read(MINICPM % inside) == ([PARIS], rules)
    assert read(MINICPM % inside, repair=False) == ([sent], [])
    assert read(MINICPM % '<param name="arguments">{"town": "Paris"}</param>', repair=False) == ([], [])
