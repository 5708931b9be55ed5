from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway.same_models import by_id, owners_places
from callgate.runtime import FoundModel
from callgate.settings import load_settings
from callgate.vocabulary import ModelRef

OWNERS = frozenset({"lab", "den"})


def openai(host: str, place: str, name: str = "m") -> FoundModel:
    return FoundModel(ref=ModelRef("openai", name, f"http://{host}/v1"), name=name, backend="openai", place=place)


def ollama(host: str | None, digest: str | None, name: str = "m") -> FoundModel:
    return FoundModel(ref=ModelRef("ollama", name, host), name=name, backend="ollama", place="Ollama", digest=digest)


def file(path: str, name: str = "m") -> FoundModel:
    return FoundModel(ref=ModelRef("file", path), name=name, backend="llamacpp", place="a folder")


def ids(*models: FoundModel) -> dict[str, int]:
    return {id_: len(same) for id_, same in by_id(models, OWNERS).items()}


def test_one_name_at_servers_of_the_owner_is_one_model() -> None:
    assert ids(openai("a", "lab"), openai("b", "den"), openai("b", "den", "n")) == {"m": 2, "n": 1}


def test_what_is_in_the_box_keeps_its_name() -> None:
    boxed = FoundModel(ref=ModelRef("tiny", "tiny"), name="tiny", backend="llamacpp", place="callgate")
    assert ids(openai("a", "lab", "tiny"), boxed) == {"http://a/v1#tiny": 1, "tiny": 1}


def test_servers_that_happen_to_run_here_stay_apart() -> None:
    assert ids(openai("a", "lab"), openai("b", "LM Studio"), openai("c", "vLLM")) == {
        "m": 1,
        "http://b/v1#m": 1,
        "http://c/v1#m": 1,
    }


def test_ollamas_with_the_same_digest_are_one() -> None:
    same = ids(ollama(None, "d1"), ollama("http://den:11434", "d1"), ollama("http://lab:11434", "d2"))
    assert same == {"m": 2, "ollama+http://lab:11434#m": 1}


def test_kinds_and_files_stay_apart() -> None:
    assert ids(ollama(None, "d1"), openai("a", "lab"), file("/x/m.gguf")) == {
        "m": 1,
        "http://a/v1#m": 1,
        "file:/x/m.gguf": 1,
    }


FOUND = st.one_of(
    st.builds(openai, st.sampled_from("abcdef"), st.sampled_from(["lab", "den", "vLLM"]), st.sampled_from("mn")),
    st.builds(
        ollama,
        st.sampled_from([None, "http://x", "http://y"]),
        st.sampled_from([None, "1", "2"]),
        st.sampled_from("mn"),
    ),
    st.builds(file, st.sampled_from(["/1", "/2"]), st.sampled_from("mn")),
)


@given(st.lists(FOUND, max_size=12, unique_by=lambda found: found.ref))
def test_no_model_is_lost_and_none_is_put_with_another(models: list[FoundModel]) -> None:
    groups = by_id(models, OWNERS)
    assert sorted(str(each.ref) for same in groups.values() for each in same) == sorted(
        str(each.ref) for each in models
    )
    for same in groups.values():
        assert len({(each.ref.scheme, each.name) for each in same}) == 1
        assert len({each.digest for each in same if each.digest}) <= 1


def test_the_owners_places_are_those_of_the_settings() -> None:
    known = load_settings({"discovery.endpoints": "lab = http://lab:8080/v1, den=ollama+http://den:11434,"}, {})
    assert owners_places(known) == {"lab", "den"}
    assert owners_places(load_settings({}, {})) == frozenset()
