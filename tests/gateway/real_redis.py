"""A real redis-server of our own, at a free port, that can be killed, hung and started again."""

from __future__ import annotations

import importlib.util
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PASSWORD = "not-for-logs-7"
START_SECONDS = 30.0


class NoRedis(Exception):
    """What is missing."""


class RealRedis:
    def __init__(self, binary: str, folder: Path) -> None:
        self._binary, self._folder = binary, folder
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = int(free.getsockname()[1])
        self.url = f"redis://:{PASSWORD}@127.0.0.1:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """What comes after the first time changes nothing, except that one that hung goes on."""
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(signal.SIGCONT)
        else:
            words = ["--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--requirepass", PASSWORD]
            with (self._folder / "log").open("ab") as log:
                command = [self._binary, *words, "--dir", str(self._folder), "--daemonize", "no"]
                self._process = subprocess.Popen(command, stdout=log, stderr=log)
        until = time.monotonic() + START_SECONDS
        while not self._answers():
            if time.monotonic() > until or self._process.poll() is not None:
                raise NoRedis(f"redis-server doesn't start: {(self._folder / 'log').read_text()[-500:]}")
            time.sleep(0.02)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def hang(self) -> None:
        assert self._process
        self._process.send_signal(signal.SIGSTOP)

    def say(self, *words: str | bytes) -> bytes:
        """A command, in Redis' own words; what it answers, as it is."""
        parts = [word if isinstance(word, bytes) else word.encode() for word in words]
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as peer:
            peer.sendall(_command(b"AUTH", PASSWORD.encode()) + _command(*parts) + _command(b"QUIT"))
            answer = b""
            while part := peer.recv(1 << 20):
                answer += part
        return answer.removeprefix(b"+OK\r\n").removesuffix(b"+OK\r\n")

    def get(self, key: str) -> bytes:
        """A short text."""
        head, _, rest = self.say("GET", key).partition(b"\r\n")
        return rest[: int(head[1:])] if head != b"$-1" else b""

    def keys(self, pattern: str = "*") -> list[str]:
        return [line.decode() for line in self.say("KEYS", pattern).split(b"\r\n") if line[:1] not in (b"*", b"$", b"")]

    def _answers(self) -> bool:
        try:
            return self.say("PING") == b"+PONG\r\n"
        except OSError:
            return False


@contextmanager
def real_redis(folder: Path) -> Iterator[RealRedis]:
    """Raises: NoRedis."""
    if (binary := shutil.which("redis-server")) is None:
        raise NoRedis("redis-server is not installed (apt-get install redis-server)")
    if importlib.util.find_spec("redis") is None:
        raise NoRedis("the package redis is not installed")
    redis = RealRedis(binary, folder)
    try:
        redis.start()
        yield redis
    finally:
        redis.kill()


def _command(*parts: bytes) -> bytes:
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts)
