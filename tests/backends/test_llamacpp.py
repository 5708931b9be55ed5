"""The real engine on the model that ships with the package, and on a real one without tools."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest

from callgate.backends import Loading
from callgate.backends.llamacpp import LlamaCppBackend
from callgate.backends.llamacpp.process import EngineProcess
from callgate.settings import load_settings
from callgate.vocabulary import (
    AssistantDelta,
    BackendError,
    CannotChat,
    ChatRequest,
    Done,
    EngineFailed,
    Event,
    HeaderError,
    Message,
    ModelRejected,
    NotFound,
    TemplateTooCostly,
    Tool,
    ToolCall,
    ToolCallEvent,
    Usage,
    UsageError,
)
from callgate.wire import HttpClient
from tests.backends.gguf_edit import with_templates
from tests.backends.test_openai_stream import MULTIPLY
from tests.detect.gguf.writer import Gguf

pytestmark = pytest.mark.engine

PLAIN = (Path(__file__).parent.parent.parent / "src" / "callgate" / "data" / "tiny-plain.jinja").read_text("utf-8")
WEATHER = Tool(
    "get_weather",
    "Get the current weather in a city.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)

Make = Callable[..., LlamaCppBackend]


@pytest.fixture
async def make(require_engine: None, http: HttpClient) -> AsyncIterator[Make]:
    made: list[LlamaCppBackend] = []

    def make(**settings: object) -> LlamaCppBackend:
        overrides = {key.replace("__", "."): value for key, value in settings.items()}
        made.append(LlamaCppBackend(load_settings(overrides), http))
        return made[-1]

    yield make
    for backend in made:
        await backend.close()


def asking(model: str | Path, *said: Message | str, **more: Any) -> ChatRequest:
    messages = tuple(Message(role="user", content=one) if isinstance(one, str) else one for one in said)
    return ChatRequest(model=str(model), messages=messages, **more)


async def events(backend: LlamaCppBackend, request: ChatRequest) -> list[Event]:
    async with aclosing(backend.stream(request)) as stream:
        return [event async for event in stream]


def text_of(found: list[Event]) -> str:
    return "".join(event.text for event in found if isinstance(event, AssistantDelta))


def calls_of(found: list[Event]) -> list[ToolCall]:
    return [event.call for event in found if isinstance(event, ToolCallEvent)]


def engines_of(backend: LlamaCppBackend) -> list[EngineProcess]:
    return [place.engine for place in backend._supervisor._places.values() if place.engine]


# What it can do


async def test_a_call_streams_natively(make: Make) -> None:
    found = await events(make(), asking("tiny", "Multiply 17 by 23.", tools=(MULTIPLY,)))
    (call,) = calls_of(found)
    assert (call.name, call.arguments) == ("multiply", {"a": 17, "b": 23})
    assert [type(event) for event in found] == [ToolCallEvent, Usage, Done]
    assert found[-1] == Done("tool_calls")


async def test_two_calls_come_one_after_the_other(make: Make) -> None:
    request = asking("tiny", "Get the weather in Paris and in London.", tools=(WEATHER,))
    found = await events(make(), request)
    assert [(call.name, call.arguments) for call in calls_of(found)] == [
        ("get_weather", {"city": "Paris"}),
        ("get_weather", {"city": "London"}),
    ]
    assert len({call.id for call in calls_of(found)}) == 2


async def test_it_goes_on_after_a_result(make: Make) -> None:
    backend = make()
    asked = asking("tiny", "Multiply 17 by 23.", tools=(MULTIPLY,))
    (call,) = calls_of(await events(backend, asked))
    result = Message(role="tool", call_id=call.id, name=call.name, content='{"result": 391}')
    request = asking("tiny", *asked.messages, Message(role="assistant", calls=(call,)), result, tools=(MULTIPLY,))
    found = await events(backend, request)
    assert "391" in text_of(found)
    assert found[-1] == Done("stop")


async def test_without_tools_there_are_only_text_usage_and_done(make: Make) -> None:
    found = await events(make(), asking("tiny", "Hello!"))
    assert {type(event) for event in found} == {AssistantDelta, Usage, Done}
    assert [type(event) for event in found[-2:]] == [Usage, Done]


async def test_the_model_in_the_box_says_the_same_every_time(make: Make) -> None:
    backend = make()
    first = text_of(await events(backend, asking("tiny", "Hello!")))
    assert first == text_of(await events(backend, asking("tiny", "Hello!")))


async def test_an_answer_is_held_to_a_schema(make: Make) -> None:
    schema = {
        "type": "object",
        "properties": {"word": {"enum": ["red", "green"]}, "many": {"type": "boolean"}},
        "required": ["word", "many"],
        "additionalProperties": False,
    }
    answer = json.loads(text_of(await events(make(), asking("tiny", "A colour?", schema=schema, max_tokens=200))))
    assert answer["word"] in ("red", "green")
    assert isinstance(answer["many"], bool)


async def test_an_answer_ends_at_its_limit(make: Make) -> None:
    found = await events(make(), asking("tiny", "Hello!", max_tokens=1))
    assert found[-1] == Done("length")


async def test_the_variant_for_tools_is_used_where_there_is_one(make: Make, tiny_gguf: Path, tmp_path: Path) -> None:
    backend = make()
    own = (await backend.facts(str(tiny_gguf))).templates
    assert own
    model = with_templates(tiny_gguf, tmp_path / "variant.gguf", PLAIN, tool_use=own["default"])
    assert calls_of(await events(backend, asking(model, "Multiply 17 by 23.", tools=(MULTIPLY,))))
    plain = with_templates(tiny_gguf, tmp_path / "plain.gguf", PLAIN)
    assert not calls_of(await events(backend, asking(plain, "Multiply 17 by 23.", tools=(MULTIPLY,))))


async def test_the_plain_twin_has_no_tools_and_llama_cpp_does_not_say_so(make: Make) -> None:
    request = asking("tiny-plain", "Multiply 17 by 23.", tools=(MULTIPLY,), tool_choice="required")
    assert not calls_of(await events(make(), request))


async def test_texts_can_be_embedded(make: Make) -> None:
    backend = make()
    (one, other, again), tokens = await backend.embed("tiny", ["a cat", "the weather in Paris", "a cat"])
    assert tokens
    assert len(one) == len(other) == 288
    assert one == pytest.approx(again, abs=1e-3)
    assert one != pytest.approx(other, abs=1e-3)


async def test_a_model_goes_when_it_is_told_to_but_never_while_it_is_used(make: Make) -> None:
    backend = make()
    await backend.unload("tiny")  # which isn't there
    stream = backend.stream(asking("tiny", "Hello!", max_tokens=40, extra={"ignore_eos": True}))
    await anext(stream)
    await backend.unload("tiny")
    assert await backend.models() == ["tiny"]
    assert isinstance([event async for event in stream][-1], Done)
    assert await backend.models() == []
    assert await events(backend, asking("tiny", "Hello!"))
    assert await backend.models() == ["tiny"]
    await backend.unload("tiny")
    assert await backend.models() == []


async def test_a_model_that_is_asked_for_meanwhile_stays(make: Make) -> None:
    backend = make()
    stream = backend.stream(asking("tiny", "Hello!", max_tokens=40, extra={"ignore_eos": True}))
    await anext(stream)
    await backend.unload("tiny")
    assert await events(backend, asking("tiny", "Hello!"))
    await stream.aclose()
    assert await backend.models() == ["tiny"]


async def slots(engine: EngineProcess, http: HttpClient) -> list[dict[str, Any]]:
    key = {"Authorization": f"Bearer {engine.key.reveal()}"}
    found = await http.get_json(f"{engine.url}/slots", headers=key)
    assert isinstance(found, list)
    return found


async def test_leaving_early_stops_the_generation(make: Make, http: HttpClient) -> None:
    backend = make()
    stream = backend.stream(asking("tiny", "Hello!", max_tokens=3900, extra={"ignore_eos": True}))
    assert isinstance(await anext(stream), AssistantDelta)
    (engine,) = engines_of(backend)
    assert (await slots(engine, http))[0]["is_processing"]
    await stream.aclose()
    async with asyncio.timeout(30):
        while (slot := (await slots(engine, http))[0])["is_processing"]:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    assert slot["next_token"][0]["n_decoded"] < 2000
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")
    assert engines_of(backend) == [engine]


async def test_only_those_who_know_the_key_may_ask(make: Make, http: HttpClient) -> None:
    backend = make()
    await events(backend, asking("tiny", "Hello!"))
    (engine,) = engines_of(backend)
    assert engine.url.startswith("http://127.0.0.1:")
    with pytest.raises(BackendError, match="status 401"):
        await http.get_json(f"{engine.url}/slots")


async def test_options_reach_the_engine(make: Make, http: HttpClient) -> None:
    backend = make(llamacpp__context=512, llamacpp__kv_type="q8_0", llamacpp__flash_attention=True)
    await events(backend, asking("tiny", "Hello!"))
    assert (await slots(engines_of(backend)[0], http))[0]["n_ctx"] == 512


async def test_an_option_that_llama_cpp_does_not_know_is_named(make: Make) -> None:
    with pytest.raises(EngineFailed, match=r"can't load 'tiny': llama.cpp knows no 'q9_9' there") as caught:
        await events(make(llamacpp__kv_type="q9_9"), asking("tiny", "Hello!"))
    assert caught.value.hint == "see [llamacpp] in the settings"


async def test_a_conversation_too_long_for_the_context_says_so(make: Make) -> None:
    with pytest.raises(BackendError) as caught:
        await events(make(llamacpp__context=256), asking("tiny", "word " * 2000))
    assert "context" in str(caught.value.hint)


# What it is asked beside


async def test_loading_tells_how_it_goes(make: Make) -> None:
    told: list[Loading] = []
    backend = make()
    backend.tell_of_loading(told.append)
    await events(backend, asking("tiny", "Hello!"))
    assert told[0].name == "tiny"
    assert told[0].bytes > 11_000_000
    loaded = len(told)
    await events(backend, asking("tiny", "Hello!"))
    assert len(told) == loaded
    assert await backend.models() == ["tiny"]


async def test_facts_are_those_of_the_header(make: Make, tiny_gguf: Path) -> None:
    backend = make()
    assert (await backend.facts("tiny-plain")).templates == {"default": PLAIN}
    facts = await backend.facts(str(tiny_gguf))
    assert (facts.name, facts.parameter_count) == ("tiny.gguf", 10808352)
    assert await backend.models() == []


async def test_several_who_ask_at_once_share_an_engine(make: Make) -> None:
    told: list[Loading] = []
    backend = make()
    backend.tell_of_loading(told.append)
    found = await asyncio.gather(*(events(backend, asking("tiny", "Hello!")) for _ in range(4)))
    assert all(one[-1] == Done("stop") for one in found)
    assert len([one for one in told if one.seconds < 0.1]) == len(engines_of(backend)) == 1


# What is no model


async def test_a_file_that_is_none_is_told_before_the_engine_sees_it(make: Make, tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("hello")
    with pytest.raises(HeaderError, match="isn't a GGUF file"):
        await events(make(), asking(tmp_path / "text.gguf", "Hello!"))
    with pytest.raises(NotFound, match="there is no file"):
        await events(make(), asking(tmp_path / "none.gguf", "Hello!"))


@pytest.fixture
def cut_gguf(tiny_gguf: Path, tmp_path: Path) -> Path:
    """A file with a good header, and not all of its weights."""
    cut = tmp_path / "cut.gguf"
    cut.write_bytes(tiny_gguf.read_bytes()[:3_000_000])
    return cut


async def test_a_file_that_is_cut_short_kills_nothing_but_its_child(make: Make, cut_gguf: Path) -> None:
    backend = make()
    with pytest.raises(EngineFailed, match=r"can't load 'cut.gguf': .*not within the file bounds"):
        await events(backend, asking(cut_gguf, "Hello!"))
    assert engines_of(backend) == []
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")


async def test_a_template_that_does_not_parse_is_the_models_fault(make: Make, tiny_gguf: Path, tmp_path: Path) -> None:
    model = with_templates(tiny_gguf, tmp_path / "broken.gguf", "{% for %}")
    with pytest.raises(EngineFailed, match=r"can't load 'broken.gguf': Unexpected token") as caught:
        await events(make(), asking(model, "Hello!"))
    assert "template" in str(caught.value.hint)


async def test_a_model_for_embedding_is_not_chatted_with(make: Make, tmp_path: Path) -> None:
    pairs: dict[str, object] = {"general.architecture": "bert", "bert.pooling_type": 1}
    (tmp_path / "bert.gguf").write_bytes(Gguf(pairs).to_bytes())
    with pytest.raises(CannotChat, match="for embedding"):
        await events(make(), asking(tmp_path / "bert.gguf", "Hello!"))


async def test_without_an_engine_it_says_what_to_install(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(UsageError) as caught:
        await events(make(), asking("tiny", "Hello!"))
    assert caught.value.hint == "pip install 'callgate[llamacpp]'"


# Models that must have tools


async def test_where_tools_are_required_a_model_without_them_is_not_loaded(make: Make) -> None:
    backend = make(models__require_tools=True)
    assert (await events(backend, asking("tiny", "Hello!")))[-1] == Done("stop")
    with pytest.raises(ModelRejected) as caught:
        await events(backend, asking("tiny-plain", "Hello!"))
    assert str(caught.value) == (
        "Model 'tiny-plain' rejected: its chat template does not support tool calling (supports_tools=false)"
    )
    assert await backend.models() == ["tiny"]


async def test_a_template_that_would_take_all_memory_is_never_given_to_the_engine(make: Make, tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.gguf"
    template = "{% for x in range(1000000000) %}{{ x }}{% endfor %}"
    bomb.write_bytes(Gguf({"general.architecture": "llama", "tokenizer.chat_template": template}).to_bytes())
    backend = make()
    with pytest.raises(TemplateTooCostly, match="won't be loaded"):
        await events(backend, asking(bomb, "Hello!"))
    assert await backend.models() == []


async def test_a_real_model_without_tools_ignores_them_and_is_rejected(make: Make, smollm2_gguf: Path) -> None:
    backend = make(llamacpp__threads=1, llamacpp__context=1024)
    request = asking(smollm2_gguf, "Multiply 17 by 23.", tools=(MULTIPLY,), tool_choice="required", max_tokens=20)
    found = await events(backend, request)
    assert not calls_of(found)
    assert text_of(found)
    with pytest.raises(ModelRejected, match=r"supports_tools=false"):
        await events(make(models__require_tools=True), request)
