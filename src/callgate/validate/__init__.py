"""Proves what a model can do: a suite of real turns, the survey over all models, and their reports."""

from typing import TYPE_CHECKING

from callgate.doors import opened_on_use

if TYPE_CHECKING:
    from callgate.validate.bfcl_suite import bfcl_cases
    from callgate.validate.case_files import Suite, chosen_cases, own_cases, read_cases
    from callgate.validate.case_records import Case, Expected, ExpectedCall, KnownCase
    from callgate.validate.comparing import Comparison, compare
    from callgate.validate.heard import Fault, Heard
    from callgate.validate.html_report import html_page
    from callgate.validate.junit_xml import junit
    from callgate.validate.keeping import keep_run, pass_rates
    from callgate.validate.proving import validate_model, validate_model_async
    from callgate.validate.records import Mode, Outcome, Run, RunAbout, Trial, label_of, read_run
    from callgate.validate.running import TRIALS, Validation, Wanted, modes_of, usual_modes
    from callgate.validate.standings import failures
    from callgate.validate.survey_all import SurveyOfAll, SurveyProgress
    from callgate.validate.survey_records import (
        GOAL,
        ModelSurvey,
        agreement,
        agreement_by_capability,
        said_and_seen,
        survey_as_json,
    )
    from callgate.validate.survey_state import Surveyed, SurveyState
    from callgate.validate.surveying import ModelSurveying, survey_wanted
    from callgate.validate.tabled import headlines, rows_of

__all__ = [
    "GOAL",
    "TRIALS",
    "Case",
    "Comparison",
    "Expected",
    "ExpectedCall",
    "Fault",
    "Heard",
    "KnownCase",
    "Mode",
    "ModelSurvey",
    "ModelSurveying",
    "Outcome",
    "Run",
    "RunAbout",
    "Suite",
    "SurveyOfAll",
    "SurveyProgress",
    "SurveyState",
    "Surveyed",
    "Trial",
    "Validation",
    "Wanted",
    "agreement",
    "agreement_by_capability",
    "bfcl_cases",
    "chosen_cases",
    "compare",
    "failures",
    "headlines",
    "html_page",
    "junit",
    "keep_run",
    "label_of",
    "modes_of",
    "own_cases",
    "pass_rates",
    "read_cases",
    "read_run",
    "rows_of",
    "said_and_seen",
    "survey_as_json",
    "survey_wanted",
    "usual_modes",
    "validate_model",
    "validate_model_async",
]

__getattr__ = opened_on_use(
    __name__,
    {
        "TRIALS": "running",
        "bfcl_cases": "bfcl_suite",
        "Case": "case_records",
        "Comparison": "comparing",
        "Expected": "case_records",
        "ExpectedCall": "case_records",
        "Fault": "heard",
        "Heard": "heard",
        "KnownCase": "case_records",
        "Mode": "records",
        "Outcome": "records",
        "Run": "records",
        "RunAbout": "records",
        "Suite": "case_files",
        "Trial": "records",
        "Validation": "running",
        "Wanted": "running",
        "chosen_cases": "case_files",
        "compare": "comparing",
        "html_page": "html_report",
        "junit": "junit_xml",
        "keep_run": "keeping",
        "label_of": "records",
        "modes_of": "running",
        "own_cases": "case_files",
        "pass_rates": "keeping",
        "read_cases": "case_files",
        "read_run": "records",
        "validate_model": "proving",
        "validate_model_async": "proving",
        "headlines": "tabled",
        "rows_of": "tabled",
        "usual_modes": "running",
        "failures": "standings",
        "ModelSurvey": "survey_records",
        "GOAL": "survey_records",
        "agreement": "survey_records",
        "agreement_by_capability": "survey_records",
        "said_and_seen": "survey_records",
        "survey_as_json": "survey_records",
        "SurveyOfAll": "survey_all",
        "SurveyProgress": "survey_all",
        "SurveyState": "survey_state",
        "Surveyed": "survey_state",
        "survey_wanted": "surveying",
        "ModelSurveying": "surveying",
    },
)
