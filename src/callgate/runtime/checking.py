"""Checks many targets in one go: files here and now, servers all at once meanwhile, reports in the order asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from callgate.detect import Finding, TemplateSandbox, boxed_facts, find_in, weigh
from callgate.registry import tell
from callgate.runtime.derivations import Derivations, lasting_version
from callgate.runtime.files import (
    LARGEST_TEXT,
    decode_text,
    file_facts,
    is_model_file,
    model_files,
    template_facts,
)
from callgate.runtime.knowledge import ModelKnowledge, with_knowledge
from callgate.runtime.report import ModelReport
from callgate.settings import Settings, without_password
from callgate.vocabulary import (
    IN_THE_BOX,
    Answer,
    CallgateError,
    Evidence,
    Facts,
    ModelRef,
    NotFound,
    StorageError,
    UsageError,
)

if TYPE_CHECKING:
    from callgate.runtime.sync import Detector

STANDARD_INPUT = "-"
_PATH_STARTS = ("/", "./", "../", "~/")


class _Work(NamedTuple):
    target: str
    facts: Callable[[], Facts] | None = None
    """Of what can be looked at here and now."""
    ref: ModelRef | None = None
    """The model that it is; a template alone is none."""
    error: CallgateError | None = None


Probe = Callable[[ModelRef], Iterable[Evidence]]
"""What a model does when it is really asked to call a tool."""


def check_targets(
    targets: Iterable[str], *, settings: Settings, standard_input: BinaryIO, probe: Probe | None = None
) -> Generator[ModelReport, None, None]:
    """A report for each target: a model's name, a GGUF file or its URL, a chat template, a tokenizer's configuration,
    a folder of these, or `-` for a template on the standard input. What is wrong with a target is in its report.
    """
    given = cache(partial(_read, standard_input))  # which can be read but once
    work = [item for target in targets for item in _plan(target, given)]
    known = _Known(settings)
    with TemplateSandbox() as sandbox:
        if not all(known.is_kept(item) for item in work if item.facts):
            sandbox.start()
        distant = [item.ref for item in work if item.ref and not item.facts]
        detector = _start_detector(settings, sandbox) if distant else None
        started = time.perf_counter()
        try:
            findings = iter([detector.finding(ref) for ref in distant] if detector else [])
            for item in work:
                if item.ref and not item.facts:
                    find, since = next(findings).result, started
                else:
                    find, since = partial(known.find, item, sandbox), time.perf_counter()
                yield _report(item.target, partial(known.probed, find, item, probe) if probe else find, since)
        finally:
            if detector:
                detector.close()
            known.flush()


def _start_detector(settings: Settings, sandbox: TemplateSandbox) -> Detector:
    from callgate.runtime.sync import Detector

    return Detector(settings, sandbox=sandbox)


def _plan(target: str, given: Callable[[], Facts]) -> Iterator[_Work]:
    try:
        if target == STANDARD_INPUT:
            yield _Work(target, facts=given)
        elif target not in (*IN_THE_BOX, "auto") and os.path.isdir(target):
            files = list(model_files(target))
            if not files:
                raise UsageError(f"{target!r} has no model files", hint="it should have .gguf or .jinja files in it")
            yield from (_file(path, path) for path in files)
        elif is_model_file(target) and "://" not in target:
            yield _file(target, target.removeprefix("file:"))
        else:
            ref = ModelRef.parse(target)
            if ref.scheme == "file" and "://" not in ref.name:
                yield _file(target, ref.name)
            elif target.startswith(_PATH_STARTS) or target.endswith("/"):
                raise NotFound(f"there is no file {target!r}")
            elif ref.is_in_the_box:
                yield _Work(target, facts=partial(boxed_facts, ref.scheme), ref=ref)
            else:
                yield _Work(target, ref=ref)
    except CallgateError as error:
        yield _Work(target, error=error)


def _file(target: str, path: str) -> _Work:
    return _Work(target, facts=partial(file_facts, path), ref=ModelRef("file", path))


def _read(standard_input: BinaryIO) -> Facts:
    return template_facts(decode_text(standard_input.read(LARGEST_TEXT + 1), "the standard input"), "standard input")


class _Known:
    """What is known beforehand: what was derived of files that haven't changed, and what the user said."""

    def __init__(self, settings: Settings) -> None:
        self._derivations = Derivations(settings)
        self._knowledge = ModelKnowledge(settings)
        self.flush = self._derivations.flush

    def is_kept(self, item: _Work) -> bool:
        return item.ref is not None and self._recalled(item.ref) is not None

    def find(self, item: _Work, sandbox: TemplateSandbox) -> Finding:
        if item.error or item.facts is None:
            raise item.error or UsageError(f"{item.target!r} can't be checked")
        if item.ref is None:
            return find_in(item.facts(), sandbox)
        finding = self._recalled(item.ref)
        if finding is None:
            version = lasting_version(item.ref)
            finding = find_in(item.facts(), sandbox)
            if version == lasting_version(item.ref):  # else it changed while it was read
                self._derivations.keep(item.ref, version, finding)
        return with_knowledge(finding, self._knowledge, item.ref)

    def probed(self, find: Callable[[], Finding], item: _Work, probe: Probe) -> Finding:
        finding = find()
        if finding.failure or finding.flaw:
            return finding
        if finding.facts.header is None and finding.facts.server is None:
            raise UsageError(f"{item.target!r} is no model that could be probed", hint="leave out --probe")
        ref = item.ref or ModelRef.parse(item.target)
        seen = tuple(probe(ref))
        if any(found.claim == "tools" and found.answer == Answer.YES for found in seen):
            try:
                self._knowledge.observe(ref, finding.facts, tools=True, how="auto_detected")
            except StorageError as error:
                tell(f"what the probe found isn't kept: {error.message}")
        return weigh(finding.facts, (*seen, *finding.evidence))

    def _recalled(self, ref: ModelRef) -> Finding | None:
        return self._derivations.recall(ref, lasting_version(ref))


def _report(target: str, find: Callable[[], Finding], started: float) -> ModelReport:
    target = without_password(target)
    try:
        finding = find()
    except CallgateError as error:
        return ModelReport(target=target, model=target, error=error, elapsed_ms=_since(started))
    return ModelReport(
        target=target,
        model=finding.capabilities.name,
        capabilities=finding.capabilities,
        served=finding.facts.server is not None or finding.failure is not None,
        elapsed_ms=_since(started),
        error=finding.failure or finding.flaw,
    )


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
