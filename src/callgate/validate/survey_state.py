"""What a survey has done so far, on disk, so that the next one goes on where it was.

The file is what `callgate survey --json` prints: for each model its trials, a summary, and what was found.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from callgate.registry import locked, make_folder
from callgate.settings import Settings
from callgate.validate.records import Run, RunAbout, Trial, lines_of, trial_of
from callgate.validate.survey_records import ModelSurvey
from callgate.vocabulary import StorageError, UsageError

FILE_NAME = "survey.jsonl"
PATIENCE_SECONDS = 10.0


class Surveyed(NamedTuple):
    survey: ModelSurvey
    run: Run

    def lines(self) -> list[Mapping[str, Any]]:
        return [*(trial.as_json() for trial in self.run.trials), self.run.summary(), self.survey.as_json()]


class SurveyState:
    """Never raises: what can't be read wasn't done, and what can't be written is done again."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._done = _read(path)

    @classmethod
    def of(cls, settings: Settings) -> SurveyState:
        return cls(os.path.join(settings.cache_folder, FILE_NAME))

    def done(self, about: RunAbout) -> Surveyed | None:
        """What was found of this version of the model, if it was tried in the same way by the same callgate."""
        found = self._done.get(about.model)
        if found is None or not about.digest or found.survey.error:
            return None
        same = msgspec.structs.replace(found.survey.about, at=about.at, complete=about.complete)
        return found if same == about and found.survey.about.complete else None

    def keep(self, surveyed: Surveyed) -> None:
        self._done[surveyed.survey.model] = surveyed
        content = b"".join(msgspec.json.encode(line) + b"\n" for line in surveyed.lines())
        with suppress(OSError, StorageError):
            make_folder(self.path)
            with locked(self.path, patience=PATIENCE_SECONDS), open(self.path, "ab", opener=_for_us_alone) as file:
                file.write(content)

    def forget(self) -> None:
        self._done.clear()
        with suppress(OSError):
            os.unlink(self.path)


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
