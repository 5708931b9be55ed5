"""What many tests share: a home of their own, the corpus, the engine, a real Ollama.

What is missing is a skip that says why; under CALLGATE_CI=1 it is a failure.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import hypothesis
import pytest

from callgate.detect import TemplateSandbox
from tests.gateway.real_redis import NoRedis, RealRedis, real_redis
from tests.real_ollama import server

TINY = Path(__file__).parent.parent / "src" / "callgate" / "data" / "tiny.gguf"

FOREIGN_SETTINGS = ("CALLGATE_", "OLLAMA_", "HF_", "HUGGING", "LLAMA_", "OPENAI_", "XDG_")
PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "ftp_proxy")
FOR_TESTS = ("CALLGATE_CI", "CALLGATE_TEST_")  # ours: read by these fixtures, never by callgate

# A busy machine is no bug: what must end in time says so itself.
hypothesis.settings.register_profile("callgate", deadline=None, print_blob=True)
hypothesis.settings.register_profile(
    "callgate-quick", parent=hypothesis.settings.get_profile("callgate"), max_examples=15
)
hypothesis.settings.load_profile("callgate-quick" if os.environ.get("CALLGATE_TEST_QUICK") else "callgate")

# A shell without job control makes what it starts in the background deaf to Ctrl-C, and so would be all that we start.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Build Ollama before the first test, for it takes longer than any test may."""
    wanted = any("ollama_url" in getattr(item, "fixturenames", ()) for item in session.items)
    if wanted and may_build_ollama() and not session.config.option.collectonly:
        with contextlib.suppress(server.NotInstalled):  # the fixture tells
            server.installed()


def may_build_ollama() -> bool:
    named = os.environ.get("CALLGATE_TEST_OLLAMA", "")
    return named == "build" or (not named and os.environ.get("CALLGATE_CI") == "1")


def missing(what: str) -> NoReturn:
    """Skip; or fail, where everything has to be there."""
    if os.environ.get("CALLGATE_CI") == "1":
        pytest.fail(f"{what} (a failure under CALLGATE_CI=1)", pytrace=False)
    pytest.skip(what)


@pytest.fixture(scope="session")
def sandbox() -> Iterator[TemplateSandbox]:
    """One for all, so that not each test starts a process."""
    with TemplateSandbox() as sandbox:
        yield sandbox


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """No test reads or writes the user's real home, nor does it see their servers, tokens or proxies."""
    for name in list(os.environ):
        if name.lower() in PROXIES or (name.startswith(FOREIGN_SETTINGS) and not name.startswith(FOR_TESTS)):
            monkeypatch.delenv(name)
    folder = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(folder))
    monkeypatch.setenv("CALLGATE_HOME", str(folder / "callgate"))
    return folder


@pytest.fixture(scope="session")
def corpus() -> Path:
    """The folder of templates, headers and transcripts that CALLGATE_TEST_DATA names; it is not ours to ship."""
    named = os.environ.get("CALLGATE_TEST_DATA")
    if not named:
        missing("no corpus: set CALLGATE_TEST_DATA to its folder")
    folder = Path(named)
    if not folder.is_dir():
        missing(f"no corpus: CALLGATE_TEST_DATA names {named!r}, which is no folder")
    return folder.resolve()


@pytest.fixture(scope="session")
def require_engine() -> None:
    """llama.cpp in process, through xllamacpp."""
    if importlib.util.find_spec("xllamacpp") is None:
        missing("no engine: xllamacpp is not installed (./dev test, without --no-engine)")


@pytest.fixture(scope="session")
def tiny_gguf() -> Path:
    """The model that ships with the package."""
    if not TINY.is_file():
        missing(f"no {TINY.name} in the package")
    return TINY


@pytest.fixture(scope="session")
def one_redis(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealRedis]:
    try:
        with real_redis(tmp_path_factory.mktemp("redis")) as redis:
            yield redis
    except NoRedis as error:
        missing(f"no Redis: {error}")


@pytest.fixture
def redis(one_redis: RealRedis) -> RealRedis:
    """A real Redis of our own, with nothing in it."""
    one_redis.start()
    one_redis.say("FLUSHALL")
    return one_redis


@pytest.fixture(scope="session")
def ollama_url(tmp_path_factory: pytest.TempPathFactory, tiny_gguf: Path) -> Iterator[str]:
    """A real Ollama that has the shipped model as `tiny`: the one CALLGATE_TEST_OLLAMA names, or one of our own."""
    named = os.environ.get("CALLGATE_TEST_OLLAMA", "")
    if named.startswith("http"):
        with server.lent(named.rstrip("/"), tiny_gguf) as url:
            yield url
        return
    if not may_build_ollama():
        missing("no Ollama: ./dev test --ollama builds one, CALLGATE_TEST_OLLAMA=URL names yours")
    try:
        binary = server.installed()
    except server.NotInstalled as error:
        missing(f"no Ollama: {error}")
    with server.running(binary, tmp_path_factory.mktemp("ollama"), tiny_gguf) as url:
        yield url
