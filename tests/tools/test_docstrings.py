from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.tools.docstrings import Docs, read_docstring

EXPECTED = Docs("Tells the weather.\n\nFor any town.", {"city": "the town, or a place near it", "days": "how many"})


@pytest.mark.parametrize(
    "text",
    [
        """Tells the weather.

        For any town.

        Args:
            city (str): the town,
                or a place near it
            days (dict[str, tuple(int)], optional): how many

        Returns:
            nothing: of note
        """,
        """Tells the weather.

        For any town.

        Parameters
        ----------
        city : str
            the town,
            or a place near it
        days : int, optional
            how many

        Returns
        -------
        nothing
            of note
        """,
        """Tells the weather.

        For any town.

        :param str city: the town,
            or a place near it
        :type city: str
        :param days: how many
        :returns: nothing
        """,
        """Tells the weather.

        For any town.

        @param city: the town, or a place near it
        @param days: how many
        @return: nothing
        """,
    ],
    ids=["Google", "NumPy", "Sphinx", "Epydoc"],
)
def test_each_form_says_the_same(text: str) -> None:
    assert read_docstring(text) == EXPECTED


def test_several_names_share_what_is_said_of_them() -> None:
    docs = read_docstring("Adds.\n\nParameters\n----------\na, b : float\n    a number\n*more\n    others")
    assert docs.parameters == {"a": "a number", "b": "a number", "more": "others"}


def test_text_that_only_looks_like_a_section_is_description() -> None:
    text = "Notes are kept.\nArgs go here: see below\nNote\nReturns"
    assert read_docstring(text) == Docs(text)


def test_a_docstring_may_have_nothing_but_parameters() -> None:
    assert read_docstring("""Args:
        a: first
        b: second

    Returns:
        c: nothing
    """) == Docs("", {"a": "first", "b": "second"})


@pytest.mark.parametrize("text", [None, "", "  \n "])
def test_no_docstring_says_nothing(text: str | None) -> None:
    assert read_docstring(text) == Docs()


lines = st.sampled_from(
    ["Args:", "Parameters", "-----", "    a: b", ":param a: b", "", "  a : int", "text", "Returns:", "@x"]
)


@given(st.text(max_size=200) | st.lists(lines, max_size=12).map("\n".join))
def test_any_text_is_read(text: str) -> None:
    docs = read_docstring(text)
    assert all(said and name for name, said in docs.parameters.items())


@pytest.mark.parametrize(
    "line", ["    a: b\n", ":param " + "a " * 50 + "\n", "    " + "(" * 200 + "\n", "    a (" * 60 + "\n"]
)
def test_of_a_docstring_without_end_only_the_start_is_read(line: str) -> None:
    docs = read_docstring("Adds.\n\nArgs:\n    early: yes\n" + line * 20_000 + "    late: no\n")
    assert docs.parameters["early"] == "yes"
    assert "late" not in docs.parameters
