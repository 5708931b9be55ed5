from __future__ import annotations

from pathlib import Path

import pytest

from callgate.runtime.found import FoundModel, found_in_the_box
from callgate.runtime.inventory import StockedModel, best_of, take_inventory
from callgate.runtime.report import ModelReport
from callgate.vocabulary import Answer, Capabilities, Evidence, ModelRef, Source, UsageError
from tests.detect.gguf.writer import Gguf
from tests.runtime.played import EMBEDDING, NOBODY, TOOLS, WITH_TOOLS, WITHOUT, PlayedOllama, in_thread, settings


def stocked(name: str, known: Capabilities | None = None, backend: str = "ollama") -> StockedModel:
    found = FoundModel(ref=ModelRef("ollama", name), name=name, backend=backend, place="Ollama")
    error = None if known else UsageError("no good")
    return StockedModel(found, ModelReport(target=name, model=name, capabilities=known, error=error))


def knows(tools: Answer = Answer.YES, route: Answer = Answer.YES, **more: object) -> Capabilities:
    return Capabilities(name="m", tools=tools, native_route=route, **more)  # type: ignore[arg-type]


def test_files_and_servers_are_looked_at_in_order(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    told = {"general.architecture": "llama", "llama.context_length": 77, "tokenizer.chat_template": TOOLS}
    path.write_bytes(Gguf(told).to_bytes())
    file = FoundModel(ref=ModelRef("file", str(path)), name="m", backend="llamacpp", place="here", size=9)
    ollama = FoundModel(ref=ModelRef("ollama", "a"), name="a", backend="ollama", place="Ollama", endpoint="http://x")
    with in_thread(*PlayedOllama(a=WITHOUT).routes) as url:
        models = list(take_inventory([ollama, file, found_in_the_box()], settings(url)))
    assert [model.found.name for model in models] == ["a", "m", "tiny"]
    assert [model.report.tools for model in models] == [Answer.NO, Answer.YES, Answer.YES]
    assert models[1].as_json() == {
        "ref": f"file:{path}",
        "backend": "llamacpp",
        "endpoint": None,
        "tools": "yes",
        "guess": False,
        "native_route": "yes",
        "mode": "native",
        "vision": "unknown",
        "context_length": 77,
        "size": 9,
        "quant": None,
        "source": "template",
    }


def test_a_folder_with_the_name_of_a_model_stands_in_nobodys_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny").mkdir()
    monkeypatch.chdir(tmp_path)
    (tiny,) = take_inventory([found_in_the_box()], settings())
    assert tiny.report.tools is Answer.YES


def test_what_cannot_be_looked_at_is_listed_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "bad.gguf").write_bytes(b"hello")
    bad = FoundModel(ref=ModelRef("file", str(tmp_path / "bad.gguf")), name="bad", backend="llamacpp", place="here")
    (model,) = take_inventory([bad], settings())
    shown = model.as_json()
    assert (shown["tools"], shown["source"], shown["context_length"]) == ("unknown", "default", None)
    assert shown["error"]["type"] == "HeaderError"
    assert not model.suits()


def test_a_server_that_has_gone_meanwhile_leaves_a_guess() -> None:
    gone = FoundModel(ref=ModelRef("ollama", "qwen3:8b"), name="qwen3:8b", backend="ollama", place="Ollama")
    (model,) = take_inventory([gone], settings(NOBODY))
    assert model.as_json()["guess"] is True
    assert model.as_json()["tools"] == "yes"
    assert not model.suits(tools=True)


def test_the_source_is_who_decided_on_tools() -> None:
    said = [
        Evidence("is_embedding", Answer.NO, Source.ENGINE, "", 0),
        Evidence("tools", Answer.YES, Source.USER_CONFIRMED, "", 0),
        Evidence("tools", Answer.NO, Source.TEMPLATE, "", 0),
    ]
    assert stocked("m", knows(evidence=tuple(said))).source is Source.USER_CONFIRMED
    assert stocked("m", knows()).source is Source.DEFAULT


def test_models_suit_who_can_surely_do_all_that_is_asked() -> None:
    sees = stocked("m", knows(supports_vision=True, context_length=4096))
    assert sees.suits(tools=True, vision=True, min_context=4096)
    assert not sees.suits(min_context=4097)
    assert not stocked("m", knows()).suits(vision=True)
    assert not stocked("m", knows()).suits(min_context=1)
    assert not stocked("m", knows(Answer.UNKNOWN)).suits(tools=True)
    assert not stocked("m", knows(is_embedding=True)).suits()
    assert not stocked("m", knows(guess=True)).suits()


def test_the_best_is_the_first_whose_tools_go_through() -> None:
    plain = stocked("plain", knows(Answer.NO))
    blocked = stocked("blocked", knows(route=Answer.NO))
    native, other = stocked("native", knows()), stocked("other", knows())
    embedding = stocked("embedding", knows(Answer.NO, is_embedding=True))
    assert best_of([embedding, plain, blocked, native, other]) is native
    assert best_of([embedding, plain, blocked]) is blocked
    assert best_of([embedding, plain]) is plain
    assert best_of([embedding, plain], tools=True) is None
    assert best_of([stocked("bad"), embedding]) is None


def test_embedding_models_are_off() -> None:
    with in_thread(*PlayedOllama(e=EMBEDDING, t=WITH_TOOLS).routes) as url:
        found = [FoundModel(ref=ModelRef("ollama", name), name=name, backend="ollama", place="Ollama") for name in "et"]
        assert [model.mode for model in take_inventory(found, settings(url))] == ["off", "native"]
