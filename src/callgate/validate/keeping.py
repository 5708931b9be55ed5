"""What a validation came to, for the registry: from there it puts models first that passed."""

from __future__ import annotations

from collections.abc import Mapping

from callgate.runtime import VALIDATED, ModelKnowledge
from callgate.settings import Settings
from callgate.validate.records import NEVER_CALLING, Run, Trial
from callgate.validate.running import TOOL_MODES
from callgate.vocabulary import Facts, ModelRef


def keep_run(settings: Settings, ref: ModelRef, facts: Facts, run: Run) -> bool:
    """Keeps the run, if it was a whole one of a model that will be there tomorrow; whether it did.

    Raises: StorageError.
    """
    if not run.about.complete or ref.scheme in ("auto", "scripted"):
        return False
    rates = rates_by_mode(run)
    if not rates:
        return False
    knowledge = ModelKnowledge(settings)
    knowledge.keep_validation(ref, facts, suite=run.about.suite, rates=rates)
    # Calls that an engine was held to show nothing of the model itself.
    native = [trial for trial in run.trials if trial.mode in ("native", "recovered")]
    calling = _rate([trial for trial in native if trial.check not in NEVER_CALLING])
    if calling is not None and calling >= VALIDATED:
        knowledge.observe(ref, facts, tools=True, how="profile")
    return True


def rates_by_mode(run: Run) -> Mapping[str, float]:
    """What part passed of what was judged, for the modes in which tools reach the model."""
    rates = {mode: _rate([trial for trial in run.trials if trial.mode == mode]) for mode in TOOL_MODES}
    return {mode: round(rate, 4) for mode, rate in rates.items() if rate is not None}


def pass_rates(run: Run) -> Mapping[str, float]:
    """The same, where cases without a mode count in each; if there are no others, for themselves."""
    without = [trial for trial in run.trials if trial.mode == "off"]
    rates = {
        mode: _rate([*(trial for trial in run.trials if trial.mode == mode), *without]) for mode in rates_by_mode(run)
    } or {"off": _rate(without)}
    return {mode: rate for mode, rate in rates.items() if rate is not None}


def _rate(trials: list[Trial]) -> float | None:
    judged = [trial for trial in trials if trial.passed is not None]
    return sum(trial.passed is True for trial in judged) / len(judged) if judged else None
