import pytest

from callgate.vocabulary import Tool
from tests.gate.recovery.reading import PARIS, calls_in, cut

HOLIDAY = Tool(
    "book",
    parameters={
        "type": "object",
        "properties": {
            "place": {"type": "string"},
            "nights": {"type": "integer"},
            "price": {"type": "number"},
            "breakfast": {"type": "boolean"},
            "note": {"type": ["string", "null"]},
            "guests": {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "null"}]},
            "room": {"$ref": "#/$defs/Room"},
        },
        "required": ["place"],
        "$defs": {"Room": {"type": "object", "properties": {"beds": {"type": "integer"}}}},
    },
)


DSML = (
    '<｜DSML｜invoke name="book"><｜DSML｜parameter name="place" string="true">Rome</｜DSML｜parameter>'
    '<｜DSML｜parameter name="nights" string="true">2</｜DSML｜parameter></｜DSML｜invoke>'
)


ORPHANS = (
    "<tool_call>book<arg_key>note</arg_key><arg_key>place</arg_key>Rome</arg_value>"
    "<arg_key>nights</arg_key><arg_value>2</arg_value><arg_key>price</arg_key></tool_call>"
)


def booked(text: str) -> list[dict[str, object]]:
    found = calls_in(text, (HOLIDAY,))
    assert calls_in(cut(text, 3), (HOLIDAY,)) == found
    return [arguments for _, arguments in found]


def qwen(**parameters: str) -> str:
    inside = "".join(f"<parameter={key}>\n{value}\n</parameter>\n" for key, value in parameters.items())
    return f"<tool_call>\n<function=book>\n{inside}</function>\n</tool_call>"


def glm(**parameters: str) -> str:
    inside = "".join(f"<arg_key>{key}</arg_key>\n<arg_value>{value}</arg_value>\n" for key, value in parameters.items())
    return f"<tool_call>book\n{inside}</tool_call>"


@pytest.mark.parametrize("written", [qwen, glm])
@pytest.mark.parametrize(
    ("key", "text", "meant"),
    [
        ("place", "Rome", "Rome"),
        ("place", "00713", "00713"),
        ("place", "true", "true"),
        ("place", '"Rome"', '"Rome"'),
        ("place", "a < b && c > d", "a < b && c > d"),
        ("place", "{not: json}", "{not: json}"),
        ("nights", "3", 3),
        ("nights", " 3 ", 3),
        ("nights", "007", 7),
        ("nights", "0" * 5000, "0" * 5000),
        ("nights", "three", "three"),
        ("price", "12.5", 12.5),
        ("breakfast", "true", True),
        ("breakfast", "FALSE", False),
        ("note", "null", None),
        ("note", "none", "none"),
        ("guests", '["Ada", "Bo"]', ["Ada", "Bo"]),
        ("guests", "['Ada', 'Bo']", ["Ada", "Bo"]),
        ("guests", '[\\"Ada\\"]', ["Ada"]),
        ("guests", "null", None),
        ("room", '{"beds": 2}', {"beds": 2}),
    ],
)
def test_a_text_becomes_what_the_schema_says(written: object, key: str, text: str, meant: object) -> None:
    assert callable(written)
    assert booked(written(**{key: text})) == [{key: meant}]


def test_of_the_line_breaks_around_a_value_one_on_each_side_belongs_to_the_tags() -> None:
    assert booked(qwen(place="\n  Rome\n")) == [{"place": "\n  Rome\n"}]
    assert booked(glm(place="  Rome\n")) == [{"place": "  Rome\n"}]


def test_tags_inside_of_a_value_are_part_of_it() -> None:
    text = '<function name="book"><param name="place"><![CDATA[<a>Rome</param>]]></param></function>'
    assert booked(text) == [{"place": "<a>Rome</param>"}]
    assert booked(qwen(place="<b>Rome</b>")) == [{"place": "<b>Rome</b>"}]
    assert booked(qwen(place="a </function> b")) == [{"place": "a </function> b"}]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call><function=book><parameter=place>Rome<parameter=nights>2</parameter></function></tool_call>",
        "<tool_call><function=book><parameter=place>Rome</parameter><parameter=nights>2</function></tool_call>",
        "<function=book><parameter=place>Rome</parameter><parameter=nights>2</parameter></function>",
        "<tool_call><function=book><parameter=place>Rome</parameter><parameter=nights>2</parameter>",
        '<invoke name="book"><parameter name="place">Rome</parameter><parameter name="nights">2</parameter></invoke>',
        '<invoke name=\'book\'>{"place": "Rome", "nights": 2}</invoke>',
        DSML,
        ORPHANS,
        '<function name="book"><param name="place"><![CDATA[Rome]]></param><param name="nights">2</param></function>',
        '<functionname="book"><paramname="place">Rome</param><paramname="nights">2</param></function>',
        '<function name="book"><param name="arguments">{"place": "Rome", "nights": 2}</param></function>',
        "<tool_call>book<arg_key>place</arg_key><arg_value>Rome<arg_key>nights</arg_key><arg_value>2</arg_value></tool_",
        '<tool_call>book\n{"place": "Rome", "nights": 2}</tool_call>',
    ],
)
def test_what_is_missing_or_misplaced_does_no_harm(text: str) -> None:
    assert booked(text) == [{"place": "Rome", "nights": 2}]


@pytest.mark.parametrize(
    "text",
    [
        "<tool_call><function=book><parameter=place>Ro",
        "<tool_call>book<arg_key>place</arg_key><arg_value>Ro",
        "<tool_call>book<arg_key>place",
        "<tool_call><function=></function></tool_call>",
        "<function=book> takes a place.",
        '<function name="book"><param name="place">Rome</param><param name="place">Oslo</param></function>',
        '<function name="book"><param>Rome</param></function>',
        '<function name="book"><param name="nights">2</param></function>',
        "<tool_call>book a room</tool_call>",
    ],
)
def test_this_is_no_call(text: str) -> None:
    assert booked(text) == []


def test_without_a_schema_a_text_is_what_it_looks_like() -> None:
    text = "<function=f><parameter=a>1</parameter><parameter=b>x</parameter><parameter=c>[1, 2]</parameter></function>"
    assert calls_in(text, None) == [("f", {"a": 1, "b": "x", "c": [1, 2]})]


def test_what_the_model_says_of_a_type_counts_where_there_is_no_schema() -> None:
    text = (
        '<|open|>call tool="a&amp;b" index="1"<|sep|>'
        '<|open|>argument key="n" type="number"<|sep|>1<|close|>argument<|sep|>'
        '<|open|>argument key="s" type="string"<|sep|>1<|close|>argument<|sep|><|close|>call<|sep|>'
    )
    assert calls_in(text, None) == [("a&b", {"n": 1, "s": "1"})]


def test_elements_in_elements_are_objects_and_arrays() -> None:
    mark = "]<]minimax[>[<"
    inside = (
        f"{mark}guests>{mark}item>Ada{mark}/item>{mark}item>Bo{mark}/item>{mark}/guests>"
        f"{mark}room>{mark}beds>2{mark}/beds>{mark}/room>{mark}nights>3{mark}/nights>"
    )
    text = f'{mark}tool_call>{mark}invoke name="book">{inside}{mark}/invoke>{mark}/tool_call>'
    assert booked(text) == [{"guests": ["Ada", "Bo"], "room": {"beds": 2}, "nights": 3}]


def test_elements_of_one_name_are_an_array() -> None:
    mark = "]<]minimax[>[<"

    def element(name: str, inside: str) -> str:
        return f"{mark}{name}>{inside}{mark}/{name}>"

    lists = element("x", element("item", "1") + element("item", "2")) + element("x", element("item", "3"))
    inside = element("room", element("bed", "a") + element("bed", "b") + element("bath", "c") + lists)
    text = f'{mark}invoke name="book">{inside}{mark}/invoke>'
    assert calls_in(text, None) == [("book", {"room": {"bed": ["a", "b"], "bath": "c", "x": [[1, 2], [3]]}})]


def test_an_empty_element_is_a_call_without_arguments() -> None:
    assert calls_in('<｜DSML｜tool_calls><｜DSML｜invoke name="get_time"/></｜DSML｜tool_calls>') == [("get_time", {})]
    assert calls_in("<tool_call>get_time</tool_call>") == [("get_time", {})]


def test_paris_is_paris_in_both() -> None:
    assert calls_in("<function=get_weather><parameter=city>Paris</parameter></function>") == PARIS


@pytest.mark.parametrize(
    "text",
    [
        qwen(place="Rome").replace("</function>\n", ""),
        qwen(place="Rome").replace("</function>\n", "") + "\n" + qwen(place="Rome"),
        '<minimax:tool_call><invoke name="book"><parameter name="place">Rome</parameter></minimax:tool_call>',
    ],
)
def test_a_call_whose_own_end_was_forgotten_ends_with_what_stands_around_it(text: str) -> None:
    assert booked(text) == [{"place": "Rome"}] * text.count("Rome")


def test_words_behind_a_parameter_show_that_it_is_no_call() -> None:
    assert booked(qwen(place="Rome").replace("</function>", "and so on </b>")) == []
