import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor

import pytest

import callgate
from callgate.detect import TemplateSandbox
from callgate.runtime import Detector, shared_detector
from callgate.vocabulary import Answer, ModelRef, UsageError
from tests.runtime.played import NOBODY, WITH_TOOLS, WITHOUT, PlayedOllama, hangs, in_thread, settings


@pytest.fixture
def ollama() -> PlayedOllama:
    return PlayedOllama(able=WITH_TOOLS, plain=WITHOUT)


@pytest.fixture
def detector(ollama: PlayedOllama, sandbox: TemplateSandbox) -> Iterator[Detector]:
    with in_thread(*ollama.routes) as url, Detector(settings(url), sandbox=sandbox) as detector:
        yield detector


def test_it_answers_all_that_the_other_one_does(detector: Detector) -> None:
    assert detector.capabilities("able").tools is Answer.YES
    assert detector.find("plain").facts.digest == "d1"
    assert detector.finding("plain").result().capabilities.tools is Answer.NO
    assert detector.effective_context("able") == 6553
    assert detector.can_use_tools("able")
    assert detector.find_best(["plain", "able"], tools=True) == "able"
    assert detector.resolve("auto") == ModelRef.parse("able:latest")


def test_many_threads_share_one_look(detector: Detector, ollama: PlayedOllama) -> None:
    start = threading.Barrier(16)

    def ask() -> Answer:
        start.wait()
        return detector.capabilities("able").tools

    with ThreadPoolExecutor(16) as threads:
        answers = [threads.submit(ask) for _ in range(16)]
        assert {answer.result() for answer in answers} == {Answer.YES}
    assert ollama.asked["/api/show"] == 1


async def test_it_works_where_an_event_loop_runs(detector: Detector) -> None:
    assert detector.capabilities("able").tools is Answer.YES
    assert (await asyncio.to_thread(detector.capabilities, "plain")).tools is Answer.NO


def test_clearing_counts_for_the_next_question(detector: Detector, ollama: PlayedOllama) -> None:
    for _ in range(3):
        detector.capabilities("able")
        detector.clear()
    assert ollama.asked["/api/show"] == 3


def test_it_may_be_closed_at_once_and_twice() -> None:
    before = threading.active_count()
    for _ in range(20):
        detector = Detector(settings(NOBODY))
        detector.close()
        detector.close()
        assert detector.closed
    assert threading.active_count() <= before


def test_a_closed_one_says_so() -> None:
    detector = Detector(settings(NOBODY))
    detector.close()
    detector.clear()
    with pytest.raises(UsageError, match="is closed"):
        detector.capabilities("tiny")


def test_closing_leaves_nobody_waiting(ollama: PlayedOllama, sandbox: TemplateSandbox) -> None:
    ollama.fault = hangs
    with in_thread(*ollama.routes) as url, ThreadPoolExecutor(1) as thread:
        detector = Detector(settings(url), sandbox=sandbox)
        waiting = thread.submit(detector.capabilities, "able")
        while not ollama.asked["/api/show"]:
            threading.Event().wait(0.001)
        detector.close()
        with pytest.raises(CancelledError):
            waiting.result()


def test_wrong_settings_leave_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CALLGATE_DETECT_CACHE_TTL", "soon")
    before = threading.active_count()
    with pytest.raises(UsageError, match=r"detect\.cache_ttl"):
        Detector()
    assert threading.active_count() <= before


def test_there_is_one_for_all() -> None:
    try:
        assert shared_detector() is shared_detector()
        assert callgate.check("tiny").tools is Answer.YES
        shared_detector().close()
        assert callgate.check("tiny-plain").tools is Answer.NO
    finally:
        shared_detector().close()


def run(program: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, timeout=60, check=False
    )


def test_a_program_that_leaves_it_open_ends_quietly(ollama: PlayedOllama, monkeypatch: pytest.MonkeyPatch) -> None:
    with in_thread(*ollama.routes) as url:
        monkeypatch.setenv("OLLAMA_HOST", url)
        done = run("import callgate; print(callgate.check('able').tools, callgate.check('tiny').tools)")
    assert (done.returncode, done.stdout, done.stderr) == (0, "yes yes\n", "")


def test_a_program_that_breaks_off_ends_all_the_same() -> None:
    done = run(
        "import io\n"
        "from callgate.runtime import check_targets\n"
        "from callgate.settings import load_settings\n"
        "found = check_targets(['qwen3:8b', 'tiny'], settings=load_settings(), standard_input=io.BytesIO())\n"
        "print(next(found).tools)\n"
        "raise SystemError('on the way')\n"
    )
    assert (done.returncode, done.stdout) == (1, "yes\n")
    assert done.stderr.endswith("SystemError: on the way\n")


@pytest.mark.skipif(sys.platform == "win32", reason="nobody forks there")
def test_a_forked_child_gets_one_of_its_own() -> None:
    done = run(
        "import os, warnings, callgate\n"
        "print(callgate.check('tiny').tools, flush=True)\n"
        "warnings.simplefilter('ignore')\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    print(callgate.check('tiny-plain').tools, flush=True)\n"
        "    raise SystemExit\n"
        "raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "yes\nno\n", "")


def test_importing_the_room_costs_nothing_heavy() -> None:
    done = run(
        "import sys, callgate.runtime\n"
        "print([name for name in ('aiohttp', 'asyncio', 'jinja2', 'minijinja') if name in sys.modules])"
    )
    assert (done.stdout, done.stderr) == ("[]\n", "")
