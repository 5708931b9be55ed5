"""A validation for programs: all of it in one call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import aclosing
from typing import Any

from callgate.runtime import BackgroundLoop
from callgate.settings import Settings, load_settings
from callgate.validate.case_files import Suite, chosen_cases
from callgate.validate.keeping import keep_run
from callgate.validate.records import Mode, Run, Trial
from callgate.validate.running import TRIALS, Validation, Wanted, modes_of, usual_modes
from callgate.vocabulary import ModelRef, UsageError


async def validate_model_async(
    model: ModelRef | str,
    *,
    suite: Suite = "quick",
    trials: int | None = None,
    modes: Iterable[Mode] | None = None,
    cases: Iterable[str] = (),
    only: Iterable[str] = (),
    seed: int = 0,
    options: Mapping[str, Any] | None = None,
    settings: Settings | None = None,
    on_trial: Callable[[Trial], None] | None = None,
) -> Run:
    """Puts a suite of real turns to the model, and judges each. What came of a whole suite is kept in the registry.

    `cases` are folders with cases of your own; `only` are names of cases, as `long-*`, or of checks. `modes`: how tools
    are to reach it; as callgate itself would send them if none is named, and in all ways for the full suite.

    Raises: UsageError, if a case or the model's name is no good; BackendError, if its server doesn't answer.
    """
    settings = settings or load_settings()
    only = tuple(only)
    if suite not in TRIALS:
        raise UsageError(f"there is no suite {suite!r}", hint=f"there are: {', '.join(TRIALS)}")
    if trials is not None and trials < 1:
        raise UsageError(f"{trials} trials of each case are none", hint="at least 1")
    chosen = None if modes is None else modes_of(tuple(modes))
    if chosen == ():
        raise UsageError("no mode is named", hint="leave `modes` out for the usual ones")
    wanted = Wanted(
        cases=chosen_cases(suite, folders=cases, only=only),
        suite=suite,
        trials=TRIALS[suite] if trials is None else trials,
        modes=usual_modes(suite) if chosen is None else chosen,
        seed=seed,
        options=options or {},
    )
    validation = Validation(ModelRef.parse(model) if isinstance(model, str) else model, wanted, settings)
    async with aclosing(validation.trials()) as done:
        async for trial in done:
            if on_trial:
                on_trial(trial)
    run = validation.run()
    if validation.finding and not only:
        keep_run(settings, validation.ref, validation.finding.facts, run)
    return run


def validate_model(model: ModelRef | str, **wishes: Any) -> Run:
    """See `validate_model_async`, which has the same parameters. May be called where an event loop runs."""

    async def nothing() -> None: ...

    loop = BackgroundLoop("validation", nothing)
    try:
        return loop.result(validate_model_async(model, **wishes))
    finally:
        loop.close()
