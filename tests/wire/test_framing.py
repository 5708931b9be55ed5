import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.wire.framing import LARGEST_HEAD, Chunked, Head, NotHttp, Sized, UntilClosed, read_head

bodies = st.lists(st.binary(min_size=1, max_size=50), max_size=8)


def head(*lines: str, status: str = "HTTP/1.1 200 OK") -> Head:
    return read_head("\r\n".join((status, *lines)).encode())


def cut(data: bytes, places: list[int]) -> list[bytes]:
    stops = sorted(place % (len(data) + 1) for place in places)
    return [data[start:stop] for start, stop in zip([0, *stops], [*stops, len(data)], strict=True)]


def chunked(pieces: list[bytes], trailers: bytes = b"") -> bytes:
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n" + trailers + b"\r\n"


def test_a_head_is_its_status_and_its_headers() -> None:
    found = head("Content-Type: text/html", "x-Two: a", "X-Two:  b ")
    assert found.status == 200
    assert found.headers == {"content-type": "text/html", "x-two": "a, b"}
    assert found.is_kept


@pytest.mark.parametrize(
    ("status", "line", "is_kept"),
    [
        ("HTTP/1.1 200 OK", "Connection: close", False),
        ("HTTP/1.1 200", "Connection: Keep-Alive", True),
        ("HTTP/1.0 200 OK", "X: y", False),
        ("HTTP/1.0 200 OK", "Connection: keep-alive", True),
    ],
)
def test_a_head_says_whether_the_connection_is_kept(status: str, line: str, is_kept: bool) -> None:
    assert head(line, status=status).is_kept is is_kept


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"220 smtp.example.org ESMTP",
        b"HTTP/2 200 OK",
        b"HTTP/1.1 20 OK",
        b"HTTP/1.1 200 OK\r\nno colon",
        b"HTTP/1.1 200 OK\r\n folded: line",
        b"HTTP/1.1 200 OK\r\nname : value",
        b"HTTP/1.1 200 OK\r\nname: va\rlue",
        b"HTTP/1.1 200 OK\r\nname: va\nlue",
    ],
)
def test_what_is_no_head_is_refused(data: bytes) -> None:
    with pytest.raises(NotHttp):
        read_head(data)


@pytest.mark.parametrize(
    "lines",
    [
        ("Content-Length: 5", "Content-Length: 6"),
        ("Content-Length: -5",),
        ("Content-Length: +5",),
        ("Content-Length: 0x5",),
        ("Content-Length: ٥",),
        ("Content-Length: 9999999999999999999",),
        ("Content-Length: 5", "Transfer-Encoding: chunked"),
        ("Transfer-Encoding: gzip",),
        ("Transfer-Encoding: gzip, chunked",),
    ],
)
def test_a_body_that_ends_in_no_known_way_is_refused(lines: tuple[str, ...]) -> None:
    with pytest.raises(NotHttp):
        head(*lines).new_framing()


def test_the_head_says_how_the_body_ends() -> None:
    assert isinstance(head("Content-Length: 5").new_framing(), Sized)
    assert isinstance(head("Transfer-Encoding: Chunked").new_framing(), Chunked)
    assert isinstance(head().new_framing(), UntilClosed)
    assert head("Content-Length: 0").new_framing().is_over
    assert head(status="HTTP/1.1 204 No Content").new_framing().is_over
    assert head("Content-Length: 5", status="HTTP/1.1 304 Not Modified").new_framing().is_over


@given(st.binary(min_size=1, max_size=100), st.binary(max_size=10), st.lists(st.integers(0, 200), max_size=5))
def test_a_sized_body_ends_where_it_says(body: bytes, more: bytes, places: list[int]) -> None:
    framing = Sized(len(body))
    found = b""
    for piece in cut(body, places):
        found += framing.feed(piece)
    assert found == body
    assert framing.is_over
    framing.close()
    if more:
        with pytest.raises(NotHttp):
            framing.feed(more)


@given(
    bodies, st.lists(st.integers(0, 1000), max_size=12), st.sampled_from([b"", b"X-Sum: 1\r\n", b"A: b\r\nC: d\r\n"])
)
def test_a_chunked_body_is_the_same_however_it_is_torn(pieces: list[bytes], places: list[int], trailers: bytes) -> None:
    framing = Chunked()
    found = b""
    for part in cut(chunked(pieces, trailers), places):
        if part:
            assert not framing.is_over
            found += framing.feed(part)
    assert found == b"".join(pieces)
    assert framing.is_over
    assert framing.left_over == b""
    framing.close()


@given(bodies, st.binary(min_size=1, max_size=10))
def test_what_follows_a_body_is_told_apart_from_it(pieces: list[bytes], more: bytes) -> None:
    framing = Chunked()
    assert framing.feed(chunked(pieces) + more) == b"".join(pieces)
    assert framing.left_over == more


@given(bodies, st.integers(1, 10))
def test_a_chunked_body_that_breaks_off_is_not_whole(pieces: list[bytes], missing: int) -> None:
    framing = Chunked()
    whole = chunked(pieces)
    framing.feed(whole[: max(0, len(whole) - missing)])
    assert not framing.is_over
    with pytest.raises(NotHttp):
        framing.close()


@pytest.mark.parametrize(
    "data",
    [
        b"-1\r\n",
        b"+1\r\n",
        b"0x1\r\n",
        b"1_0\r\n",
        b" 1\r\n",
        b"\r\n",
        b"fffffffffffffffff\r\n",
        b"3\r\nabcd\r\n",
        b"3\r\nabc0\r\n\r\n",
        b"1" * 300,
        b"1;" + b"x" * 300 + b"\r\n",
    ],
)
def test_sizes_that_are_none_are_refused(data: bytes) -> None:
    with pytest.raises(NotHttp):
        Chunked().feed(data)


def test_what_a_server_adds_to_a_size_is_passed_over() -> None:
    assert Chunked().feed(b"3;name=value\r\nabc\r\n3 \r\ndef\r\n0\r\n\r\n") == b"abcdef"
    assert Chunked().feed(b"0003\r\nabc\r\nA\r\n0123456789\r\n") == b"abc0123456789"


@pytest.mark.parametrize("piece", [b"x" * 100, b"Name: value\r\n"])
def test_endless_trailers_are_refused(piece: bytes) -> None:
    framing = Chunked()

    def trail() -> None:
        framing.feed(b"0\r\n")
        for _ in range(LARGEST_HEAD):
            framing.feed(piece)

    with pytest.raises(NotHttp):
        trail()


@given(st.lists(st.binary(max_size=60), max_size=10))
def test_whatever_comes_is_a_body_or_refused(parts: list[bytes]) -> None:
    framing = Chunked()
    try:
        for part in parts:
            assert len(framing.feed(part)) <= sum(map(len, parts))
    except NotHttp:
        pass


@given(st.binary(max_size=200))
def test_whatever_comes_is_a_head_or_refused(data: bytes) -> None:
    try:
        found = read_head(b"HTTP/1.1 200 OK\r\n" + data)
    except NotHttp:
        return
    assert all(name == name.lower() for name in found.headers)


@pytest.mark.parametrize("size", [1, 1 << 20])
def test_trailers_are_bounded_however_they_come(size: int) -> None:
    sent = b"0\r\n" + b"X: y\r\n" * 4_000 + b"\r\n"
    pieces = [sent[at : at + size] for at in range(0, len(sent), size)]
    with pytest.raises(NotHttp):
        list(map(Chunked().feed, pieces))
