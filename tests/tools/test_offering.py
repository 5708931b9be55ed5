from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools import Names, Offered, offer
from callgate.vocabulary import Tool, UsageError

ADD, SEARCH = Tool("add"), Tool("search", "Finds pages.")
MAIL = Tool("search", "Finds mail.")


def test_names_of_one_source_alone_stay_as_they_are() -> None:
    assert offer({"calculator": [ADD], "web": [SEARCH]}) == (
        Offered("add", "calculator", ADD),
        Offered("search", "web", SEARCH),
    )


def test_a_name_that_two_sources_have_gets_the_source_in_front_for_both() -> None:
    web, mail, add = offer({"web": [SEARCH], "mail": [MAIL, ADD]})
    assert [web.name, mail.name, add.name] == ["web_search", "mail_search", "add"]
    assert (web.tool, mail.tool) == (SEARCH, MAIL)
    assert mail.renamed == Tool("mail_search", "Finds mail.")
    assert add.renamed is ADD


def test_two_tools_of_one_name_in_one_source_are_refused() -> None:
    with pytest.raises(UsageError, match="'web' has two tools called 'search'"):
        offer({"web": [SEARCH, MAIL]})


def test_names_that_are_alike_even_with_their_sources_are_refused() -> None:
    with pytest.raises(UsageError, match="'web_search'"):
        offer({"web": [SEARCH], "mail": [MAIL], "other": [Tool("web_search")]})


sources = st.dictionaries(
    st.text("ab_", max_size=3), st.lists(st.text("ab_", min_size=1, max_size=3).map(Tool), max_size=4), max_size=4
)


@given(sources)
def test_whatever_is_offered_can_be_told_apart_and_called(sources: dict[str, list[Tool]]) -> None:
    try:
        offered = offer(sources)
    except UsageError:
        return
    assert len({one.name for one in offered}) == len(offered) == sum(map(len, sources.values()))
    names = Names([one.renamed for one in offered])
    for one in offered:
        found = names.resolve(names.sent(one.name))
        assert found is not None
        assert found.name == one.name
