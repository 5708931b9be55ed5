"""Checks many targets in one go: files here and now, servers all at once meanwhile, reports in the order asked for."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Generator, Iterable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from callgate.detect import Finding, TemplateSandbox, boxed_facts, find_in, weigh
from callgate.runtime.files import (
    LARGEST_TEXT,
    decode_text,
    file_facts,
    is_model_file,
    model_files,
    template_facts,
)
from callgate.runtime.report import ModelReport
from callgate.settings import Settings
from callgate.vocabulary import IN_THE_BOX, CallgateError, Evidence, Facts, ModelRef, UsageError

if TYPE_CHECKING:
    from callgate.runtime.sync import Detector

STANDARD_INPUT = "-"


class _Work(NamedTuple):
    target: str
    facts: Callable[[], Facts] | None = None
    """Of what can be looked at here and now."""
    ref: ModelRef | None = None
    """Of what a server knows."""
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
    with TemplateSandbox() as sandbox:
        if any(item.facts for item in work):
            sandbox.start()
        distant = [item.ref for item in work if item.ref]
        detector = _start_detector(settings, sandbox) if distant else None
        started = time.perf_counter()
        try:
            findings = iter([detector.finding(ref) for ref in distant] if detector else [])
            for item in work:
                if item.ref:
                    find, since = next(findings).result, started
                else:
                    find, since = partial(_find, item, sandbox), time.perf_counter()
                yield _report(item.target, partial(_probed, find, item, probe) if probe else find, since)
        finally:
            if detector:
                detector.close()


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
            yield from (_Work(path, facts=partial(file_facts, path)) for path in files)
        elif is_model_file(target) and "://" not in target:
            yield _Work(target, facts=partial(file_facts, target.removeprefix("file:")))
        else:
            ref = ModelRef.parse(target)
            if ref.scheme == "file" and "://" not in ref.name:
                yield _Work(target, facts=partial(file_facts, ref.name))
            elif ref.is_in_the_box:
                yield _Work(target, facts=partial(boxed_facts, ref.scheme))
            else:
                yield _Work(target, ref=ref)
    except CallgateError as error:
        yield _Work(target, error=error)


def _read(standard_input: BinaryIO) -> Facts:
    return template_facts(decode_text(standard_input.read(LARGEST_TEXT + 1), "the standard input"), "standard input")


def _find(item: _Work, sandbox: TemplateSandbox) -> Finding:
    if item.error or item.facts is None:
        raise item.error or UsageError(f"{item.target!r} can't be checked")
    return find_in(item.facts(), sandbox)


def _probed(find: Callable[[], Finding], item: _Work, probe: Probe) -> Finding:
    finding = find()
    if finding.failure or finding.flaw:
        return finding
    if finding.facts.header is None and finding.facts.server is None:
        raise UsageError(f"{item.target!r} is no model that could be probed", hint="leave out --probe")
    seen = tuple(probe(item.ref or ModelRef.parse(item.target)))
    return weigh(finding.facts, (*seen, *finding.evidence))


def _report(target: str, find: Callable[[], Finding], started: float) -> ModelReport:
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
