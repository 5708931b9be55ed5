from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.places import Knock, Place, known_places, place_at
from callgate.vocabulary import UsageError
from tests.runtime.played import NOBODY, settings


@pytest.fixture
def listening() -> Iterator[int]:
    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        yield server.getsockname()[1]


def test_the_usual_ports_are_known() -> None:
    places = {place.name: place.url for place in known_places(settings())}
    assert places == {
        "Ollama": "http://127.0.0.1:11434",
        "llama-server": "http://127.0.0.1:8080",
        "LM Studio": "http://127.0.0.1:1234",
        "vLLM": "http://127.0.0.1:8000",
    }
    assert not any(place.named for place in known_places(settings()))


def test_without_any_time_to_answer_nobody_is_asked() -> None:
    assert known_places(settings(discovery__endpoints="lab=http://lab:9000/v1", discovery__timeout=0)) == []


def test_a_setting_names_more_and_comes_before_the_ports() -> None:
    chosen = settings(discovery__endpoints="lab=http://lab:9000/v1/, den=ollama+http://den, ours=localhost:8080")
    places = known_places(chosen)
    assert places[1:4] == [
        Place("lab", "http://lab:9000", named=True),
        Place("den", "http://den:80", is_ollama=True, named=True),
        Place("ours", "http://localhost:8080", named=True),
    ]
    assert [place.name for place in places] == ["Ollama", "lab", "den", "ours", "LM Studio", "vLLM"]


def test_the_ollama_that_somebody_named_is_expected_there() -> None:
    assert known_places(settings("0.0.0.0:8080"))[0] == Place(
        "Ollama", "http://127.0.0.1:8080", is_ollama=True, is_local_ollama=True, named=True
    )
    assert len(known_places(settings("0.0.0.0:8080"))) == 3


@pytest.mark.parametrize("text", ["http://lab:9000", "lab", "=http://lab", "lab=", "lab=ftp://x", "a=http://x#y"])
def test_endpoints_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(UsageError):
        known_places(settings(discovery__endpoints=text))


@given(st.text(min_size=1, max_size=40).filter(str.strip))
def test_any_setting_gives_places_or_a_usage_error(text: str) -> None:
    try:
        chosen = settings(discovery__endpoints=text)
        assert known_places(chosen)[0].name == "Ollama"
    except UsageError:
        return


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "x.localhost"])
def test_only_where_somebody_listens_somebody_answers(listening: int, host: str) -> None:
    places = [place_at(f"http://{host}:{listening}"), place_at(NOBODY), place_at("http://127.0.0.1:2")]
    assert Knock(places).answered(10) == places[:1]


def test_places_elsewhere_are_left_to_be_asked() -> None:
    places = [place_at("http://192.0.2.1:9"), place_at(NOBODY)]
    assert Knock(places).answered(10) == places[:1]


def test_who_takes_too_long_is_not_there() -> None:
    # A queue that is full makes whoever knocks wait.
    with closing(socket.socket()) as server:
        server.bind(("127.0.0.1", 0))
        server.listen(0)
        port = server.getsockname()[1]
        waiting = [socket.socket() for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(("127.0.0.1", port))
        try:
            assert Knock([place_at(f"http://127.0.0.1:{port}")]).answered(0.05) == []
        finally:
            for one in waiting:
                one.close()
