"""What a model would get, over each kind of backend; and that our prompt is the engine's own."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from callgate.runtime import Session, Shown, show
from callgate.settings import load_settings
from callgate.vocabulary import (
    ChatRequest,
    Message,
    ModelRef,
    ModelRejected,
    NotFound,
    TemplateError,
    Tool,
    ToolCall,
    ToolsRefused,
    Unreachable,
)
from tests.backends.gguf_edit import with_templates
from tests.detect.gguf.writer import Gguf
from tests.detect.template.samples import SAMPLES
from tests.real_ollama import server
from tests.runtime.played import NOBODY, WITH_TOOLS, WITHOUT, PlayedOllama, model
from tests.wire.server import serving

MULTIPLY = Tool(
    "multiply",
    "Multiply two integers.",
    {"type": "object", "properties": {"b": {"type": "integer"}, "a": {"type": "integer"}}, "required": ["a", "b"]},
)
SYSTEM = Message(role="system", content="Be brief.")
QUESTION = Message(role="user", content="17 times 23 — schön?")
CALLING = Message(role="assistant", calls=(ToolCall("c1", "multiply", {"a": 17, "b": 23}),))
RESULT = Message(role="tool", content="391", call_id="c1", name="multiply")
ANSWER = Message(role="assistant", content="It is 391.", thinking="17 * 23 = 391")
PREFILL = Message(role="assistant", content="It is")
CONVERSATIONS = {
    "a question": (QUESTION,),
    "a system message": (SYSTEM, QUESTION),
    "a result": (SYSTEM, QUESTION, CALLING, RESULT),
    "a second question": (QUESTION, CALLING, RESULT, ANSWER, QUESTION),
    "the start of an answer": (QUESTION, PREFILL),
}
THINKING = (
    "{%- for message in messages %}{{- '<|im_start|>' + message.role + '\n' }}"
    "{%- if message.reasoning_content %}{{- '<think>' + message.reasoning_content + '</think>' }}{%- endif %}"
    "{{- message.content + '<|im_end|>\n' }}{%- endfor %}"
    "{%- if add_generation_prompt %}{{- '<|im_start|>assistant\n' }}"
    "{%- if enable_thinking is defined and enable_thinking is false %}{{- '<think>\n\n</think>\n\n' }}{%- endif %}"
    "{%- endif %}"
)


def asking(*messages: Message, tools: tuple[Tool, ...] = (MULTIPLY,), **more: Any) -> ChatRequest:
    return ChatRequest(model="", messages=messages or (QUESTION,), tools=tools, **more)


async def shown(ref: str, request: ChatRequest | None = None, *, may_load: bool = False, **settings: object) -> Shown:
    overrides = {key.replace("__", "."): value for key, value in settings.items()}
    async with Session(load_settings(overrides)) as session:
        return await show(session, ModelRef.parse(ref), request or asking(), may_load=may_load)


def body_of(found: Shown) -> dict[str, Any]:
    assert found.wire is not None
    body: dict[str, Any] = json.loads(found.wire.body)
    return body


def kinds(found: Shown) -> list[str]:
    return [notice.kind for notice in found.notices]


# The model in the box


async def test_tools_go_through_where_the_model_has_them() -> None:
    found = await shown("tiny")
    assert (found.mode, found.problem, kinds(found)) == ("native", None, [])
    assert "shows the model its tools" in found.reason
    assert body_of(found)["tools"][0]["function"]["name"] == "multiply"
    assert found.prompt is not None
    assert found.prompt.by == "callgate"
    assert '"name": "multiply"' in found.prompt.text
    assert found.prompt.text.endswith(f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n")


async def test_tools_stand_in_the_prompt_of_a_model_without_them() -> None:
    found = await shown("tiny-plain")
    assert (found.mode, kinds(found)) == ("emulated", ["tools_emulated"])
    assert "tools" not in body_of(found)
    assert found.prompt is not None
    assert "multiply" in found.prompt.text


async def test_the_strategy_is_heeded() -> None:
    found = await shown("tiny", tools__strategy="off")
    assert (found.mode, kinds(found)) == ("off", ["tools_off"])
    assert found.prompt is not None
    assert "multiply" not in found.prompt.text


async def test_a_plain_question_needs_no_tools() -> None:
    found = await shown("tiny", asking(tools=()))
    assert (found.mode, found.reason) == ("off", "no tools are offered")
    assert found.prompt is not None
    assert found.prompt.text == f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n"


async def test_a_model_that_is_refused_gets_nothing() -> None:
    with pytest.raises(ModelRejected):
        await shown("tiny-plain", models__require_tools=True)


# Files


async def test_the_variant_for_tools_is_used_where_tools_are_sent(tiny_gguf: Path, tmp_path: Path) -> None:
    file = with_templates(tiny_gguf, tmp_path / "m.gguf", SAMPLES["plain"].source, tool_use="T" + TOOLS_TEMPLATE)
    prompts = [(await shown(str(file), asking(tools=tools))).prompt for tools in ((MULTIPLY,), ())]
    assert [prompt.text[:2] for prompt in prompts if prompt] == ["T<", "<u"]


async def test_a_model_without_a_template_gets_chatml(tmp_path: Path) -> None:
    file = tmp_path / "m.gguf"
    file.write_bytes(Gguf({"general.architecture": "llama"}).to_bytes())
    found = await shown(str(file), asking(tools=()))
    assert found.prompt is not None
    assert found.prompt.text == f"<|im_start|>user\n{QUESTION.content}<|im_end|>\n<|im_start|>assistant\n"


async def test_what_the_template_refuses_is_told_and_the_rest_is_shown(tiny_gguf: Path, tmp_path: Path) -> None:
    file = with_templates(tiny_gguf, tmp_path / "m.gguf", SAMPLES["roles that alternate"].source)
    found = await shown(str(file), asking(QUESTION, QUESTION, tools=()))
    assert (found.prompt, kinds(found)) == (None, ["no_prompt"])
    assert "Conversation roles must alternate" in found.notices[-1].message
    assert isinstance(found.problem, TemplateError)
    assert body_of(found)["messages"]


async def test_a_file_that_isnt_there_is_an_error() -> None:
    with pytest.raises(NotFound):
        await shown("file:nowhere.gguf")


# Ollama


@asynccontextmanager
async def played(**models: dict[str, Any]) -> AsyncIterator[tuple[PlayedOllama, str]]:
    ollama = PlayedOllama(**models)
    async with serving(*ollama.routes) as url:
        yield ollama, f"ollama+{url}"


async def test_an_ollama_isnt_made_to_load_a_model_whose_template_we_can_render() -> None:
    async with played(m=WITH_TOOLS) as (ollama, url):
        found = await shown(f"{url}#m")
    assert (found.mode, found.problem) == ("native", None)
    assert found.prompt is not None
    assert found.prompt.by == "callgate"
    assert found.prompt.text.startswith("<tool>{")
    assert not ollama.asked["/api/chat"]


async def test_what_an_ollamas_model_has_of_its_own_is_in_the_prompt_even_if_it_was_looked_at_before() -> None:
    async with played(m=model("completion", system="Be kind.", digest="d" * 64)) as (_, url):
        for _ in range(2):
            found = await shown(f"{url}#m", asking(tools=()))
            assert found.prompt is not None
            assert found.prompt.text.startswith("<system>Be kind.<user>")


async def test_a_template_of_ollamas_own_kind_is_left_to_ollama() -> None:
    async with played(m=model("completion", template="{{ .Prompt }}")) as (_, url):
        found = await shown(f"{url}#m")
    assert (found.prompt, found.problem, kinds(found)) == (None, None, ["tools_emulated", "no_prompt"])
    assert "--engine" in found.notices[-1].message


async def test_a_server_that_isnt_there_leaves_a_guess() -> None:
    found = await shown(f"ollama+{NOBODY}#m")
    assert isinstance(found.problem, Unreachable)
    assert (kinds(found)[-1], found.prompt) == ("guess", None)
    assert body_of(found)["model"] == "m"


async def test_a_model_that_isnt_there_is_an_error() -> None:
    async with played(m=WITHOUT) as (_, url):
        with pytest.raises(NotFound):
            await shown(f"{url}#another")


async def test_a_password_in_an_address_is_nowhere() -> None:
    found = await shown(f"ollama+{NOBODY}".replace("://", "://me:secret@") + "#m")
    assert "secret" not in str(found.as_json())
    assert found.name == f"ollama+{NOBODY}#m"


# Others


async def test_a_recording_has_a_request_and_no_prompt(tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text('{"callgate_recording": 1, "model": "m", "backend": "ollama"}\n')
    found = await shown(f"scripted:{file}")
    assert (found.mode, found.prompt, found.problem) == ("native", None, None)
    assert body_of(found)["messages"][0]["content"] == QUESTION.content


async def test_as_json_it_has_these_keys() -> None:
    found = (await shown("tiny")).as_json()
    assert list(found) == ["model", "mode", "reason", "notices", "request", "prompt", "rendered_by"]
    assert list(found["request"]) == ["url", "body"]


# Is our prompt the engine's?

TOOLS_TEMPLATE = SAMPLES["tools and calls"].source


@pytest.fixture(scope="module")
def thinking_gguf(tiny_gguf: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return with_templates(tiny_gguf, tmp_path_factory.mktemp("thinking") / "m.gguf", THINKING)


@pytest.mark.engine
@pytest.mark.parametrize("strategy", ["native", "emulate", "off"])
@pytest.mark.parametrize("name", ["tiny", "tiny-plain"])
async def test_our_prompt_is_the_engines_own(require_engine: None, name: str, strategy: str) -> None:
    for messages in CONVERSATIONS.values():
        ours = await shown(name, asking(*messages), tools__strategy=strategy)
        engines = await shown(name, asking(*messages), may_load=True, tools__strategy=strategy)
        assert ours.prompt is not None, ours.notices
        assert engines.prompt is not None, engines.notices
        assert (ours.prompt.text, engines.prompt.by) == (engines.prompt.text, "llama.cpp")
        assert ours.wire == engines.wire


@pytest.mark.engine
@pytest.mark.parametrize("think", [None, True, False])
async def test_our_prompt_is_the_engines_own_where_a_model_thinks(
    require_engine: None, thinking_gguf: Path, think: bool | None
) -> None:
    for messages in ((QUESTION,), (SYSTEM, QUESTION, ANSWER, QUESTION)):
        request = asking(*messages, tools=(), think=think)
        ours, engines = [await shown(str(thinking_gguf), request, may_load=load) for load in (False, True)]
        assert ours.prompt is not None
        assert engines.prompt is not None
        assert ours.prompt.text == engines.prompt.text


@pytest.fixture(scope="module")
def with_a_system(ollama_url: str) -> Iterator[str]:
    """A model of the real Ollama's that has a system message of its own."""
    wanted = {"model": "kind", "from": "tiny", "system": "Be kind.", "stream": False}
    server._ask("POST", f"{ollama_url}/api/create", json.dumps(wanted).encode())
    yield "kind"
    server.unload(ollama_url, "tiny", "kind")
    server._ask("DELETE", f"{ollama_url}/api/delete", json.dumps({"model": "kind"}).encode())


@pytest.mark.ollama
@pytest.mark.engine
@pytest.mark.parametrize("name", ["a question", "a system message", "a result", "a second question"])
async def test_our_prompt_is_the_real_ollamas_own(
    ollama_url: str, with_a_system: str, require_engine: None, name: str
) -> None:
    nested = {"type": "array", "items": {"type": "object", "properties": {"y": {"type": "string", "minLength": 1}}}}
    book = Tool("book", "Book <it> & more", {"type": "object", "properties": {"n": {"default": 1}, "x": nested}})
    request = asking(*CONVERSATIONS[name], tools=(MULTIPLY, book))
    for ref in ("tiny", with_a_system):
        server.unload(ollama_url, "tiny", "kind")
        ours, theirs = [await shown(f"ollama+{ollama_url}#{ref}", request, may_load=load) for load in (False, True)]
        assert ours.prompt is not None
        assert theirs.prompt is not None
        assert (ours.prompt.by, theirs.prompt.by) == ("callgate", "ollama")
        assert ours.prompt.text == theirs.prompt.text


@pytest.mark.ollama
@pytest.mark.engine
async def test_a_real_ollama_that_takes_no_tools_says_so(
    ollama_url: str, require_engine: None, tiny_gguf: Path, tmp_path: Path
) -> None:
    plain = with_templates(tiny_gguf, tmp_path / "plain.gguf", (tiny_gguf.parent / "tiny-plain.jinja").read_text())
    with server.lent(ollama_url, plain, "no-tools"):
        found = await shown(f"ollama+{ollama_url}#no-tools", may_load=True, tools__strategy="native")
    assert isinstance(found.problem, ToolsRefused)
    assert body_of(found)["tools"]
