"""What a validation found: trials, each judged, and the run that they belong to; and both as lines of JSON.

    {"model": "tiny", "mode": "native", "case": "one-call", "check": "toolCall", "trial": 0, "passed": true, …}
    {"type": "summary", "model": "tiny", "about": {…}, "passed": 40, "failed": 2, "unsupported": 0, "rate": 0.952}

`passed` is null where the model or its server has no such thing. One summary ends the trials of each model.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal, TypeVar, get_args

import msgspec

from callgate.vocabulary import ModelRef, NotFound, UsageError
from callgate.wire import shown

Mode = Literal["native", "recovered", "emulated", "off"]
"""How the tools reached the model: as they are, with calls that came as text left alone or recovered; described in the
prompt; or not at all."""
Outcome = Literal["passed", "failed", "unsupported"]

MODES: tuple[Mode, ...] = get_args(Mode)
NEVER_CALLING = frozenset({"noToolCall"})
"""Checks that a model passes which can't call anything."""
LONGEST_LINE = 4 << 20
LARGEST_FILE = 1 << 30
HINT = "it should be what callgate validate --json printed"
_T = TypeVar("_T")
_PASSED: dict[Outcome, bool | None] = {"passed": True, "failed": False, "unsupported": None}
_ALWAYS = ("model", "mode", "case", "check", "trial", "expected", "got", "ms")
_WHERE_SET = ("reason", "kind", "tokens", "first_token_ms", "writing_ms")


class Trial(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was tried once, and how it went."""

    model: str
    """As it was asked for, without any password."""
    mode: str
    case: str
    check: str
    """What is judged: `toolCall`, `toolChoice`, `typedArguments`, `noToolCall` …"""
    trial: int
    outcome: Outcome
    expected: Any
    got: Any
    ms: float
    reason: str | None = None
    """Why it failed, or why it isn't supported."""
    kind: str | None = None
    """Of failure, in a word: `no-call`, `wrong-name`, `wrong-arguments`, `text-call`, `error:StreamCut` …"""
    tokens: int | None = None
    """That the model wrote."""
    first_token_ms: float | None = None
    """Only where the answer came bit by bit: else nobody can tell."""
    writing_ms: float | None = None
    """How long it wrote at them, without the wait for the first where that is known."""

    @property
    def passed(self) -> bool | None:
        """`None` where it isn't supported."""
        return _PASSED[self.outcome]

    def as_json(self) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in _ALWAYS}
        fields |= {name: value for name in _WHERE_SET if (value := getattr(self, name)) is not None}
        place = list(fields).index("expected")
        items = list(fields.items())
        return dict((*items[:place], ("passed", self.passed), *items[place:]))


class RunAbout(msgspec.Struct, frozen=True, kw_only=True):
    """Of which model a run was, and how it was made."""

    model: str
    at: str
    """When it began, in ISO 8601 with a `Z`."""
    suite: str
    trials: int
    seed: int
    callgate: str
    """The version."""
    backend: str
    modes: tuple[str, ...]
    digest: str | None = None
    """Of the model: if it has another by now, it isn't the same."""
    server: str | None = None
    """What runs it, with its version, as far as it tells."""
    complete: bool = True
    """Whether all of the suite was tried: not so after Ctrl-C."""


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """All trials of one model."""

    about: RunAbout
    trials: tuple[Trial, ...]

    def count(self, outcome: Outcome) -> int:
        return sum(trial.outcome == outcome for trial in self.trials)

    @property
    def rate(self) -> float | None:
        """Passed, of those that passed or failed; `None` where there are none."""
        judged = self.count("passed") + self.count("failed")
        return self.count("passed") / judged if judged else None

    def summary(self) -> dict[str, Any]:
        """The line that ends the trials of a model."""
        return {
            "type": "summary",
            "model": self.about.model,
            "about": msgspec.to_builtins(self.about),
            "passed": self.count("passed"),
            "failed": self.count("failed"),
            "unsupported": self.count("unsupported"),
            "rate": self.rate,
        }


class _Kind(msgspec.Struct):
    type: str | None = None
    error: Any = None


class _Line(msgspec.Struct):
    """A trial or a summary as it stands in a file: of what one has, the other has none."""

    model: str = ""
    type: str = "trial"
    about: RunAbout | None = None
    mode: str = ""
    case: str = ""
    check: str = ""
    trial: int = 0
    passed: bool | int | None = None
    """A summary has a number here."""
    expected: Any = None
    got: Any = None
    ms: float = 0.0
    reason: str | None = None
    kind: str | None = None
    tokens: int | None = None
    first_token_ms: float | None = None
    writing_ms: float | None = None

    def as_trial(self) -> Trial:
        outcome: Outcome = "unsupported" if self.passed is None else "passed" if self.passed else "failed"
        copied = {name: getattr(self, name) for name in (*_ALWAYS, *_WHERE_SET)}
        return Trial(outcome=outcome, **copied)


def read_run(path: str) -> list[Run]:
    """What `callgate validate --json` printed into `path`: one run for each model, in the order of their summaries.

    Trials without a summary, of a run that was killed, are left out: nobody knows how they were made.

    Raises: NotFound or UsageError, if it can't be read or is something else.
    """
    runs: list[Run] = []
    pending: dict[str, list[Trial]] = {}
    for number, line in lines_of(path):
        if _kind(line, path, number) not in ("trial", "summary"):
            continue
        said = _decoded(line, path, number, _Line)
        if not said.model:
            raise UsageError(f"line {number} of {path!r} is no result of a validation: it names no model", hint=HINT)
        if said.type == "summary":
            if said.about is None:
                raise UsageError(f"line {number} of {path!r} is a summary that doesn't say of what")
            runs.append(Run(about=said.about, trials=tuple(pending.pop(said.model, ()))))
        else:
            pending.setdefault(said.model, []).append(said.as_trial())
    if not runs:
        raise UsageError(f"there is no whole run in {path!r}", hint=HINT)
    return runs


def label_of(ref: ModelRef) -> str:
    """What a model is called in results, which others may see: as it was asked for, but without any password."""
    return str(ModelRef(ref.scheme, ref.name, shown(ref.endpoint))) if ref.endpoint else str(ref)


def trial_of(line: bytes) -> Trial:
    """The trial that a line of JSON is. Raises: msgspec.DecodeError."""
    return msgspec.json.decode(line, type=_Line).as_trial()


def lines_of(path: str) -> Iterator[tuple[int, bytes]]:
    """The lines of a file that aren't empty, each with its number.

    Raises: NotFound or UsageError, if it can't be read, or a line or all of it is too long.
    """
    read = number = 0
    try:
        with open(path, "rb") as file:
            while line := file.readline(LONGEST_LINE + 1):
                number += 1
                read += len(line)
                if len(line) > LONGEST_LINE or read > LARGEST_FILE:
                    raise UsageError(f"line {number} of {path!r} is too long for a validation's result")
                if line.strip():
                    yield number, line
    except FileNotFoundError:
        raise NotFound(f"there is no file {path!r}", hint="callgate validate MODEL --json > FILE makes one") from None
    except OSError as error:
        raise UsageError(f"{path!r} can't be read: {error.strerror}") from None


def _kind(line: bytes, path: str, number: int) -> str:
    """Of a line: what else `--json` prints, as comparisons, surveys and errors, is no part of a run."""
    found = _decoded(line, path, number, _Kind)
    return found.type or ("other" if found.error is not None else "trial")


def _decoded(line: bytes, path: str, number: int, kind: type[_T]) -> _T:
    try:
        return msgspec.json.decode(line, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"line {number} of {path!r} is no result of a validation: {error}", hint=HINT) from None
