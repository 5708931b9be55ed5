import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.vocabulary import BadAnswer
from callgate.wire import Lines


def lines_of(pieces: list[bytes]) -> list[bytes]:
    lines = Lines("the server")
    whole = [line for piece in pieces for line in lines.feed(piece)]
    return [*whole, *filter(None, [lines.close()])]


@given(
    st.lists(st.text().map(str.encode).filter(lambda text: b"\n" not in text and bool(text.strip()))),
    st.data(),
    st.sampled_from([b"\n", b"\r\n", b"\n\n", b"\n \n"]),
)
def test_lines_are_the_same_however_they_are_cut(lines: list[bytes], data: st.DataObject, ending: bytes) -> None:
    sent = b"".join(line + ending for line in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=20)))
    pieces = [sent[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(sent)], strict=True)]
    assert [line.strip() for line in lines_of(pieces)] == [line.strip() for line in lines]


def test_what_has_no_end_yet_is_kept_back() -> None:
    lines = Lines("the server")
    assert lines.feed(b'{"a"') == []
    assert lines.feed(b":1}\n{") == [b'{"a":1}']
    assert lines.close() == b"{"
    assert lines.close() == b""


@pytest.mark.parametrize("pieces", [[b"x" * 21], [b"x" * 7] * 3, [b"x\n" + b"x" * 21 + b"\n"], [b"x" * 20, b"x\n"]])
def test_too_long_a_line_is_a_bad_answer(pieces: list[bytes]) -> None:
    lines = Lines("the server", limit=20)
    with pytest.raises(BadAnswer, match="the server sent a line of more than"):
        [lines.feed(piece) for piece in pieces]


def test_a_line_of_just_the_limit_passes() -> None:
    lines = Lines("the server", limit=20)
    assert lines.feed(b"x" * 20 + b"\n" + b"y" * 20) == [b"x" * 20]
    assert lines.feed(b"\n") == [b"y" * 20]


def test_a_giant_line_byte_by_byte_takes_no_more_than_itself() -> None:
    lines = Lines("the server")
    for _ in range(200_000):
        assert not lines.feed(b"x")
    assert lines.feed(b"\n") == [b"x" * 200_000]
