import pytest

from callgate.gate.recovery import FORMATS, Format, formats_for
from callgate.gate.recovery.formats import KNOWN
from tests.gate.recovery.reading import TOOLS, calls_in, cut, pieces_of, words_in

each_format = pytest.mark.parametrize("known", KNOWN, ids=[known.name for known in KNOWN])

MEANT: tuple[list[tuple[str, dict[str, object]]], ...] = ([("get_weather", {"city": "Paris"})], [("get_time", {})])


@each_format
def test_the_example_of_each_format_is_a_call_whatever_is_known(known: Format) -> None:
    for formats in (None, (known,)):
        assert calls_in(known.example, TOOLS, formats) in MEANT


@each_format
def test_the_example_of_each_format_is_a_call_wherever_it_is_cut(known: Format) -> None:
    whole = pieces_of(known.example)
    for size in (1, 2, 3, 7):
        assert pieces_of(cut(known.example, size)) == whole


@each_format
def test_the_example_of_each_format_leaves_no_words(known: Format) -> None:
    assert words_in(pieces_of(known.example)).strip() == ""


@each_format
def test_the_example_of_each_format_is_text_where_its_tool_is_not_offered(known: Format) -> None:
    pieces = pieces_of(known.example, ())
    assert calls_in(known.example, ()) == []
    assert "".join(piece.raw for piece in pieces) == known.example


@each_format
def test_a_call_behind_words_and_one_behind_that_are_both_found(known: Format) -> None:
    text = f"I look.\n{known.example}\n{known.example}"
    meant = calls_in(known.example)
    assert calls_in(text) == meant + meant


@each_format
def test_thinking_about_a_call_is_no_call(known: Format) -> None:
    text = f"<think>I could write {known.example} here, or not.</think>No."
    assert calls_in(text) == []


def test_there_is_a_format_for_everything_and_one_for_nothing() -> None:
    for known in KNOWN:
        assert calls_in(known.example, TOOLS, (FORMATS["ollama_generic"],)) in MEANT
        assert calls_in(known.example, TOOLS, (FORMATS["plain_no_tools"],)) == []


def test_a_template_says_which_formats_are_tried() -> None:
    found = formats_for("{{ '<tool_call>' }}<arg_key>", None)
    assert FORMATS["glm4.5+_xml"] in found
    assert FORMATS["mistral"] not in found


def test_the_most_usual_format_is_always_tried() -> None:
    assert FORMATS["hermes_json"] in formats_for("[TOOL_CALLS]", None)


def test_a_family_says_it_where_the_template_does_not() -> None:
    assert FORMATS["kimi_k2"] in formats_for("no marks", "Kimi")
    assert FORMATS["mistral"] not in formats_for(None, "kimi")


def test_all_are_tried_where_nothing_is_known() -> None:
    assert formats_for(None, None) == formats_for("", "") == formats_for("no marks", "nobody's") == KNOWN
