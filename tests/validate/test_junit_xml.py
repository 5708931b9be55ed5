"""JUnit XML that every parser takes, whatever a model is called and whatever it says."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from hypothesis import given
from hypothesis import strategies as st

from callgate.validate.junit_xml import junit
from tests.validate.made_runs import outcomes, run, trial

ANYTHING = st.characters(exclude_categories=())
NASTY = '<b a="1">&amp;]]>\x00\x1b[31m\ufffe</b>\n\r\t\ud800'


def test_each_trial_is_a_test_case_and_the_counts_add_up() -> None:
    tree = ET.fromstring(
        junit([run([*outcomes("ppfu"), trial(False, kind="error:StreamCut", trial=4)]), run(outcomes("p", model="b"))])
    )
    assert {name: tree.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "6",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    suites = tree.findall("testsuite")
    assert [(suite.get("name"), suite.get("tests")) for suite in suites] == [("tiny native", "5"), ("b native", "1")]
    found = [[child.tag for child in case] for case in suites[0].findall("testcase")]
    assert found == [[], [], ["failure"], ["skipped"], ["error"]]


def test_a_failure_says_what_was_expected_and_what_came() -> None:
    tree = ET.fromstring(junit([run(outcomes("f"))]))
    failure = tree.find("testsuite/testcase/failure")
    assert failure is not None
    assert failure.get("type") == "no-call"
    assert failure.get("message") == "no tool was called"
    assert '"name":"add"' in (failure.text or "")
    assert "got: " in (failure.text or "")


def test_how_the_run_was_made_is_in_its_properties() -> None:
    tree = ET.fromstring(junit([run(outcomes("p"), digest="sha256:1")]))
    properties = {found.get("name"): found.get("value") for found in tree.iter("property")}
    assert properties["digest"] == "sha256:1"
    assert properties["mode"] == "native"
    assert properties["complete"] == "true"


def test_no_run_is_an_empty_report() -> None:
    assert ET.fromstring(junit([])).get("tests") == "0"


def test_nothing_of_a_strangers_is_markup() -> None:
    text = junit([run([trial(False, model=NASTY, case=NASTY, reason=NASTY, kind=NASTY, got=NASTY)])])
    text.encode()
    tree = ET.fromstring(text)
    assert {element.tag for element in tree.iter()} == {
        "testsuites",
        "testsuite",
        "properties",
        "property",
        "testcase",
        "failure",
    }
    name = tree.find("testsuite/properties/property[@name='model']")
    assert name is not None
    assert name.get("value") == '<b a="1">&amp;]]>��[31m�</b>\n\r\t�'


@given(
    st.text(ANYTHING),
    st.text(ANYTHING),
    st.recursive(st.text(ANYTHING) | st.none() | st.integers(), st.lists, max_leaves=5),
)
def test_any_name_and_any_answer_gives_xml(name: str, reason: str, got: object) -> None:
    text = junit([run([trial(False, model=name, mode=name, case=name, check=name, kind=name, reason=reason, got=got)])])
    (case,) = ET.fromstring(text).iter("testcase")
    assert [child.tag for child in case] == ["error" if name.startswith("error:") else "failure"]
