"""The pytest plugin, in a pytest of its own, as a project that tests its agent has it."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from importlib.metadata import entry_points
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from callgate.testing.endpoint import NotStarted, running
from tests.conftest import missing
from tests.runtime.played import NOBODY

SAMPLE = Path(__file__).parent / "sample"
# Strict, and without plugins that warn of settings which the sample doesn't have.
STRICT = ("-W", "error", "-p", "no:asyncio")
PATIENCE_SECONDS = 60.0


@pytest.fixture(autouse=True)
def plugin() -> None:
    if not any(each.value == "callgate.testing" for each in entry_points(group="pytest11")):
        missing("the plugin isn't registered: install callgate anew")


def run_pytest(folder: Path, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", *STRICT, *words]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **more}, capture_output=True, text=True, timeout=150, check=False
    )


def project(folder: Path, **files: str) -> Path:
    (folder / "pytest.ini").write_text("[pytest]\n", "utf-8")
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text, "utf-8")
    return folder


def is_listening(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=5):
            return True
    except OSError:
        return False


def ends(url: str) -> bool:
    """Whether nobody listens there any more, or soon."""
    until = time.monotonic() + PATIENCE_SECONDS
    while is_listening(url):
        if time.monotonic() > until:
            return False
        time.sleep(0.05)
    return True


# Those who don't use it


def test_nothing_is_loaded_before_a_test_asks_for_the_fixture(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        test_it="""
import sys

def test_nothing_is_loaded(request):
    assert request.config.pluginmanager.has_plugin("callgate")
    loaded = {name for name in sys.modules if name.partition(".")[0] in ("callgate", "aiohttp", "msgspec", "uvicorn")}
    assert loaded <= {"callgate", "callgate.doors", "callgate.testing"}
""",
    )
    done = run_pytest(folder)
    assert done.returncode == 0, done.stdout


def test_the_fixture_is_listed_with_its_words(tmp_path: Path) -> None:
    done = run_pytest(project(tmp_path), "--fixtures")
    assert "callgate [session scope]" in done.stdout
    assert ".openai_url" in done.stdout


# What is missing


def test_without_the_extras_a_test_fails_with_the_command_that_installs_them(tmp_path: Path) -> None:
    folder = project(
        tmp_path,
        conftest="import callgate.testing.endpoint as e\ne.NEEDED = ('uvicorn', 'no_such_engine')\n",
        test_it="def test_it(callgate): pass\n",
    )
    done = run_pytest(folder)
    assert done.returncode == 1
    assert "needs no_such_engine: pip install 'callgate[serve,llamacpp]'" in done.stdout
    assert "During handling" not in done.stdout


def test_an_endpoint_that_does_not_start_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("callgate.testing.endpoint.NEEDED", ())
    monkeypatch.setattr(sys, "path", [])  # nothing of ours can be imported there
    with pytest.raises(NotStarted, match=r"didn't start: (?s:.*)No module named"), running():
        pass


# The endpoint


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_a_project_tests_its_agent_with_a_real_client(tmp_path: Path) -> None:
    if importlib.util.find_spec("openai") is None:
        missing("no openai: it is in the group of clients")
    folder = shutil.copytree(SAMPLE, tmp_path / "sample")
    settings = {"OLLAMA_HOST": NOBODY, "CALLGATE_TOOLS_STRATEGY": "off", "CALLGATE_MODELS_REQUIRE_TOOLS": "nonsense"}
    done = run_pytest(folder, "-rA", **settings)
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_it_ends_with_its_block_and_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with running() as endpoint:
        assert is_listening(endpoint.url)
        assert endpoint.openai_url == f"{endpoint.url}/v1"
        assert endpoint.env()["OPENAI_BASE_URL"] == endpoint.openai_url
        assert endpoint.url in repr(endpoint)
        assert list(tmp_path.iterdir())
    assert not is_listening(endpoint.url)
    assert not list(tmp_path.iterdir())


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
@pytest.mark.skipif(os.name == "nt", reason="nobody is killed that way there")
def test_it_ends_with_a_pytest_that_is_killed(tmp_path: Path) -> None:
    told = tmp_path / "told"
    folder = project(
        tmp_path,
        test_it=f"""
import json, pathlib, sys

def test_it(callgate):
    told = pathlib.Path({str(told)!r})
    told.with_suffix(".new").write_text(json.dumps({{"url": callgate.url}}))
    told.with_suffix(".new").rename(told)
    sys.__stdin__.read()
""",
    )
    left = tmp_path / "left"
    left.mkdir()
    command = [sys.executable, "-m", "pytest", "-s", *STRICT]
    given = {**os.environ, "TMPDIR": str(left)}
    with subprocess.Popen(command, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=given) as process:
        until = time.monotonic() + PATIENCE_SECONDS
        while not told.exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        url = json.loads(told.read_text())["url"]
        assert is_listening(url)
        assert list(left.glob("callgate-test-*"))
        process.send_signal(signal.SIGKILL)
    assert ends(url)
    until = time.monotonic() + PATIENCE_SECONDS
    while list(left.glob("callgate-test-*")) and time.monotonic() < until:
        time.sleep(0.05)
    assert not list(left.glob("callgate-test-*"))
