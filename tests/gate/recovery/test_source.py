import re
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gate.recovery.finders import Finder
from callgate.gate.recovery.source import Reading, Source, TooLong
from tests.gate.recovery.reading import cut

LETTERS = re.compile(r"[a-z]*")
END = Finder(("<end>", "<e>", "<en", "word"))


def after(chunks: Iterable[str], reader: Callable[[Source], Reading[object]]) -> tuple[object, str]:
    """What a reader finds in a text, and what it has passed then."""
    source = Source()
    reading = reader(source)
    try:
        for chunk in chunks:
            source.feed(chunk)
            next(reading)
        source.ended = True
        next(reading)
    except StopIteration as done:
        return done.value, source.raw()
    except TooLong:
        return TooLong, source.raw()
    raise AssertionError("it waits for more than there is")


READERS: dict[str, Callable[[Source], Reading[object]]] = {
    "letters": lambda source: source.while_in(LETTERS),
    "few letters": lambda source: source.while_in(LETTERS, 5),
    "until": lambda source: source.until(END),
    "soon until": lambda source: source.until(END, 5),
    "take": lambda source: source.take(END),
    "take end": lambda source: source.take_end(END),
    "take nothing": lambda source: source.take(Finder(())),
    "blank": lambda source: source.skip_blank(),
    "ahead": lambda source: source.ahead(3),
}


@pytest.mark.parametrize("name", READERS)
@given(text=st.lists(st.sampled_from(["<end>", "<e", "<", "n", "word", "a", " ", "aaaaaa"]), max_size=8).map("".join))
def test_what_is_found_and_passed_follows_from_the_text_alone(name: str, text: str) -> None:
    whole = after([text], READERS[name])
    for size in (1, 2, 3, 5):
        assert after(cut(text, size), READERS[name]) == whole


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_bound_is_exact(size: int) -> None:
    assert after(cut("abcde<end>f", size), READERS["few letters"]) == ("abcde", "abcde")
    assert after(cut("abcdef<end>", size), READERS["few letters"]) == (TooLong, "abcdef")
    assert after(cut("abcde<end>f", size), READERS["soon until"]) == (("abcde", "<end>"), "abcde<end>")
    assert after(cut("abcdef<end>", size), READERS["soon until"]) == (TooLong, "abcdef")


@pytest.mark.parametrize("size", [1, 2, 100])
def test_a_word_begins_where_no_letter_stands_before_it(size: int) -> None:
    def behind(before: str) -> tuple[object, str]:
        def reader(source: Source) -> Reading[str]:
            yield from source.ahead(len(before))
            source.at += len(before)
            return (yield from source.take(END))

        return after(cut(f"{before}word.", size), reader)

    assert behind(". ") == ("word", ". word")
    assert behind(" x") == ("", " x")


def test_going_back_forgets_neither_the_place_nor_the_character_before_it() -> None:
    source = Source()
    source.feed("x")
    source.at = 1
    assert source.release() == "x"
    for char in "word":
        source.feed(char)
        source.at += 1
    source.back()
    assert (source.text[source.at :], source.held(), source.reached()) == ("word", 0, 4)
    assert next(iter(source.take(END)), None) is None
    assert source.held() == 0
    source.feed(" word")
    source.at += len("word ")
    with pytest.raises(StopIteration) as done:
        next(source.take(Finder(("word", "other"))))
    assert done.value.value == "word"


@given(st.lists(st.text("ab", max_size=4), max_size=8), st.data())
def test_what_was_read_can_be_had_from_any_place_on(chunks: list[str], data: st.DataObject) -> None:
    source = Source()
    for chunk in chunks:
        source.feed(chunk)
        source.at += data.draw(st.integers(0, len(source.text) - source.at))
    held = "".join(chunks)[: source.held()]
    since = data.draw(st.integers(0, len(held)))
    assert (source.raw(), source.raw(since)) == (held, held[since:])
    source.back(since)
    assert (source.held(), source.text[source.at :]) == (since, "".join(chunks)[since:])


def test_a_search_counts_what_was_searched_and_no_more_is() -> None:
    source = Source()
    source.feed("a" * 1000)
    before = source.steps
    with pytest.raises(TooLong):
        next(source.until(END, 10))
    assert source.steps - before <= 10 + 1 + END.longest
