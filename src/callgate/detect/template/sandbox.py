"""Examines templates of strangers in a child process with limits: if one kills it, a new one takes the rest."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import IO, Self

import msgspec

from callgate.detect.template.inputs import TemplateInput
from callgate.detect.template.report import TemplateReport
from callgate.detect.template.worker import Job, Outcome, read_frame, write_frame
from callgate.vocabulary import CallgateError, TemplateError, TemplateTooCostly, UsageError

PATIENCE = 10.0
"""Seconds until a worker is killed that doesn't answer. Mostly its own limit on CPU time ends it sooner."""

_NEEDED = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "SYSTEMROOT")
"""What Python may need from the environment in order to start. A stranger's template gets no nearer to the rest."""
_START = "import sys; sys.path[:] = sys.argv[1:]; from callgate.detect.template.worker import main; main()"


class TemplateSandbox:
    """Examines chat templates, one after another. May be shared between threads."""

    def __init__(self) -> None:
        self._worker: _Worker | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Starts the worker ahead of its first template, without waiting for it."""
        with self._lock:
            self._ready()

    def probe(self, source: str, tokens: Mapping[str, str] | None = None) -> TemplateReport:
        """What the chat template `source` can do.

        Raises: TemplateError, if it doesn't parse; TemplateTooCostly, if it takes too much time or memory.
        """
        if report := self._outcome(Job(source, tokens or {})).report:
            return report
        raise TemplateError("the chat template can't be examined")

    def render(self, source: str, conversation: TemplateInput, tokens: Mapping[str, str] | None = None) -> str:
        """The prompt that the chat template `source` makes of `conversation`, as Jinja2 renders it.

        Raises: TemplateError, if it doesn't parse, or refuses the conversation (in its own words); TemplateTooCostly,
        if it takes too much time or memory; UsageError, if the conversation can't be handed over.
        """
        try:
            prompt = self._outcome(Job(source, tokens or {}, conversation)).prompt
        except (TypeError, ValueError, OverflowError, RecursionError) as error:
            raise UsageError(f"the conversation can't be handed to its template ({type(error).__name__})") from None
        if prompt is None:
            raise TemplateError("the chat template can't be rendered")
        return prompt

    def _outcome(self, job: Job) -> Outcome:
        with self._lock:
            try:
                outcome = self._ready().ask(job)
            except CallgateError:
                self._end()
                raise
            if outcome is None:
                self._end()
                raise TemplateTooCostly("the chat template takes too much time or memory to render")
        if outcome.error is not None:
            raise (TemplateTooCostly if outcome.costly else TemplateError)(outcome.error)
        return outcome

    def close(self) -> None:
        with self._lock:
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _ready(self) -> _Worker:
        if self._worker is None:
            self._worker = _Worker()
        return self._worker

    def _end(self) -> None:
        if self._worker is not None:
            self._worker.end()
            self._worker = None


class _Worker:
    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _START, *filter(None, sys.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={name: value for name, value in os.environ.items() if name in _NEEDED},
            start_new_session=True,  # Ctrl-C means the one who typed it, and no template is the worse for it
        )
        self._awaited = False
        self._outcomes = msgspec.msgpack.Decoder(Outcome)

    def ask(self, job: Job) -> Outcome | None:
        """What came of it, or `None` if it was the worker's death."""
        if not self._awaited:
            if self._answer() is None:
                raise CallgateError(
                    "the process that examines chat templates doesn't start",
                    hint="see whether `python -m callgate.detect.template.worker` says why",
                )
            self._awaited = True
        try:
            write_frame(_pipe(self._process.stdin), job)
        except OSError:
            return None
        return self._answer()

    def _answer(self) -> Outcome | None:
        with _killing_after(PATIENCE, self._process):
            frame = read_frame(_pipe(self._process.stdout))
        return None if frame is None else self._outcomes.decode(frame)

    def end(self) -> None:
        self._process.kill()
        self._process.wait()
        _pipe(self._process.stdin).close()
        _pipe(self._process.stdout).close()


def _pipe(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


@contextlib.contextmanager
def _killing_after(seconds: float, process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Kills `process` if it says nothing for so long, so that whoever reads from it meets the end."""
    if os.name == "posix":  # a thread would cost more than most templates
        if not select.select([_pipe(process.stdout)], [], [], seconds)[0]:
            process.kill()
        yield
        return
    watch = threading.Timer(seconds, process.kill)
    watch.start()
    try:
        yield
    finally:
        watch.cancel()
