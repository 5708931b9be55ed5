from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from callgate.gateway.serving.managed import Manager
from tests.gateway.command import served

URL = "http://127.0.0.1:11435"


@pytest.fixture(params=["file", "abstract"])
def manager(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    """The address of a service manager, as it is told to services, and where it listens."""
    name = f"callgate-test-{os.getpid()}" if request.param == "abstract" else str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        try:
            listening.bind(f"\0{name}" if request.param == "abstract" else name)
        except OSError:
            pytest.skip("this system has no addresses without a file")
        listening.settimeout(30)
        yield f"@{name}" if request.param == "abstract" else name, listening


def test_it_is_told_once_the_server_answers(manager: tuple[str, socket.socket]) -> None:
    address, listening = manager
    with served(NOTIFY_SOCKET=address) as server:
        said = listening.recv(4096).decode().split("\n")
    assert said == ["READY=1", f"STATUS=answers at {server.url}"]


def test_several_workers_tell_it_once_when_all_answer(manager: tuple[str, socket.socket]) -> None:
    address, listening = manager
    with served("--workers", "2", NOTIFY_SOCKET=address):
        assert listening.recv(4096).startswith(b"READY=1\n")
    listening.setblocking(False)
    with pytest.raises(BlockingIOError):
        listening.recv(4096)


def test_what_we_start_does_not_know_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere")
    Manager()
    assert "NOTIFY_SOCKET" not in os.environ


@pytest.mark.parametrize("address", ["", "/nowhere/at/all", "vsock:2:1234", "@" + "x" * 500, "@"])
def test_one_that_cannot_be_told_does_no_harm(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", address)
    Manager().tell_ready(URL)


def test_where_there_are_no_such_sockets_nobody_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTIFY_SOCKET", "/nowhere")
    monkeypatch.delattr(socket, "AF_UNIX")
    Manager().tell_ready(URL)
