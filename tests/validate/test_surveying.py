from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from callgate.settings import load_settings
from callgate.validate import (
    ModelSurvey,
    ModelSurveying,
    Run,
    Surveyed,
    SurveyOfAll,
    SurveyProgress,
    SurveyState,
    Trial,
    Wanted,
    agreement,
    agreement_by_capability,
    chosen_cases,
    html_page,
    read_run,
    survey_as_json,
    survey_wanted,
)
from callgate.validate.filling import filled
from callgate.validate.survey_all import identity_of
from callgate.validate.survey_forms import FORMS, forms_taken
from callgate.validate.survey_records import Declared, Shown
from callgate.validate.surveying import shown_by
from callgate.vocabulary import ModelRef
from tests.runtime.agents import Script, says, script
from tests.runtime.played import NOBODY
from tests.validate.played_model import PlayedModel, Reply, calls, right
from tests.validate.test_records import ABOUT, trial

__all__ = ["script"]

ONE_CALL = chosen_cases(only=["one-call"])
WANTED = Wanted(cases=ONE_CALL, suite="survey", trials=2, modes=("native",))


async def surveyed(ref: ModelRef, wanted: Wanted = WANTED) -> tuple[ModelSurvey, Run]:
    surveying = ModelSurveying(ref, wanted, load_settings())
    async with aclosing(surveying.trials()) as trials:
        async for _ in trials:
            pass
    return surveying.survey(), surveying.run()


def answers(*numbers: int) -> list[Reply]:
    return [right(filled(ONE_CALL[0].case, number).expect) for number in numbers]


async def test_what_a_model_does_is_counted() -> None:
    model = PlayedModel()
    text = '<tool_call>{"name": "get_humidity", "arguments": {"city": "Rome"}}</tool_call>'
    model.replies = [*answers(0), Reply((text,)), calls(("get_humidity", {"city": 5, "unit": "C"})), Reply(("No.",))]
    async with model.running() as ref:
        survey, run = await surveyed(ref, Wanted(cases=ONE_CALL, suite="survey", trials=4, modes=("native",)))
    assert survey.rates == {"native": 0.25}
    assert survey.formats == {"native": 2, "hermes_json": 1}
    assert survey.habits == {"extra-key": 1, "text": 1}
    assert {kind: found.count for kind, found in survey.failures.items()} == {
        "text-call": 1,
        "invalid-arguments": 1,
        "no-call": 1,
    }
    exchange = survey.failures["no-call"].exchange
    assert exchange["sent"]["tools"][0]["function"]["name"] == "get_humidity"  # as it went over the wire
    assert exchange["status"] == 200
    assert exchange["received"].startswith('data: {"choices":[{"index":0,"delta":{"content":"No."}}]}')
    assert survey.speed
    assert survey.speed.ms > 0
    assert len(run.trials) == 4


async def test_a_server_is_asked_in_every_form() -> None:
    model = PlayedModel()
    model.replies = [*answers(0, 1), calls(("get_humidity", {})), Reply(("Hi",)), Reply()]
    async with model.running() as ref:
        survey, _ = await surveyed(ref)
    assert survey.forms == {
        "wrapped": "calls",
        "flat": "ignored",
        "functions": "taken",
        "required": "ignored",
        "named": "ignored",
    }
    sent = model.asked[-len(FORMS) :]
    assert "function" in sent[0]["tools"][0]
    assert "function" not in sent[1]["tools"][0]
    assert sent[2]["functions"][0]["name"] == "get_humidity"
    assert (sent[3]["tool_choice"], sent[4]["tool_choice"]["function"]) == ("required", {"name": "get_humidity"})


async def test_a_server_that_refuses_tools_refuses_them_in_every_form() -> None:
    model = PlayedModel()
    model.refuses_tools = True
    async with model.running() as ref:
        survey, _ = await surveyed(ref)
    assert survey.forms["wrapped"] == survey.forms["flat"] == "refused"
    assert (survey.shown.tools, survey.rates) == (False, {})


def native(kind: str | None = None, outcome: str = "passed") -> Trial:
    return trial(outcome=outcome, kind=kind)


@pytest.mark.parametrize(
    ("trials", "shown"),
    [
        ([native(), native()], Shown(tools=True, text_calls=False)),
        ([native(), native("no-call", "failed")], Shown(tools=True, text_calls=False)),
        ([native("no-call", "failed")], Shown(tools=False, text_calls=False)),
        ([native("wrong-arguments", "failed")] * 4, Shown(tools=True, text_calls=False)),
        ([native("invalid-arguments", "failed"), native("extra-call", "failed")], Shown(tools=True, text_calls=False)),
        ([native("wrong-tool", "failed"), native("missing-call", "failed")], Shown(tools=True, text_calls=False)),
        ([native("wrong-name", "failed")], Shown(tools=False, text_calls=False)),
        ([native("error:BadStatus", "failed")], Shown()),
        ([native("timeout", "failed"), native()], Shown(tools=True, text_calls=False)),
        ([native("text-call", "failed")], Shown(tools=False, text_calls=True)),
        ([native("not-this-way", "unsupported")], Shown(tools=False)),
        ([], Shown()),
        ([trial(mode="emulated")], Shown()),
    ],
)
def test_what_trials_show(trials: list[Trial], shown: Shown) -> None:
    assert shown_by(trials) == shown


@pytest.mark.parametrize(
    ("tools", "mode", "seen", "agrees"),
    [
        ("yes", "native", True, True),
        ("yes", "native", False, False),
        ("no", "emulated", False, True),
        ("no", "emulated", True, False),
        ("yes", "emulated", False, True),  # its server lets no tools through
        ("unknown", "emulated", False, None),
        ("yes", "native", None, None),
    ],
)
def test_verdict_and_behaviour_agree_or_not(tools: str, mode: str, seen: bool | None, agrees: bool | None) -> None:
    declared = Declared(tools=tools, native_route="yes", mode=mode)
    survey = ModelSurvey(about=ABOUT, declared=declared, shown=Shown(tools=seen))
    assert survey.agrees is agrees
    assert agreement([survey]) == (int(agrees is True), int(agrees is not None))


async def results(survey: SurveyOfAll) -> list[Surveyed]:
    async with aclosing(survey.results()) as found:
        return [each async for each in found]


async def test_a_model_that_fails_does_not_stop_the_others_and_nothing_is_said_of_a_control(script: Script) -> None:
    gone = ModelRef("openai", "m", f"{NOBODY}/v1")
    control = script(*[says("I only talk.")] * 99)
    steps: list[tuple[int, int, int]] = []

    def heard(progress: SurveyProgress) -> None:
        steps.append((progress.models_done, progress.made, progress.total))

    found = await results(SurveyOfAll([gone, control], WANTED, load_settings(), on_step=heard))
    by_model = {each.survey.model: each.survey for each in found}
    assert by_model[str(gone)].error
    assert by_model[str(control)].declared is None
    assert by_model[str(control)].agrees is None
    assert by_model[str(control)].rates == {"native": 0.0}
    assert steps[-1] == (2, 2, 2)
    page = html_page([each.run for each in found], survey=survey_as_json([each.survey for each in found]))
    assert "no-call" in page


@pytest.fixture
def digests(monkeypatch: pytest.MonkeyPatch) -> dict[str, str | None]:
    known: dict[str, str | None] = {"digest": "d1"}
    for place in ("survey_all", "running"):
        monkeypatch.setattr(f"callgate.validate.{place}.version_of", lambda *_: known["digest"])
    return known


async def test_what_was_done_is_not_done_again_unless_the_model_changed(
    tmp_path: Path, digests: dict[str, str | None]
) -> None:
    path = tmp_path / "survey.jsonl"
    model = PlayedModel()
    async with model.running() as ref:
        for expected in (True, False, False):
            model.asked.clear()
            (found,) = await results(SurveyOfAll([ref], WANTED, load_settings(), state=SurveyState(str(path))))
            assert bool(model.asked) is expected
            assert (len(found.run.trials), found.survey.about.digest) == (2, "d1")
            path.write_bytes(path.read_bytes() + b'{"model": "tor')  # somebody was killed there
        digests["digest"] = "d2"
        await results(SurveyOfAll([ref], WANTED, load_settings(), state=SurveyState(str(path))))
        assert model.asked
    assert len(read_run(str(path))) == 1  # what is old is replaced


async def test_a_model_whose_version_nobody_tells_is_not_tried_again_on_the_same_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(tmp_path / "survey.jsonl")
    model = PlayedModel()
    async with model.running() as ref:
        (first,) = await results(SurveyOfAll([ref], WANTED, load_settings(), state=SurveyState(path)))
        assert first.survey.about.digest is None
        model.asked.clear()
        await results(SurveyOfAll([ref], WANTED, load_settings(), state=SurveyState(path)))
        assert not model.asked
        monkeypatch.setattr("callgate.validate.survey_state.GOOD_FOR_SECONDS", 0.0)
        await results(SurveyOfAll([ref], WANTED, load_settings(), state=SurveyState(path)))
        assert model.asked


async def test_a_survey_that_was_stopped_goes_on_in_the_middle_of_a_model(tmp_path: Path) -> None:
    path = str(tmp_path / "survey.jsonl")
    wanted = Wanted(cases=ONE_CALL, suite="survey", trials=4, modes=("native",))
    model = PlayedModel()
    model.replies = [*answers(0, 1), Reply(("No.",))]
    async with model.running() as ref:
        stopped = SurveyOfAll([ref], wanted, load_settings(), state=SurveyState(path))

        def stop(progress: SurveyProgress) -> None:
            if progress.made == 3:
                raise RuntimeError("enough")

        stopped._on_step = stop
        with pytest.raises(RuntimeError, match="enough"):
            await results(stopped)
        (so_far,) = stopped.broken_off()
        assert (len(so_far.run.trials), so_far.run.about.complete) == (3, False)
        assert "so far" in (so_far.survey.seen or "")
        model.asked.clear()
        (found,) = await results(SurveyOfAll([ref], wanted, load_settings(), state=SurveyState(path)))
    assert len(model.asked) == 1 + len(FORMS)
    assert [trial.trial for trial in found.run.trials] == [0, 1, 2, 3]
    assert (found.run.about.complete, found.survey.formats) == (True, {"native": 2})
    assert found.survey.failures["no-call"].count == 2
    assert "No." in found.survey.failures["no-call"].exchange["received"]  # which the first of the two surveys saw


async def test_to_begin_anew_concerns_only_the_models_that_are_named(tmp_path: Path, script: Script) -> None:
    path = str(tmp_path / "survey.jsonl")
    one, other = script(*[says("I only talk.")] * 99), script(*[says("I only talk.")] * 99)
    await results(SurveyOfAll([one, other], WANTED, load_settings(), state=SurveyState(path)))
    steps: list[int] = []
    fresh = SurveyOfAll(
        [one], WANTED, load_settings(), state=SurveyState(path, fresh=True), on_step=lambda now: steps.append(now.made)
    )
    await results(fresh)
    assert steps[-1] == 2
    assert {run.about.model for run in read_run(path)} == {str(one), str(other)}


def modes_below(folder: Path) -> list[int]:
    return [kept.stat().st_mode & 0o077 for kept in folder.rglob("*.jsonl")]


async def test_what_is_kept_can_be_read_as_runs(tmp_path: Path) -> None:
    state = SurveyState(str(tmp_path / "survey.jsonl"))
    async with PlayedModel().running() as ref:
        (found,) = await results(SurveyOfAll([ref], WANTED, load_settings(), state=state))
    assert read_run(state.path) == [found.run]
    assert modes_below(tmp_path) == [0]  # and no parts of it


async def test_a_model_in_two_spellings_is_surveyed_once() -> None:
    model = PlayedModel()
    async with model.running() as ref:
        survey = SurveyOfAll([ref, ModelRef("openai", "played", f"{ref.endpoint}/")], WANTED, load_settings())
        assert len(await results(survey)) == 1


def test_one_ollama_has_one_address() -> None:
    settings = load_settings({"ollama.host": "127.0.0.1:11500"})
    spellings = [
        ModelRef("ollama", "smol"),
        ModelRef("ollama", "smol:latest", "http://127.0.0.1:11500"),
        ModelRef("ollama", "smol", "http://127.0.0.1:11500"),
    ]
    assert len({identity_of(ref, settings) for ref in spellings}) == 1
    assert identity_of(ModelRef("ollama", "tiny"), settings)[0] == identity_of(spellings[1], settings)[0]


async def test_models_of_one_backend_come_one_after_the_other_and_backends_at_once(script: Script) -> None:
    one, other = PlayedModel(), PlayedModel()
    async with one.running() as first, other.running() as second:
        refs = [first, ModelRef("openai", "too", first.endpoint), second]
        survey = SurveyOfAll(refs, WANTED, load_settings())
        running: list[Mapping[Any, str]] = []
        survey._on_step = lambda progress: running.append(dict(progress.now))
        await results(survey)
    assert max(map(len, running)) <= 2
    asked = [request["model"] for request in one.asked]
    assert asked == sorted(asked)  # "played", and only then "too"


async def test_somebody_who_stops_listening_stops_it() -> None:
    model = PlayedModel()
    async with model.running() as ref:
        survey = SurveyOfAll([ref, ModelRef("openai", "too", ref.endpoint)], WANTED, load_settings())
        async with aclosing(survey.results()) as found:
            await anext(found)
        asked = len(model.asked)
        await asyncio.sleep(0)
        assert len(model.asked) == asked


async def test_a_recording_is_asked_for_nothing_that_is_not_in_it(script: Script) -> None:
    from callgate.runtime import Session

    async with Session() as session:
        assert await forms_taken(session, script(says("Hi"))) == {}


def test_the_cases_of_a_survey_are_there() -> None:
    wanted = survey_wanted()
    assert len(wanted.cases) >= 8
    assert json.dumps([known.case.name for known in wanted.cases])


async def test_a_server_that_breaks_is_shown_with_what_it_said_and_without_secrets() -> None:
    model = PlayedModel()
    model.breaks = True
    async with model.running() as ref:
        survey, _ = await surveyed(ref)
    (kind,) = survey.failures
    exchange = survey.failures[kind].exchange
    assert kind == "error:BadStatus"
    assert (exchange["status"], exchange["sent"]["model"]) == (500, "played")
    assert "out of memory" in exchange["received"]
    assert "hunter22" not in json.dumps(exchange)


async def test_a_choice_that_was_cut_off_was_not_ignored() -> None:
    model = PlayedModel()
    model.end = "length"
    async with model.running() as ref:
        survey, _ = await surveyed(ref)
    assert survey.forms["named"] == survey.forms["required"] == "cut-off"
    assert survey.failures.keys() == {"cut-off"}


def test_other_capabilities_are_said_and_seen_side_by_side() -> None:
    declared = Declared(
        tools="yes", native_route="yes", mode="native", parallel=True, system=True, vision=False, context=32768
    )
    survey = ModelSurvey(about=ABOUT, declared=declared, shown=Shown(tools=True, parallel=False, system=True))
    row = survey.as_row()
    assert (row["parallel"], row["system"]) == ("said yes, seen no", "said yes, seen yes")
    assert (row["vision"], row["context"], row["thinking"]) == ("said no", "said 32,768", None)
    assert agreement_by_capability([survey, survey]) == {"tools": (2, 2), "parallel": (0, 2), "system": (2, 2)}
    page = html_page([], survey=survey_as_json([survey]))
    assert "said yes, seen no" in page
    assert "parallel 0 of 1" in page
    assert "callgate survey" in page


def test_a_page_counts_all_models_also_those_that_failed() -> None:
    failed = ModelSurvey(about=ABOUT, error={"type": "Unreachable", "message": "nobody there"})
    page = html_page([], survey=survey_as_json([failed, failed, failed]))
    assert "3 models, said and seen" in page
