"""The endpoint that tests talk to: a server in a process of its own, which ends with the one that started it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from tempfile import TemporaryDirectory

MODEL = "tiny"
PLAIN_MODEL = "tiny-plain"
START_SECONDS = 60.0
END_SECONDS = 10.0
NEEDED = ("uvicorn", "xllamacpp")
INSTALL = "pip install 'callgate[serve,llamacpp]'"
_LONGEST_REASON = 2_000
_FOREIGN = ("CALLGATE_", "OLLAMA_", "HF_", "HUGGING", "LLAMA_", "OPENAI_", "XDG_")
_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "ftp_proxy")


class NotStarted(Exception):
    """There is no endpoint, and the message says what to do."""


class Endpoint:
    """Where it listens, and which model answers. All tests of a session share it."""

    __slots__ = ("model", "plain_model", "url")

    def __init__(self, url: str) -> None:
        self.url = url
        self.model = MODEL
        """It calls tools. At temperature 0, which is its default, the same question gets the same answer."""
        self.plain_model = PLAIN_MODEL
        """The same without tools in its chat template: they are emulated for it."""

    @property
    def openai_url(self) -> str:
        """What OpenAI's clients call `base_url`."""
        return f"{self.url}/v1"

    @property
    def ollama_url(self) -> str:
        """What Ollama's clients call `host`."""
        return self.url

    @property
    def anthropic_url(self) -> str:
        """What Anthropic's clients call `base_url`."""
        return self.url

    def env(self) -> dict[str, str]:
        """Variables for programs that are configured by them. The keys are no secrets: any would do."""
        return {
            "OPENAI_BASE_URL": self.openai_url,
            "OPENAI_API_KEY": "callgate",
            "OLLAMA_HOST": self.ollama_url,
            "ANTHROPIC_BASE_URL": self.anthropic_url,
            "ANTHROPIC_API_KEY": "callgate",
        }

    def __repr__(self) -> str:
        return f"<callgate at {self.url} with {self.model}>"


@contextmanager
def running() -> Iterator[Endpoint]:
    """Until the block ends. It sees nobody's servers, settings or models, and keeps nothing. Raises: NotStarted."""
    if missing := [name for name in NEEDED if find_spec(name) is None]:
        raise NotStarted(f"the fixture `callgate` needs {' and '.join(missing)}: {INSTALL}")
    with TemporaryDirectory(prefix="callgate-test-", ignore_cleanup_errors=True) as home:
        # With our own path, so that it is found wherever this process found it.
        path = [os.path.abspath(folder) for folder in sys.path]
        code = f"import sys; sys.path[:] = {path!r}; from callgate.testing.served import main; main({home!r})"
        log = os.path.join(home, "stderr")
        with (
            open(log, "wb") as errors,
            subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                env=_environ(home),
                cwd=home,
            ) as process,
        ):
            try:
                yield Endpoint(_url(process, log))
            finally:
                _end(process)


def _url(process: subprocess.Popen[bytes], log: str) -> str:
    """What it says first. Raises: NotStarted."""
    assert process.stdout
    clock = threading.Timer(START_SECONDS, process.kill)
    clock.daemon = True
    clock.start()
    line = process.stdout.readline()
    clock.cancel()
    if not line:
        process.wait()
        with open(log, encoding="utf-8", errors="replace") as errors:
            reason = errors.read().strip()[-_LONGEST_REASON:]
        raise NotStarted(f"callgate's endpoint for tests didn't start: {reason or 'it took too long'}")
    url = json.loads(line)["url"]
    assert isinstance(url, str)
    return url


def _end(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin
    with suppress(OSError):
        process.stdin.close()  # which is how it is told
    try:
        process.wait(END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()


def _environ(home: str) -> dict[str, str]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(_FOREIGN) and name.lower() not in _PROXIES
    }
    return {**kept, "HOME": home, "USERPROFILE": home}
