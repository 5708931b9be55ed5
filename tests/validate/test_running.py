from __future__ import annotations

from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

import callgate
from callgate.registry import Registry
from callgate.runtime import Fallback
from callgate.settings import load_settings
from callgate.validate import Run, Trial, Validation, Wanted, chosen_cases, keep_run, modes_of, validate_model_async
from callgate.validate.filling import filled
from callgate.vocabulary import ModelRef, NotFound, Unreachable, UsageError
from tests.runtime.agents import Script, says, script
from tests.runtime.played import NOBODY
from tests.validate.played_model import PlayedModel, right

__all__ = ["script"]

ONE_CALL = chosen_cases("quick", only=["one-call"])


async def tried(validation: Validation) -> list[Trial]:
    async with aclosing(validation.trials()) as trials:
        return [trial async for trial in trials]


async def test_each_mode_has_all_cases_with_tools_and_those_without_come_once() -> None:
    cases = chosen_cases("quick", only=["one-call", "plain-text", "tools-off"])
    model = PlayedModel()
    async with model.running() as ref:
        validation = Validation(ref, Wanted(cases=cases, trials=2, modes=modes_of(["emulated", "native"])))
        trials = await tried(validation)
    assert [(trial.mode, trial.case, trial.trial) for trial in trials] == [
        *(("native", "one-call", number) for number in range(2)),
        *(("emulated", "one-call", number) for number in range(2)),
        *(("off", case, number) for case in ("tools-off", "plain-text") for number in range(2)),
    ]
    run = validation.run()
    assert (run.trials, validation.total, run.about.complete) == (tuple(trials), 8, True)
    assert (run.about.modes, run.about.backend, run.about.model) == (("native", "emulated"), "openai", str(ref))


async def test_what_was_tried_until_somebody_had_enough_is_kept() -> None:
    model = PlayedModel()
    async with model.running() as ref:
        validation = Validation(ref, Wanted(cases=ONE_CALL, trials=3, modes=("native",)))
        async with aclosing(validation.trials()) as trials:
            await anext(trials)
    run = validation.run()
    assert (len(run.trials), run.about.complete) == (1, False)


async def test_a_model_that_has_no_tools_is_tried_as_callgate_would_use_it() -> None:
    async with PlayedModel().running() as ref:
        validation = Validation(ref, Wanted(cases=ONE_CALL, trials=1))
        assert [trial.mode for trial in await tried(validation)] == ["emulated"]


async def test_a_control_that_only_talks_is_right_where_it_must_not_call(script: Script) -> None:
    ref = script(*[says("Hello! I can ", "only talk.")] * 300)
    settings = load_settings()
    run = await validate_model_async(ref, modes=["native"], trials=2, settings=settings)
    rates: dict[str, set[bool | None]] = {}
    for trial in run.trials:
        rates.setdefault(trial.check, set()).add(trial.passed)
    assert rates.pop("noToolCall") == rates.pop("plainText") == {True}
    rates.pop("streaming")  # of which some are about words
    assert set(map(frozenset, rates.values())) == {frozenset({False})}
    assert Registry.in_folder(settings.data_folder).get(ref) is None


async def test_a_server_that_is_not_there_is_an_error_and_no_failed_trial() -> None:
    validation = Validation(ModelRef("openai", "m", f"{NOBODY}/v1"), Wanted(cases=ONE_CALL))
    with pytest.raises(Unreachable):
        await tried(validation)
    assert validation.run().trials == ()


async def test_a_model_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        await tried(Validation(ModelRef("file", str(tmp_path / "none.gguf")), Wanted(cases=ONE_CALL)))


async def test_what_a_whole_suite_came_to_is_kept_and_puts_the_model_first() -> None:
    settings = load_settings()
    other = ModelRef.parse("other")
    model = PlayedModel()
    async with model.running() as ref:
        run = await validate_model_async(ref, only=["one-call"], modes=["native"], trials=1, settings=settings)
        assert Registry.in_folder(settings.data_folder).get(ref) is None  # that was but a part
        kept = await _validated_well(model, ref)
    record = Registry.in_folder(settings.data_folder).get(ref)
    assert record
    assert record.validated_at
    assert (record.validated_suite, record.validated_rates) == ("quick", {"native": 1.0})
    assert (record.tool_support, record.tool_support_source) == (True, "profile")
    assert Fallback((other, ref), settings=settings).after([]) == [ref, other]
    assert (run.rate, kept.rate) == (0.0, 1.0)


async def _validated_well(model: PlayedModel, ref: ModelRef) -> Run:
    """One case is the whole suite of somebody who has no other."""
    validation = Validation(ref, Wanted(cases=ONE_CALL, trials=2, modes=("native",)))
    model.replies = [right(filled(ONE_CALL[0].case, number).expect) for number in range(2)]
    await tried(validation)
    assert validation.finding
    assert keep_run(load_settings(), ref, validation.finding.facts, validation.run())
    return validation.run()


def test_programs_without_an_event_loop_validate_too(script: Script) -> None:
    seen: list[Trial] = []
    run = callgate.validate_model(
        script(*[says("No.")] * 9), only=["one-call"], modes=["native"], trials=2, on_trial=seen.append
    )
    assert (len(seen), run.rate) == (2, 0.0)


def test_a_mode_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="sideways"):
        modes_of(["native", "sideways"])


async def test_a_question_that_nobody_answers_in_time_is_a_failed_trial_and_three_in_a_row_are_the_end() -> None:
    cases = chosen_cases("quick", only=["one-call", "plain-text"])
    settings = load_settings({"timeouts.first_byte": 0.3})
    model = PlayedModel()
    model.hangs_with_tools = True
    async with model.running() as ref:
        few = Validation(ref, Wanted(cases=cases, trials=2, modes=("native",)), settings)
        kinds = [(trial.case, trial.kind) for trial in await tried(few)]
        assert kinds[:2] == [("one-call", "timeout")] * 2
        assert [case for case, _ in kinds[2:]] == ["plain-text"] * 2  # which the model can answer
        many = Validation(ref, Wanted(cases=cases, trials=9, modes=("native",)), settings)
        with pytest.raises(Unreachable, match="3 times in a row"):
            await tried(many)
    assert [trial.kind for trial in many.run().trials] == ["timeout"] * 3
    assert not many.run().about.complete


@pytest.mark.parametrize("wish", [{"suite": "zzz"}, {"trials": 0}, {"trials": -1}, {"modes": []}])
async def test_wishes_that_make_no_sense_are_refused(wish: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        await validate_model_async("tiny", **wish)
