from __future__ import annotations

import pytest

from callgate.gateway.sharing.identity import here, key_in, name_of_endpoint, name_of_model
from callgate.vocabulary import ModelRef
from tests.gateway.running import no_servers

FAR = "http://gpu-1:8000/v1#m"
NEAR = "http://127.0.0.1:8000/v1#m"


@pytest.mark.parametrize("spelt", ["http://user:secret@gpu-1:8000/v1#m", "http://gpu-1:8000#m", FAR])
def test_a_server_elsewhere_has_one_name_for_all_and_no_password_in_it(spelt: str) -> None:
    name = name_of_endpoint(ModelRef.parse(spelt), no_servers())
    assert name == name_of_endpoint(ModelRef.parse(FAR), no_servers())
    assert "secret" not in (name or "")


def test_what_is_at_this_machine_is_named_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ours = name_of_endpoint(ModelRef.parse(NEAR), no_servers())
    assert ours
    assert here() in ours
    assert key_in(ours)
    monkeypatch.setattr("callgate.gateway.sharing.identity.here", lambda: "0" * 16)
    assert name_of_endpoint(ModelRef.parse(NEAR), no_servers()) != ours
    assert key_in(ours) is None


def test_an_ollama_without_an_address_is_where_the_settings_say() -> None:
    ref = ModelRef.parse("ollama:qwen3:8b")
    far = name_of_endpoint(ref, no_servers("http://gpu-1:11434"))
    assert far == name_of_endpoint(ModelRef.parse("ollama+http://gpu-1:11434#qwen3:8b"), no_servers())
    assert here() in (name_of_endpoint(ref, no_servers("http://localhost:11434")) or "")


@pytest.mark.parametrize("text", ["tiny", "file:/m.gguf", "scripted:x", "auto"])
def test_what_only_we_can_ask_has_none(text: str) -> None:
    assert name_of_endpoint(ModelRef.parse(text), no_servers()) is None


def test_a_verdict_holds_elsewhere_if_the_model_is_surely_the_same() -> None:
    own = ModelRef.parse("ollama:qwen3:8b")
    assert key_in(name_of_model(own, "sha256:1")) == name_of_model(own, "sha256:1")
    assert here() in name_of_model(own, None)
    assert here() not in name_of_model(ModelRef.parse(FAR), None)
    assert here() in name_of_model(ModelRef.parse(NEAR), None)
