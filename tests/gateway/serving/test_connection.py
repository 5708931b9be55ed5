from __future__ import annotations

import socket

import pytest

from callgate.gateway.serving.connection import MOST_HEAD_BYTES
from tests.gateway.command import Served, served


def connected(gate: Served) -> socket.socket:
    host, _, port = gate.url.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)), timeout=20)


def heard(connection: socket.socket) -> bytes:
    """All, until the server closes the connection."""
    said = b""
    while piece := connection.recv(65_536):
        said += piece
    return said


ASKED = b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"
SLOW = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n{"


@pytest.mark.parametrize("more", [(), ("--workers", "2")])
def test_a_request_that_takes_too_long_to_come_is_cut_off(more: tuple[str, ...]) -> None:
    with served("--max-body-seconds", "0.5", *more) as gate:
        for sent, before, last in (
            (b"", b"", b"HTTP/1.1 408"),
            (b"GET /health HTTP/1.1\r\nHost: localh", b"", b"HTTP/1.1 408"),
            (ASKED + b"GET /he", b"HTTP/1.1 200", b"HTTP/1.1 408"),
            (SLOW, b"HTTP/1.1 408", b"didn't arrive within 0.5 s"),
        ):
            with connected(gate) as connection:
                connection.sendall(sent)
                said = heard(connection)
                assert said.startswith(before)
                assert last in said[len(before) :]


def test_a_head_that_has_no_end_is_cut_off() -> None:
    with served() as gate, connected(gate) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-A: ")
        with pytest.raises(OSError, match=r"reset|pipe|abort"):  # noqa: PT012 - whichever comes first
            while True:
                connection.sendall(b"a" * MOST_HEAD_BYTES)


def test_connections_that_behave_are_kept() -> None:
    with served("--max-body-seconds", "0.5") as gate, connected(gate) as connection:
        connection.sendall(ASKED)
        for _ in range(3):
            said = b""
            while b'{"status":"ok"}' not in said:
                piece = connection.recv(65_536)
                assert piece
                said += piece
            connection.settimeout(0.7)
            with pytest.raises(TimeoutError):
                connection.recv(1)
            connection.settimeout(20)
            connection.sendall(ASKED[:20])
            connection.sendall(ASKED[20:])
