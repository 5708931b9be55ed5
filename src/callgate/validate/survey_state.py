"""What a survey has done so far, on disk, so that the next one goes on where it was: also in the middle of a model.

`survey.jsonl` is what `callgate survey --json` prints: for each model its trials, a summary, and what was found. Of a
model that isn't done yet, each trial is a line in a file of its own beside it, until the model is done.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import Any, NamedTuple

import msgspec

from callgate.registry import as_moment, locked, make_folder
from callgate.settings import Settings
from callgate.validate.records import Run, RunAbout, Trial, lines_of, trial_of
from callgate.validate.survey_records import ModelSurvey
from callgate.vocabulary import StorageError, UsageError

FILE_NAME = "survey.jsonl"
PATIENCE_SECONDS = 10.0
GOOD_FOR_SECONDS = 24 * 3600.0
"""What is known of a model whose server doesn't tell its version."""


class Surveyed(NamedTuple):
    survey: ModelSurvey
    run: Run

    def lines(self) -> list[Mapping[str, Any]]:
        return [*(trial.as_json() for trial in self.run.trials), self.run.summary(), self.survey.as_json()]


class Noted(msgspec.Struct, frozen=True, kw_only=True):
    """One trial, and what was seen on the way."""

    trial: Trial
    formats: dict[str, int] = {}
    habits: dict[str, int] = {}
    exchange: Any = None
    """If it failed: the last turn as it went over the wire."""


class SurveyState:
    """Never raises: what can't be read wasn't done, and what can't be written is done again."""

    def __init__(self, path: str, *, fresh: bool = False) -> None:
        """`fresh`: what was done before doesn't count, and is replaced where it is done again."""
        self.path = path
        self._fresh = fresh
        self._done = {} if fresh else _read(path)

    @classmethod
    def of(cls, settings: Settings, *, fresh: bool = False) -> SurveyState:
        return cls(os.path.join(settings.cache_folder, FILE_NAME), fresh=fresh)

    def done(self, about: RunAbout) -> Surveyed | None:
        """What was found of this version of the model, if it was tried in the same way by the same callgate."""
        found = self._done.get(about.model)
        if found is None or found.survey.error or not found.survey.about.complete:
            return None
        then = found.survey.about
        if _key(then) != _key(about) or not (about.digest or _is_recent(as_moment(then.at))):
            return None
        return found

    def begun(self, about: RunAbout) -> list[Noted]:
        """The trials of a survey that broke off in the middle of this model; from now on more are added."""
        path = self._part(about)
        noted: dict[tuple[str, str, int], Noted] = {}
        with suppress(OSError, UsageError):
            if self._fresh or not (about.digest or _is_recent(os.stat(path).st_mtime)):
                os.unlink(path)
            for _, line in lines_of(path):
                with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    each = msgspec.json.decode(line, type=Noted)
                    noted[(each.trial.mode, each.trial.case, each.trial.trial)] = each
        return list(noted.values())

    def note(self, about: RunAbout, noted: Noted) -> None:
        path = self._part(about)
        with suppress(OSError, StorageError):
            make_folder(path)
            with open(path, "ab", opener=_for_us_alone) as file:
                # With a line break before it, too: whoever wrote last may have been killed in the middle of a line.
                file.write(b"\n" + msgspec.json.encode(noted) + b"\n")

    def keep(self, about: RunAbout, surveyed: Surveyed) -> None:
        """All of a model, instead of what was kept of it before."""
        self._done[surveyed.survey.model] = surveyed
        with suppress(OSError, StorageError):
            make_folder(self.path)
            with locked(self.path, patience=PATIENCE_SECONDS):
                kept = {**_read(self.path), surveyed.survey.model: surveyed}  # others may have written meanwhile
                lines = (msgspec.json.encode(line) + b"\n" for each in kept.values() for line in each.lines())
                beside = f"{self.path}.{os.getpid()}"
                with open(beside, "wb", opener=_for_us_alone) as file:
                    file.writelines(lines)
                os.replace(beside, self.path)
            os.unlink(self._part(about))

    def _part(self, about: RunAbout) -> str:
        name = sha256(msgspec.json.encode(_key(about))).hexdigest()[:24]
        return os.path.join(os.path.dirname(self.path), "survey-parts", f"{name}.jsonl")


def _key(about: RunAbout) -> RunAbout:
    """What has to be the same: the model, its version, its server, and how it is tried."""
    return msgspec.structs.replace(about, at="", complete=True)


def _is_recent(moment: float | None) -> bool:
    return moment is not None and 0 <= time.time() - moment < GOOD_FOR_SECONDS


def _for_us_alone(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _read(path: str) -> dict[str, Surveyed]:
    """The newest of each model. A line that makes no sense is passed over: its writer may have been killed."""
    done: dict[str, Surveyed] = {}
    trials: dict[str, list[Trial]] = {}
    with suppress(UsageError):
        for _, line in lines_of(path):
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                kind = msgspec.json.decode(line, type=_Kind)
                if kind.type == "survey":
                    survey = msgspec.json.decode(line, type=ModelSurvey)
                    run = Run(about=survey.about, trials=tuple(trials.pop(kind.model, ())))
                    done[kind.model] = Surveyed(survey, run)
                elif kind.type == "trial":
                    trials.setdefault(kind.model, []).append(trial_of(line))
    return done


class _Kind(msgspec.Struct):
    model: str
    type: str = "trial"
