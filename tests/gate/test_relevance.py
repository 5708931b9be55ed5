from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.relevance import LONGEST_SAID, Relevance, words_in
from callgate.vocabulary import Tool

TOOLS = (
    Tool("get_weather", "The weather at a place", {"type": "object", "properties": {"city": {"type": "string"}}}),
    Tool("readFile", "Reads a file from disk", {"type": "object", "properties": {"path": {"type": "string"}}}),
    Tool("mcp__git__create_issue", "Opens an issue in a repository", {"properties": {"title": {}, "body": {}}}),
    Tool("查询天气", "查询某个城市的天气预报"),
)


def best(said: str) -> str | None:
    scores = Relevance(TOOLS).scores(said)
    return TOOLS[max(scores, key=lambda place: scores[place])].name if scores else None


def test_words_are_told_apart_however_they_are_joined_and_ended() -> None:
    assert list(words_in("readFile read_files READING-file")) == ["read", "fil", "read", "fil", "read", "fil"]
    assert list(words_in("Calculates calculator calculating")) == ["calcul"] * 3
    assert list(words_in("what is the HTTPServer2")) == ["http", "serv", "2"]
    assert list(words_in("天气预报")) == ["天气", "气预", "预报"]


def test_the_tool_that_is_meant_scores_best() -> None:
    assert best("What will the weather be in Rome?") == "get_weather"
    assert best("please read me the files in src") == "readFile"
    assert best("report that as an issue") == "mcp__git__create_issue"
    assert best("which city?") == "get_weather", "by the name of a parameter"
    assert best("北京的天气怎么样") == "查询天气"
    assert best("go on, and thank you") is None


def test_a_name_counts_for_more_than_a_description() -> None:
    tools = (Tool("a", "forecast of the tide"), Tool("forecast", "of the tide"), Tool("b", "of nothing at all"))
    scores = Relevance(tools).scores("forecast")
    assert scores[1] > scores[0] > 0
    assert 2 not in scores


def test_of_what_is_long_its_start_and_its_end_are_read() -> None:
    relevance = Relevance(TOOLS)
    assert 0 in relevance.scores("x " * LONGEST_SAID + "the weather")
    assert 0 in relevance.scores("the weather" + " x" * LONGEST_SAID)
    assert 0 not in relevance.scores("x " * LONGEST_SAID + "the weather" + " x" * LONGEST_SAID)


@given(st.lists(st.builds(Tool, st.text(), st.text()), max_size=5), st.lists(st.text(), max_size=5))
def test_any_words_are_weighed_the_same_each_time(tools: list[Tool], said: list[str]) -> None:
    relevance, other = Relevance(tools), Relevance(tools)
    for text in said * 2:
        scores = relevance.scores(text)
        assert scores == other.scores(text)
        assert all(score > 0 and 0 <= place < len(tools) for place, score in scores.items())
