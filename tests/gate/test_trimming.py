from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from callgate.gate import Policy, plan
from callgate.gate.trimming import REPLAYED, trimmed
from callgate.vocabulary import Answer, Capabilities, ChatRequest, Means, Message, Tool, ToolCall

NATIVE = Capabilities(name="m", tools=Answer.YES, native_route=Answer.YES)
WITHOUT = Capabilities(name="m", tools=Answer.NO)
WORDS = (
    "weather",
    "files",
    "issues",
    "mail",
    "music",
    "maps",
    "stocks",
    "flights",
    "recipes",
    "news",
    "photos",
    "calendar",
)
TOOLS = tuple(Tool(f"use_{word}", f"Does something with {word}") for word in WORDS)


def user(text: str) -> Message:
    return Message(role="user", content=text)


def called(name: str) -> tuple[Message, Message]:
    call = Message(role="assistant", calls=(ToolCall("c", name, {}),))
    return call, Message(role="tool", content="done", call_id="c")


def kept(*messages: Message, most: int = 3, tools: tuple[Tool, ...] = TOOLS) -> list[str]:
    return [tool.name.removeprefix("use_") for tool in trimmed(tools, messages, most).tools]


def test_those_stay_that_the_user_means_in_the_order_in_which_they_came() -> None:
    assert kept(user("any news or mail, and how is the weather?")) == ["weather", "mail", "news"]
    assert kept(user("photos, please")) == ["weather", "files", "photos"], "and the first, as nothing else tells"
    assert kept() == ["weather", "files", "issues"]


def test_few_tools_are_left_alone() -> None:
    assert trimmed(TOOLS, [user("news")], len(TOOLS)).tools is TOOLS
    assert trimmed(TOOLS, [user("news")], len(TOOLS)).notices == ()


def test_what_was_cut_is_named() -> None:
    (notice,) = trimmed(TOOLS, [user("news")], 10).notices
    assert notice.kind == "tools_trimmed"
    assert notice.message.startswith("2 of 12 tools weren't offered")
    assert notice.message.endswith(": 'use_photos', 'use_calendar'")


def test_a_tool_that_was_called_is_never_cut() -> None:
    talk = (user("play music"), *called("use_music"), user("mail, news and weather"))
    assert kept(*talk) == ["weather", "mail", "music", "news"], "those that are meant come in all the same"
    assert kept(user("hello"), *called("use_calendar"), most=1) == ["weather", "calendar"]


def test_results_and_small_talk_change_nothing() -> None:
    talk = [user("play music")]
    at_first = kept(*talk)
    for more in (
        *called("use_music"),
        Message(role="assistant", content="news mail flights"),
        user("go on, please"),
        user("thanks, that was something"),
        user("<system-reminder>flights, mail and stocks</system-reminder> yes <system-reminder>news"),
        Message(role="tool", content="mail: flights, recipes", call_id="other"),
    ):
        talk.append(more)
        assert kept(*talk) == at_first


def test_what_the_user_says_next_takes_the_places_of_what_nobody_meant() -> None:
    assert kept(user("play music")) == ["weather", "files", "music"]
    assert kept(user("play music"), user("read the news")) == ["weather", "music", "news"]
    assert kept(user("play music"), user("read the news"), user("and the mail")) == ["mail", "music", "news"]
    there = kept(user("play music"), user("the news"), user("the mail"), user("and the photos"))
    assert there == ["mail", "news", "photos"], "what was meant longest ago goes first"


def test_a_word_that_a_description_has_by_chance_brings_no_tool_in() -> None:
    tools = (
        *TOOLS,
        Tool("other", "A long text which says among many other things that work can be great fun at times"),
    )
    assert kept(user("play music"), user("great"), tools=tools) == kept(user("play music"), tools=tools)


def test_a_tool_that_must_be_called_is_offered() -> None:
    request = ChatRequest(model="m", messages=(user("weather"),), tools=TOOLS, tool_choice="use_calendar")
    planned = plan(request, NATIVE, Means(tool_choice=True), Policy(tool_limit=2))
    assert [tool.name for tool in planned.request.tools] == ["use_calendar"]
    assert planned.trimmed == 0


def test_a_plan_tells_of_cuts_in_every_mode() -> None:
    request = ChatRequest(model="m", messages=(user("any news?"),), tools=TOOLS)
    native = plan(request, NATIVE, Means(), Policy(tool_limit=2))
    assert [tool.name for tool in native.request.tools] == ["use_weather", "use_news"]
    emulated = plan(request, WITHOUT, Means(), Policy(tool_limit=2))
    told = emulated.request.messages[0].content
    assert "use_news" in told
    assert "use_mail" not in told
    for planned in (native, emulated):
        assert planned.trimmed == 10
        assert "tools_trimmed" in [notice.kind for notice in planned.notices]
    off = plan(request, WITHOUT, Means(), Policy(tool_limit=2, when_unsupported="off"))
    assert (off.trimmed, [notice.kind for notice in off.notices]) == (0, ["tools_off"])
    assert plan(request, NATIVE, Means(), Policy()).request.tools == TOOLS


def test_a_long_talk_is_read_from_somewhere_that_seldom_moves() -> None:
    talk = [user("play music"), *(user(f"well {number}") for number in range(4 * REPLAYED))]
    selections = [tuple(kept(*talk[:length])) for length in range(1, len(talk))]
    changes = [at for at, (one, other) in enumerate(pairwise(selections)) if one != other]
    assert len(changes) <= 1


@given(st.data())
def test_whatever_is_said_the_selection_is_as_it_should_be(data: st.DataObject) -> None:
    tools = data.draw(st.lists(st.builds(Tool, st.text(), st.text()), max_size=8, unique_by=lambda tool: tool.name))
    names = st.sampled_from([tool.name for tool in tools] or ["x"])
    message = st.one_of(st.builds(user, st.text()), names.map(lambda name: called(name)[0]))
    messages = data.draw(st.lists(message, max_size=8))
    most = data.draw(st.integers(1, 9))
    done = trimmed(tuple(tools), messages, most)
    assert done == trimmed(tuple(tools), messages, most)
    assert sorted([tool.name for tool in done.tools] + list(done.cut)) == sorted(tool.name for tool in tools)
    assert list(done.tools) == [tool for tool in tools if tool in done.tools]
    used = {call.name for message in messages for call in message.calls}
    assert not used & set(done.cut)
    assert len(done.tools) <= most + len(used)
    assert len(done.tools) >= min(most, len(tools))
