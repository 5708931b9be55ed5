from __future__ import annotations

from pathlib import Path

import pytest

from callgate.detect import TemplateSandbox, find_in
from callgate.hub import verifying
from callgate.hub.verifying import verify
from callgate.settings import Settings
from callgate.vocabulary import Answer, Evidence, Facts, HeaderError, ModelRejected, NotTested, Source
from tests.backends.gguf_edit import with_templates
from tests.hub.watching import NOWHERE
from tests.runtime.played import PLAIN, TOOLS, settings


@pytest.fixture
def without_engine() -> Settings:
    return settings(llamacpp__server=NOWHERE)


async def test_without_an_engine_the_header_alone_speaks(
    tiny_gguf: Path, without_engine: Settings, sandbox: TemplateSandbox
) -> None:
    done = await verify(str(tiny_gguf), without_engine, sandbox, weights=1)
    assert done.finding.capabilities.tools is Answer.YES
    assert done.engine is None
    assert "it wasn't loaded" in done.notes[0]


async def test_a_header_that_bears_the_verdict_out_no_more_is_refused(
    tiny_gguf: Path, tmp_path: Path, without_engine: Settings, sandbox: TemplateSandbox
) -> None:
    other = with_templates(tiny_gguf, tmp_path / "m.gguf", PLAIN)
    before = (await verify(str(tiny_gguf), without_engine, sandbox, weights=1)).finding
    with pytest.raises(HeaderError, match="tools were yes, and now are no"):
        await verify(str(other), without_engine, sandbox, weights=1, expected=before)


async def test_a_model_that_does_not_fit_is_not_loaded(
    tiny_gguf: Path, sandbox: TemplateSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifying, "free_memory", lambda: 1000)
    done = await verify(str(tiny_gguf), settings(), sandbox, weights=10**12)
    assert "it wasn't loaded: that takes about 1200.0 GB" in done.notes[0]
    with pytest.raises(NotTested, match="can't be probed here"):
        await verify(str(tiny_gguf), settings(), sandbox, weights=10**12, probe=True)


def test_a_disagreement_with_the_engine_is_evidence_and_a_note(sandbox: TemplateSandbox) -> None:
    caps = {"supports_tools": False, "supports_tool_calls": False}
    said = verifying._by_its_caps(Facts(name="m", answer={"chat_template_caps": caps}, at=0.0))
    assert said
    assert (said.claim, said.answer, said.source) == ("tools", Answer.NO, Source.ENGINE)
    finding = find_in(Facts(name="m", templates={"default": PLAIN, "tool_use": TOOLS}, at=0.0), sandbox)
    (note,) = verifying._notes(finding, said)
    assert note == "llama.cpp says no to tools, and we say yes by its `tool_use` variant"
    assert verifying._notes(finding, None) == ()


@pytest.mark.parametrize("answer", [None, {}, {"chat_template_caps": None}, {"chat_template_caps": ["tools"]}])
def test_an_engine_that_says_nothing_is_no_evidence(answer: dict[str, object] | None) -> None:
    assert verifying._by_its_caps(Facts(name="m", answer=answer, at=0.0)) is None


# Whose fault it is


@pytest.fixture
def good_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    async def loaded(*_: object, **__: object) -> None:
        return None

    monkeypatch.setattr(verifying, "_loaded", loaded)


@pytest.mark.usefixtures("good_engine")
@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("it answered the live probe with text", ModelRejected),
        ("it called a tool in the live probe, but not the right one rightly", ModelRejected),
        ("it didn't call the test tool within 120 s", NotTested),
        ("the live probe failed: the engine hung", NotTested),
    ],
)
async def test_only_a_probe_that_was_made_can_be_failed(
    tiny_gguf: Path, sandbox: TemplateSandbox, monkeypatch: pytest.MonkeyPatch, said: str, kind: type[ModelRejected]
) -> None:
    async def probe(*_: object, **__: object) -> list[Evidence]:
        return [Evidence("tools", Answer.UNKNOWN, Source.OBSERVED, said, 0.0)]

    monkeypatch.setattr("callgate.runtime.probe_live", probe, raising=False)
    with pytest.raises(ModelRejected) as caught:
        await verify(str(tiny_gguf), settings(), sandbox, weights=1, probe=True)
    assert type(caught.value) is kind


def test_the_words_of_a_probe_that_says_nothing_are_the_probes_own() -> None:
    import inspect

    from callgate.runtime import live_probe

    for words in verifying._SURROUNDINGS:
        assert words in inspect.getsource(live_probe)


async def test_an_engine_that_loads_nothing_is_no_fault_of_the_model(tiny_gguf: Path, sandbox: TemplateSandbox) -> None:
    broken = settings(llamacpp__server="/bin/false")
    done = await verify(str(tiny_gguf), broken, sandbox, weights=1)
    assert (done.was_loaded, "it wasn't loaded" in done.notes[0]) == (False, True)
    with pytest.raises(NotTested, match="can't be probed here"):
        await verify(str(tiny_gguf), broken, sandbox, weights=1, probe=True)
