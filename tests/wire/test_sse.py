import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.vocabulary import BadAnswer
from callgate.wire import SseDecoder
from callgate.wire.sse import LARGEST_EVENT


def events(*pieces: bytes) -> list[bytes]:
    decoder = SseDecoder("a server")
    found = [event for piece in pieces for event in decoder.feed(piece)]
    return found + decoder.close()


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data:a\n\ndata:  b \n\n", [b"a", b" b "]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b": ping\n\n: OPENROUTER PROCESSING\n\ndata: a\n\n", [b"a"]),
        (b"event: message\nid: 7\nretry: 100\ndata: a\n\n", [b"a"]),
        (b"event: ping\n\ndata: a\n\n", [b"a"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b"data: a\n\ndata: b", [b"a", b"b"]),
        (b"data: a\n\ndata: b\n", [b"a", b"b"]),
        (b"data\n\ndatum: a\n\nnothing\n\n", []),
        (b"\n\n\n", []),
        (b'error: {"message":"m"}\n\n', [b'{"error": {"message":"m"}}']),
        (b"", []),
    ],
)
def test_events_are_found_as_servers_write_them(stream: bytes, expected: list[bytes]) -> None:
    assert events(stream) == expected


LINES = st.sampled_from([b"data: one", b"data:two", b"data: \xf0\x9f\xa6\x99", b": c", b"event: x", b"", b"junk"])
ENDS = st.sampled_from([b"\n", b"\r\n", b"\r"])


@given(st.lists(st.tuples(LINES, ENDS), max_size=20), st.data())
def test_it_does_not_matter_where_the_bytes_are_cut(lines: list[tuple[bytes, bytes]], data: st.DataObject) -> None:
    stream = b"".join(line + end for line, end in lines)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=12)))
    pieces = [stream[a:b] for a, b in zip([0, *cuts], [*cuts, len(stream)], strict=True)]
    assert events(*pieces) == events(stream) == events(*(bytes([byte]) for byte in stream))


@given(st.binary(max_size=300))
def test_any_bytes_give_some_events(stream: bytes) -> None:
    for event in events(stream):
        assert b"\r" not in event


def test_an_event_comes_as_soon_as_it_is_whole() -> None:
    decoder = SseDecoder("a server")
    assert decoder.feed(b"data: a\r\n\r") == [b"a"]
    assert decoder.feed(b"\ndata: b\r\n") == []
    assert decoder.feed(b"\r\n") == [b"b"]


def feed_often(decoder: SseDecoder, piece: bytes) -> None:
    for _ in range(LARGEST_EVENT // len(piece) + 2):
        decoder.feed(piece)


def test_a_line_without_end_is_refused() -> None:
    decoder = SseDecoder("a server")
    piece = b"data: " + b"x" * (1 << 20)
    with pytest.raises(BadAnswer, match="a server sent an event of more than 16 MiB"):
        feed_often(decoder, piece)


@pytest.mark.parametrize("line", [b"data: " + b"x" * (1 << 20) + b"\n", b"data:\n" * 100_000])
def test_an_event_of_endlessly_many_lines_is_refused(line: bytes) -> None:
    decoder = SseDecoder("a server")
    with pytest.raises(BadAnswer, match="an event of more than 16 MiB"):
        feed_often(decoder, line)


@given(st.lists(st.sampled_from([b"data: {}\n\n", b"data: a", b"\n\n", b"\r", b": c\n", b"data: b\n\n", b"\n", b"x"])))
def test_whole_events_are_the_same_as_torn_ones(pieces: list[bytes]) -> None:
    decoder, torn = SseDecoder("here"), SseDecoder("here")
    whole = [event for piece in pieces for event in decoder.feed(piece)]
    assert whole == [event for byte in b"".join(pieces) for event in torn.feed(bytes([byte]))]
