import json

import msgspec

from callgate.runtime import ModelReport, error_as_json, timestamp
from callgate.vocabulary import Answer, Capabilities, Evidence, Source, UsageError


def test_a_target_that_failed_has_nothing_but_its_error() -> None:
    report = ModelReport(target="x.gguf", model="x.gguf", error=UsageError("no good", hint="another"), elapsed_ms=1.234)
    assert report.as_json() == {
        "target": "x.gguf",
        "model": "x.gguf",
        "tools": "unknown",
        "guess": False,
        "native_route": None,
        "capabilities": None,
        "evidence": [],
        "model_info": None,
        "elapsed_ms": 1.23,
        "error": {"type": "UsageError", "message": "no good", "hint": "another"},
    }


def test_evidence_says_whether_it_decides() -> None:
    strong = Evidence("tools", Answer.UNKNOWN, Source.TEMPLATE, "broken", 0)
    middle = Evidence("tools", Answer.NO, Source.ENGINE, "it says so", 1)
    weak = Evidence("tools", Answer.YES, Source.NAME, "its name", 2)
    known = Capabilities(name="x", tools=Answer.NO, evidence=(strong, middle, weak))
    report = ModelReport(target="x", model="x", capabilities=known)
    assert [decides for _, decides in report.evidence] == [False, True, False]
    assert report.as_json()["evidence"][1] == {
        "claim": "tools",
        "answer": "no",
        "source": "engine",
        "detail": "it says so",
        "at": "1970-01-01T00:00:01Z",
        "decisive": True,
    }


def test_the_route_is_a_servers_matter() -> None:
    known = Capabilities(name="x", native_route=Answer.YES)
    assert ModelReport(target="x", model="x", capabilities=known).as_json()["native_route"] is None
    assert ModelReport(target="x", model="x", capabilities=known, served=True).as_json()["native_route"] == "yes"


def test_names_that_are_no_text_are_json_all_the_same() -> None:
    report = ModelReport(target="a\udcff.gguf", model="\ud800", capabilities=Capabilities(name="\ud800"))
    shown = json.loads(msgspec.json.encode(report.as_json()))
    assert (shown["target"], shown["model"]) == ("a?.gguf", "?")


def test_errors_and_times_are_written_plainly() -> None:
    assert error_as_json(UsageError("m")) == {"type": "UsageError", "message": "m", "hint": None}
    assert timestamp(1_794_714_570.9) == "2026-11-15T03:49:30Z"
