"""The child process in which templates of strangers are rendered: it has little time and memory, and may die.

It reads jobs from its standard input and answers each on its standard output, as frames: four bytes of length, then
MessagePack. The first frame says that it is ready. It ends when its input does, so it never outlives its parent.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import IO

import msgspec

from callgate.detect.template.inputs import TemplateInput
from callgate.detect.template.report import TemplateReport

CPU_SECONDS = 0.5
"""For one template. The slowest published one needs 0.2 s, with the import of Jinja2."""
TIMES_THE_START = 5
"""On a slow machine, a template may take so many times what it took to start here."""
MEMORY = 128 << 20
"""Bytes of its own that the process may have, all told."""


class Job(msgspec.Struct, frozen=True):
    """A template to examine; or, with a conversation, to render."""

    source: str
    tokens: Mapping[str, str] = {}
    conversation: TemplateInput | None = None


class Outcome(msgspec.Struct, frozen=True):
    report: TemplateReport | None = None
    prompt: str | None = None
    error: str | None = None
    costly: bool = False


READY = Outcome()


def write_frame(stream: IO[bytes], message: msgspec.Struct) -> None:
    body = msgspec.msgpack.encode(message)
    stream.write(len(body).to_bytes(4, "big") + body)
    stream.flush()


def read_frame(stream: IO[bytes]) -> bytes | None:
    """The next frame, or `None` where the stream has ended."""
    length = stream.read(4)
    if len(length) < 4:
        return None
    body = stream.read(int.from_bytes(length, "big"))
    return body if len(body) == int.from_bytes(length, "big") else None


def main() -> None:
    from callgate.detect.template.choose import probe  # before the limits: a library may need more than a template
    from callgate.vocabulary import TemplateError, TemplateTooCostly

    _limit_memory()
    allowed = max(CPU_SECONDS, TIMES_THE_START * time.process_time())
    jobs, outcomes = sys.stdin.buffer, sys.stdout.buffer
    write_frame(outcomes, READY)
    decoder = msgspec.msgpack.Decoder(Job)
    while (frame := read_frame(jobs)) is not None:
        job = decoder.decode(frame)
        _limit_time(allowed)
        try:
            if job.conversation is None:
                outcome = Outcome(report=probe(job.source, job.tokens))
            else:
                outcome = Outcome(prompt=_prompt(job.source, job.tokens, job.conversation))
        except TemplateError as error:
            outcome = Outcome(error=error.message, costly=isinstance(error, TemplateTooCostly))
        except (MemoryError, RecursionError):
            outcome = Outcome(error="the chat template is too costly to render", costly=True)
        _limit_time(0)
        write_frame(outcomes, outcome)


def _prompt(source: str, tokens: Mapping[str, str], conversation: TemplateInput) -> str:
    from callgate.detect.template.jinja_engine import JinjaEngine

    prompt = JinjaEngine(source).prompt({**tokens, **conversation.context()}) + conversation.answer
    return prompt.encode("utf-8", "replace").decode()  # a template can write half a character, and no frame can hold it


def _limit_memory() -> None:
    try:
        import resource
    except ImportError:  # Windows: the parent's watch is all there is
        return
    for what, most in ((resource.RLIMIT_DATA, MEMORY), (resource.RLIMIT_CORE, 0), (resource.RLIMIT_FSIZE, 0)):
        with suppress(OSError, ValueError):  # macOS knows limits that it doesn't let anybody set
            resource.setrlimit(what, (most, most))


def _limit_time(seconds: float) -> None:
    """The signal's default action ends the process, whatever it is doing."""
    import signal

    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)
