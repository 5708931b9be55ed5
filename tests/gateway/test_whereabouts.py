from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.whereabouts import Whereabouts, may_be_anywhere
from callgate.runtime import FoundModel
from callgate.vocabulary import ModelRef
from tests.gateway.test_same_models import FOUND, OWNERS, file, ollama, openai

BARE = ModelRef("ollama", "m")


def test_a_bare_name_is_the_model_of_that_name_at_every_server_that_has_it() -> None:
    a, b = openai("a", "lab"), openai("b", "den")
    where = Whereabouts((a, b), OWNERS)
    assert where.of([BARE]) == (a.ref, b.ref)
    assert where.of([a.ref]) == (a.ref,)
    assert where.of([BARE, b.ref]) == (a.ref, b.ref)


def test_what_nobody_has_is_left_out() -> None:
    a, nobodys = openai("a", "lab"), ModelRef("ollama", "nobodys")
    where = Whereabouts((a,), OWNERS)
    assert where.of([nobodys]) == ()
    assert where.of([nobodys, BARE]) == (a.ref,)
    assert where.lacks([BARE, nobodys])
    assert not where.lacks([BARE, ModelRef("file", "/elsewhere.gguf")])


def test_what_has_no_tag_is_the_latest() -> None:
    latest = ollama("http://den:11434", "d1", "m:latest")
    assert Whereabouts((latest,)).of([BARE]) == (latest.ref,)
    assert Whereabouts((openai("a", "lab"),)).of([ModelRef("ollama", "m:latest")]) == (openai("a", "lab").ref,)
    assert Whereabouts((latest,)).exactly("m") == ()


def test_only_a_name_without_an_address_may_be_anywhere() -> None:
    assert may_be_anywhere(BARE)
    assert not any(may_be_anywhere(found.ref) for found in (ollama("http://den", None), openai("a", "lab"), file("/x")))


@given(st.lists(FOUND, max_size=12, unique_by=lambda found: found.ref), st.lists(FOUND, max_size=4))
def test_every_answer_was_found_or_asked_for(models: list[FoundModel], asked: list[FoundModel]) -> None:
    refs = [each.ref for each in asked]
    where = Whereabouts(models, OWNERS)
    at = where.of(refs)
    assert where.has(refs) == bool(at)
    assert len(set(at)) == len(at)
    assert {*at} <= {each.ref for each in models} | {ref for ref in refs if not may_be_anywhere(ref)}
    assert {ref for ref in refs if not may_be_anywhere(ref)} <= {*at}
