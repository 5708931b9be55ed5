from __future__ import annotations

from pathlib import Path

import pytest

from callgate.detect import weigh
from callgate.registry import Fields, Registry
from callgate.runtime import Fallback, digest_of, is_recoverable, may_cost
from callgate.runtime.choice import keep_last_model
from callgate.runtime.derivations import Derivations
from callgate.settings import load_settings
from callgate.vocabulary import (
    Answer,
    BadAnswer,
    BadSchema,
    BadStatus,
    CallgateError,
    CannotChat,
    CannotThink,
    EngineFailed,
    Evidence,
    Facts,
    HeaderError,
    ModelRef,
    ModelRejected,
    NotFound,
    ServerKind,
    Source,
    StorageError,
    StreamCut,
    StreamFailed,
    ToolsRefused,
    Unreachable,
    UsageError,
)


@pytest.mark.parametrize(
    "error",
    [
        *(kind("x") for kind in (Unreachable, EngineFailed, BadAnswer, StreamFailed, StreamCut, NotFound, HeaderError)),
        *(kind("x") for kind in (CannotChat, ModelRejected)),
        *(BadStatus("x", status=status) for status in (408, 429, 500, 502, 503, 504)),
    ],
)
def test_what_another_model_may_do_better_is_recoverable(error: CallgateError) -> None:
    assert is_recoverable(error)


@pytest.mark.parametrize(
    "error",
    [
        *(kind("x") for kind in (UsageError, StorageError, ToolsRefused, CannotThink, BadSchema)),
        *(BadStatus("x", status=status) for status in (400, 401, 403, 422)),
    ],
)
def test_what_the_user_can_mend_is_not(error: CallgateError) -> None:
    assert not is_recoverable(error)


@pytest.mark.parametrize(
    ("name", "costs"),
    [
        ("tiny", False),
        ("qwen3:8b", False),
        ("model.gguf", False),
        ("http://127.0.0.1:8080/v1#m", False),
        ("http://192.168.1.7:8080/v1#m", False),
        ("http://workstation:8080/v1#m", False),
        ("http://box.local/v1#m", False),
        ("https://api.openai.com/v1#gpt-5", True),
        ("http://8.8.8.8/v1#m", True),
        ("ollama+https://ollama.com#gpt-oss:120b", True),
        ("gpt-oss:120b-cloud", True),
        ("gpt-oss:120b-Cloud", True),
        ("http://[::ffff:8.8.8.8]/v1#m", True),
        ("http://[::ffff:192.168.1.7]/v1#m", False),
        ("http://[fd00::7]:8080/v1#m", False),
        ("http://134744072/v1#m", True),
        ("http://0x8080808/v1#m", True),
        ("auto", False),
        ("kimi-k2:cloud", True),
        ("elsewhere://m", True),
    ],
)
def test_what_runs_at_somebody_elses_may_cost_money(name: str, costs: bool) -> None:
    assert may_cost(ModelRef.parse(name), load_settings()) is costs


def test_an_ollama_elsewhere_counts_as_elsewhere() -> None:
    assert may_cost(ModelRef.parse("qwen3:8b"), load_settings({"ollama.host": "https://ollama.example.com"}))


@pytest.mark.parametrize(
    "overrides",
    [
        {"models.default": "https://api.example.com/v1#gpt"},
        {"discovery.endpoints": "lab=http://lab:1/v1,far=https://api.example.com/v1"},
        {"ollama.host": "https://ollama.example.com"},
    ],
)
def test_auto_may_cost_what_it_may_stand_for(overrides: dict[str, object]) -> None:
    assert may_cost(ModelRef.parse("auto"), load_settings(overrides))


def test_auto_may_be_the_last_model_which_may_cost() -> None:
    settings = load_settings()
    keep_last_model(settings, ModelRef.parse("https://api.example.com/v1#gpt"))
    assert may_cost(ModelRef.parse("auto"), settings)


async def test_a_question_that_nobody_could_be_asked_is_a_no() -> None:
    async def fail(_: ModelRef) -> bool:
        raise OSError("the terminal is gone")

    paid = ModelRef.parse("https://api.openai.com/v1#gpt-5")
    assert not await Fallback([paid], settings=load_settings(), consent=fail).agrees_to(paid)


async def test_whoever_names_a_model_has_agreed_to_it_and_the_settings_have_not() -> None:
    paid = ModelRef.parse("https://api.openai.com/v1#gpt-5")
    settings = load_settings({"models.fallback": f"tiny, {paid}"})
    assert await Fallback.of(settings, str(paid)).agrees_to(paid)
    kept = Fallback.of(settings)
    assert kept.after([]) == [ModelRef.parse("tiny"), paid]
    assert not await kept.agrees_to(paid)
    assert await kept.agrees_to(ModelRef.parse("tiny"))


def test_models_that_passed_a_validation_come_first_and_those_that_failed_not_at_all() -> None:
    settings = load_settings()
    one, two, three = (ModelRef.parse(name) for name in ("one", "two", "three"))
    registry = Registry.in_folder(settings.data_folder)
    registry.update(two, lambda _: Fields(validated_at="2025-01-02T03:04:05Z", validated_rates={"native": 0.5}))
    registry.update(three, lambda _: Fields(validated_at="2025-01-02T03:04:05Z", validated_rates={"emulated": 0.9}))
    fallback = Fallback.of(settings, "one,two,three,one")
    assert fallback.after([]) == [three, one, two]
    assert fallback.after([three, one]) == [two]


def test_a_validation_of_another_version_of_the_model_does_not_count(tmp_path: Path) -> None:
    settings = load_settings()
    path = tmp_path / "model.gguf"
    path.write_bytes(b"one")
    one, file = ModelRef.parse("one"), ModelRef.parse(str(path))
    digest = digest_of(file, Facts(name="model"))
    Registry.in_folder(settings.data_folder).update(
        file, lambda _: Fields(validated_digest=digest, validated_rates={"native": 1.0})
    )
    fallback = Fallback((one, file), settings=settings)
    assert fallback.after([]) == [file, one]
    path.write_bytes(b"another")
    assert fallback.after([]) == [one, file]


def test_a_validation_of_a_servers_model_counts_only_for_what_was_seen_of_it_last() -> None:
    settings = load_settings()
    other, ref = ModelRef.parse("other"), ModelRef.parse("ollama:m")
    Registry.in_folder(settings.data_folder).update(
        ref, lambda _: Fields(validated_digest="a" * 64, validated_rates={"native": 1.0})
    )
    fallback = Fallback((other, ref), settings=settings)
    assert fallback.after([]) == [ref, other]  # nobody has looked at it yet
    for digest, order in (("a" * 64, [ref, other]), ("b" * 64, [other, ref])):
        facts = Facts(name="m", server=ServerKind.OLLAMA, server_version="0.9", digest=digest)
        evidence = (Evidence("tools", Answer.YES, Source.TEMPLATE, "it says so", 1.0),)
        derivations = Derivations(settings)
        derivations.keep(ref, f"{digest} 0.9", weigh(facts, evidence))
        derivations.flush()
        assert fallback.after([]) == order


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError):
        Fallback.of(load_settings(), "hf:nonsense")
