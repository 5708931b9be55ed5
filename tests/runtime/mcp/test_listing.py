from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from callgate.runtime.mcp.listing import LONGEST_DESCRIPTION, Listing
from tests.runtime.mcp.test_servers_file import json_values

entries = st.fixed_dictionaries(
    {},
    optional={
        "name": st.text(max_size=8) | json_values,
        "description": st.text(max_size=20) | json_values,
        "inputSchema": st.just({"type": "object"}) | json_values,
        "title": json_values,
        "annotations": json_values,
    },
)


@given(st.lists(st.lists(entries | json_values, max_size=6) | json_values, max_size=3))
@settings(deadline=None)
def test_of_any_list_the_tools_that_are_left_can_be_used(pages: list[object]) -> None:
    listing = Listing("s")
    for page in pages:
        listing.add(page)
    assert len({tool.name for tool in listing.tools}) == len(listing.tools)
    for tool in listing.tools:
        assert tool.name.strip()
        assert tool.name.isprintable()
        assert tool.parameters["type"] == "object"
    assert all(notice.isprintable() for notice in listing.notices)
    if sum(len(page) for page in pages if isinstance(page, list)) > len(listing.tools):
        assert listing.notices


def test_a_description_is_taken_from_where_there_is_one_and_cut() -> None:
    listing = Listing("s")
    schema = {"type": "object"}
    listing.add(
        [
            {"name": "a", "inputSchema": schema, "title": "A title"},
            {"name": "b", "inputSchema": schema, "description": " ", "annotations": {"title": "Another"}},
            {"name": "c", "inputSchema": schema, "description": "\x1b[31m" + "x" * 100_000},
        ]
    )
    a, b, c = listing.tools
    assert (a.description, b.description) == ("A title", "Another")
    assert c.description.startswith(" [31mxxx")
    assert len(c.description) == LONGEST_DESCRIPTION + 1


def test_many_that_are_left_out_are_counted_and_not_all_named() -> None:
    listing = Listing("s")
    listing.add([{"name": f"t{number}"} for number in range(100)])
    assert len(listing.notices) == 21
    assert listing.notices[-1] == "… and 80 more tools of 's' are left out"
