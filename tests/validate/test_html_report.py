"""The page shows what there is, needs nothing from elsewhere, and lets no stranger's words out of their place."""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgate.validate.comparing import compare
from callgate.validate.html_report import html_page
from callgate.validate.html_style import STYLE
from callgate.validate.records import Run
from tests.validate.made_runs import outcomes, run, trial
from tests.validate.page_reader import Page

ANYTHING = st.characters(exclude_categories=())
ELEMENTS = set(
    re.findall(
        r"\w+",
        "html head meta title style body header main footer section nav h1 h2 h3 h4 p a b bdi span small div dl dt dd "
        "table thead tbody tr th td details summary pre svg g line circle rect text",
    )
)
ATTRIBUTES = set(
    re.findall(
        r"[\w-]+",
        "class id lang charset http-equiv content name href aria-label aria-hidden tabindex role title scope colspan "
        "data-label dir height width x x1 x2 y y1 y2 cx cy r rx text-anchor",
    )
)
NASTY = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'--></style></title>&lt;\x00\x1b[31m\u202e\ud800"
JSON = st.recursive(st.none() | st.text(ANYTHING) | st.integers(), lambda inner: st.lists(inner, max_size=3))


def many() -> list[Run]:
    return [
        run(
            [
                one
                for mode in ("native", "recovered", "emulated")
                for case in ("one-call", "parallel", "bfcl/simple/1")
                for one in outcomes("ppfpu", mode=mode, case=case, model=f"model-{number}")
            ]
        )
        for number in range(12)
    ]


def assert_harmless(page: Page) -> None:
    assert {element for element, _ in page.elements} <= ELEMENTS
    assert {name for _, attributes in page.elements for name in attributes} <= ATTRIBUTES
    assert all((attributes["href"] or "").startswith("#") for attributes in page.named("a"))


def test_the_page_says_what_passed_and_how_sure_that_is() -> None:
    page = Page(html_page([run([*outcomes("ppppf"), *outcomes("u", case="choice-required")])]))
    assert "What tiny can do" in page.text
    assert "4 of 5" in page.text
    assert any("truly between 38% and 96%" in text for text in page.texts)
    assert "not supported" in page.text
    assert "no tool was called" in page.text


def test_a_rate_is_never_rounded_to_all_or_nothing() -> None:
    page = Page(html_page([run(outcomes("p" * 999 + "f"))]))
    assert "99 %" in page.text
    assert "0 %" in Page(html_page([run(outcomes("f"))])).text
    assert "1 %" in Page(html_page([run(outcomes("f" * 999 + "p"))])).text


def test_every_kind_of_failure_has_one_exchange() -> None:
    trials = [trial(False, trial=number, kind=kind) for number, kind in enumerate(["no-call", "no-call", "wrong-name"])]
    page = Page(html_page([run(trials)]))
    assert page.text.count("expected") == 2
    assert '"name": "add"' in page.text
    assert "There are none." in Page(html_page([run(outcomes("p"))])).text


def test_nothing_is_fetched_run_or_styled_from_elsewhere() -> None:
    text = html_page(many(), compare(many(), many()))
    page = Page(text)
    assert_harmless(page)
    policy = next(meta["content"] for meta in page.named("meta") if "http-equiv" in meta) or ""
    assert policy.startswith("default-src 'none'")
    found = re.search("<style>(.*?)</style>", text, re.DOTALL)
    assert found is not None
    assert f"'sha256-{b64encode(sha256(found[1].encode()).digest()).decode()}'" in policy
    assert "url(" not in STYLE
    assert "@import" not in STYLE
    assert "@DAY@" not in STYLE


def test_every_reference_within_the_page_leads_somewhere_and_nothing_is_named_twice() -> None:
    page = Page(html_page(many(), compare(many(), many()), survey={"models": [{"model": "a", "agrees": True}]}))
    places = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(places) == len(set(places))
    assert [f"#{place}" for place in places] == [attributes["href"] for attributes in page.named("a")]


def test_many_models_become_rows_and_few_become_columns() -> None:
    dense = html_page(many())
    assert 'class="matrix dense"' in dense
    roomy = html_page([run(outcomes("p") + outcomes("f", mode="emulated"))])
    assert 'class="matrix"' in roomy


def test_the_cases_of_a_public_suite_share_a_row() -> None:
    page = Page(html_page([run([trial(True, case=f"bfcl/simple/{number}") for number in range(30)])]))
    assert "30/30" in page.text
    assert "bfcl/simple/7" not in page.text


def test_a_comparison_shows_what_is_significant() -> None:
    before, after = [run(outcomes("ffffffff"))], [run(outcomes("pppppppp"))]
    page = Page(html_page(after, compare(before, after)))
    assert "Against the run before" in page.text
    assert "0.008" in page.text
    nothing = Page(html_page(after, compare([run(outcomes("p", case="x"))], after)))
    assert "Nothing can be compared" in nothing.text


def test_a_survey_leads_with_how_often_verdict_and_behaviour_agree() -> None:
    models: list[dict[str, Any]] = [
        {"model": "a", "agrees": True, "verdict": "yes", "forms": {"wrapped": True, "flat": False}},
        {"model": "b", "agrees": False, "habits": ["strings for numbers"], "speed": 12.3456},
        {"model": "c", "agrees": None},
    ]
    page = Page(html_page([], survey={"models": models}))
    assert "50 % 1 of 2 models" in page.text
    assert "not reached" in page.text
    assert "wrapped: yes" in page.text
    raw = {"model": "a", "kind": "no-call", "count": 3, "case": "one-call", "exchange": {"sent": "<b>", "came": NASTY}}
    failed = Page(html_page([], survey={"models": models, "exchanges": [raw, 7]}))
    assert "no-call (3) a, one-call" in failed.text
    assert '"sent": "<b>"' in failed.text
    assert_harmless(failed)
    given = Page(html_page([], survey={"agreement": {"agree": 19, "of": 20}, "models": models}))
    assert "95 % 19 of 20 models" in given.text
    assert ": reached" in given.text


def test_a_page_about_nothing_is_a_page() -> None:
    page = Page(html_page([]))
    assert "Nothing was tried" in page.text
    assert_harmless(Page(html_page([run([])])))


def test_nothing_of_a_strangers_gets_out_of_its_place() -> None:
    hostile = trial(False, model=NASTY, mode=NASTY, case=NASTY, reason=NASTY, kind=NASTY, got={NASTY: NASTY})
    about = dict.fromkeys(("model", "at", "suite", "callgate", "backend", "digest"), NASTY)
    text = html_page(
        [run([hostile], **about)],
        compare([run([hostile], **about)], [run([hostile], **about)]),
        survey={"models": [{"model": NASTY, NASTY: {NASTY: NASTY}, "list": [NASTY]}]},
    )
    text.encode()
    assert_harmless(Page(text))
    assert not set(text) & {"\x00", "\x1b", "\u202e"}


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(st.text(ANYTHING), st.text(ANYTHING), JSON, st.floats(0, 1e9), st.sampled_from([True, False, None]))
def test_any_words_and_any_measures_make_a_page(
    name: str, reason: str, got: object, ms: float, passed: bool | None
) -> None:
    made = [run([trial(passed, model=name, mode=name, case=name, kind=name or None, reason=reason, got=got, ms=ms)])]
    text = html_page(made, compare(made, made), survey={"models": [{"model": name, name: got}]})
    text.encode()
    assert_harmless(Page(text))


@pytest.mark.parametrize("survey", [{}, {"models": [1, None]}, {"agreement": {"agree": 5, "of": 2}}, {"agreement": 7}])
def test_a_survey_of_another_shape_breaks_nothing(survey: dict[str, Any]) -> None:
    assert_harmless(Page(html_page([], survey=survey)))
