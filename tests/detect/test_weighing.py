from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect import conclude, decisive
from callgate.vocabulary import Answer, Evidence, Source


def says(source: Source, answer: Answer | int | str, claim: str = "tools", at: float = 1.0) -> Evidence:
    return Evidence(claim, answer, source, f"{source} says {answer}", at)


def test_the_sources_are_ranked_as_the_design_has_it() -> None:
    order = [
        "session",
        "user_confirmed",
        "observed",
        "template",
        "header",
        "engine",
        "template_text",
        "name",
        "default",
    ]
    assert [source.value for source in sorted(Source, key=lambda source: source.rank)] == order


@pytest.mark.parametrize(("stronger", "weaker"), list(zip(list(Source)[:-1], list(Source)[1:], strict=True)))
def test_the_stronger_source_decides(stronger: Source, weaker: Source) -> None:
    known = conclude("m", [says(weaker, Answer.YES), says(stronger, Answer.NO)])
    assert known.tools is Answer.NO
    assert [found.source for found in known.evidence] == [stronger, weaker]


def test_a_source_that_does_not_know_leaves_it_to_the_next() -> None:
    assert conclude("m", [says(Source.TEMPLATE, Answer.UNKNOWN), says(Source.NAME, Answer.YES)]).tools is Answer.YES
    assert conclude("m", [says(Source.TEMPLATE, Answer.UNKNOWN)]).tools is Answer.UNKNOWN
    assert conclude("m", []).tools is Answer.UNKNOWN


def test_of_one_source_the_newest_word_counts() -> None:
    old, new = says(Source.OBSERVED, Answer.NO, at=1.0), says(Source.OBSERVED, Answer.YES, at=2.0)
    assert conclude("m", [old, new]).tools is Answer.YES
    assert conclude("m", [new, old]).tools is Answer.YES


def test_yes_and_no_become_true_and_false_and_numbers_stay() -> None:
    known = conclude(
        "m",
        [
            says(Source.TEMPLATE, Answer.NO, "supports_system_role"),
            says(Source.HEADER, 4096, "context_length"),
            says(Source.HEADER, "llama", "family"),
        ],
    )
    assert known.supports_system_role is False
    assert known.supports_vision is None
    assert (known.context_length, known.family) == (4096, "llama")


def test_an_answer_of_the_wrong_kind_decides_nothing() -> None:
    known = conclude("m", [says(Source.HEADER, "many", "context_length"), says(Source.DEFAULT, 4096, "context_length")])
    assert known.context_length == 4096
    assert conclude("m", [says(Source.HEADER, 1, "supports_vision")]).supports_vision is None


def test_a_claim_that_nobody_asked_about_is_kept_as_evidence_alone() -> None:
    note = says(Source.TEMPLATE, "a note", "note")
    assert conclude("m", [note]).evidence == (note,)


@pytest.mark.parametrize("source", [Source.HEADER, Source.ENGINE])
def test_a_pooling_type_or_a_servers_word_on_embedding_overrules_all_but_the_user(source: Source) -> None:
    embedding = says(source, Answer.YES, "is_embedding")
    assert conclude("m", [embedding, says(Source.OBSERVED, Answer.YES)]).tools is Answer.NO
    assert conclude("m", [embedding, says(Source.TEMPLATE, Answer.YES)]).native_route is Answer.NO
    assert conclude("m", [embedding, says(Source.USER_CONFIRMED, Answer.YES)]).tools is Answer.YES
    assert conclude("m", [embedding, says(Source.SESSION, Answer.YES)]).tools is Answer.YES


def test_an_embedding_name_is_only_a_name() -> None:
    named = says(Source.NAME, Answer.YES, "is_embedding")
    assert conclude("m", [named, says(Source.NAME, Answer.YES)]).tools is Answer.NO
    assert conclude("m", [named, says(Source.TEMPLATE, Answer.YES)]).tools is Answer.YES
    assert conclude("m", [named, says(Source.ENGINE, Answer.NO, "is_embedding")]).is_embedding is False


claims = st.sampled_from(["tools", "is_embedding", "supports_vision", "context_length", "native_route", "note"])
answers = st.one_of(st.sampled_from(Answer), st.integers(0, 9), st.text(max_size=3))
pieces = st.builds(Evidence, claims, answers, st.sampled_from(Source), st.text(max_size=5), st.floats(0, 9))


@given(st.lists(pieces, max_size=12))
def test_what_decides_is_the_first_that_knows_and_nothing_said_is_lost(evidence: list[Evidence]) -> None:
    known = conclude("m", evidence)
    assert all(found in known.evidence for found in evidence)
    deciding = decisive(known.evidence)
    tools = [found for found in known.evidence if found.claim == "tools" and found.answer in ("yes", "no")]
    assert (deciding["tools"] is tools[0]) if tools else "tools" not in deciding
    assert known.tools == (tools[0].answer if tools else Answer.UNKNOWN)
