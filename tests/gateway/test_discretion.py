from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect import BOXED_FILE
from callgate.gateway import Options
from callgate.gateway.discretion import discreet, discreet_name, discreet_ref
from callgate.gateway.failures import failure_of
from callgate.gateway.turns import Told
from callgate.vocabulary import ModelRef, Notice, Unreachable
from tests.gateway.running import gateway


@pytest.mark.parametrize(
    "url",
    [
        "http://10.1.2.3:8000/v1",
        "https://192.168.0.7/x?y=z",
        "http://gpu-box:8000/v1",
        "http://vllm.models.internal/v1",
        "http://[fd00::7]:11434/api/chat",
        "http://me:secret@10.1.2.3/v1",
    ],
)
def test_addresses_of_the_inner_network_stay_here(url: str) -> None:
    assert discreet(f"nobody listens at {url}: refused") == "nobody listens at a server behind: refused"
    assert discreet(f"'{url}' didn't answer. Ask {url}.") == "'a server behind' didn't answer. Ask a server behind."


@pytest.mark.parametrize(
    "text", ["see https://example.org/keys.", "Ollama at http://127.0.0.1:11434 is gone", "a // b"]
)
def test_other_addresses_are_told(text: str) -> None:
    assert discreet(text) == text


def test_clients_are_told_discreetly() -> None:
    failure = failure_of(Unreachable("http://10.1.2.3:8000/v1 is gone", hint="is http://10.1.2.3:8000 running?"))
    assert failure.said == "a server behind is gone (is a server behind running?)"


def test_what_was_done_is_explained_discreetly() -> None:
    told = Told(ModelRef("tiny", "tiny"))
    told.notices.append(Notice("endpoint_changed", "another server takes over: http://10.1.2.3:8000/v1 is gone"))
    (notice,) = told.explanation()["notices"]
    assert notice["message"] == "another server takes over: a server behind is gone"


@given(
    st.lists(st.sampled_from(["http://", "[", "]", "::1", "10.0.0.1", ":", "/", "%", "@", "x", ".", " "])).map("".join)
)
def test_anything_can_be_said(text: str) -> None:
    assert "10.0.0.1:80/" not in discreet(f"http://10.0.0.1:80/ {text}")


@pytest.mark.engine
async def test_where_a_file_lies_is_told_neither_in_metrics_nor_in_answers(
    tmp_path: Path, require_engine: None
) -> None:
    copy = shutil.copy(BOXED_FILE, tmp_path / "mine.gguf")
    options = Options(model=f"file:{copy}", aliases={"other": f"file:{copy}"}, explain=True)
    async with gateway(options) as served:
        for model in ("other", ""):
            asked = {"model": model, "messages": [{"role": "user", "content": "hello"}]}
            answer = await served.post("/v1/chat/completions", asked)
            assert (answer.status, answer.json["callgate"]["model"]) == (200, "mine.gguf")
        written = (await served.get("/metrics")).body.decode()
        assert 'callgate_requests_total{route="/v1/chat/completions",model="mine.gguf",status="200"} 2\n' in written
        assert str(tmp_path) not in written


def test_a_file_is_called_by_its_name_and_what_is_elsewhere_by_all_of_it() -> None:
    for name in ("/models/mine.gguf", "https://a.example/x/mine.gguf?token=secret"):
        ref = ModelRef("file", name)
        assert discreet_name(ref) == discreet_ref(ref) == "mine.gguf"
    ref = ModelRef("openai", "org/m", "http://127.0.0.1:8000/v1")
    assert (discreet_name(ref), discreet_ref(ref)) == ("org/m", "http://127.0.0.1:8000/v1#org/m")
