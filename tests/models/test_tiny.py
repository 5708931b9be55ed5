"""The training code of the model in the box, as far as it runs without torch."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from callgate.detect import facts_of, read_header
from callgate.gate.emulation import emulation_of
from callgate.vocabulary import Capabilities, ChatRequest, Means, Message, Tool, ToolCall

FOLDER = Path(__file__).parent.parent.parent / "models" / "tiny"
SECONDS = 150


@pytest.fixture(scope="module")
def datagen() -> ModuleType:
    from importlib import import_module

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        return import_module("datagen")


def conversations(datagen: ModuleType, seed: int, count: int) -> list[Any]:
    generator = datagen.training_generator(seed)
    return [generator.conversation() for _ in range(count)]


def test_the_same_seed_makes_the_same_conversations(datagen: ModuleType) -> None:
    program = (
        "from datagen import *\nmade = training_generator(3)\nfor _ in range(100): print(dumps(made.conversation()))"
    )
    said = [
        subprocess.run(
            [sys.executable, "-B", "-c", program],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": str(FOLDER), "PYTHONIOENCODING": "utf-8"},
            capture_output=True,
            timeout=SECONDS,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert said[0] == said[1]
    assert said[0].count(b"\n") == 100


def test_an_answer_with_anything_else_in_it_does_not_count_as_one_that_quotes_the_result(datagen: ModuleType) -> None:
    from importlib import import_module

    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(FOLDER))
        is_quoted = import_module("cases").is_quoted
    generator = datagen.training_generator(5)
    results = [generator.any_result() for _ in range(300)]
    assert sum(is_quoted(result, generator.answer(result)) for result in results) > 297
    result = '{"wind_speed": 5, "city": "Oslo"}'
    assert is_quoted(result, "The wind speed is 5 and the city is Oslo.")
    for garbage in ("\n</tool_call>", ' "Oslo"}}', " Oslo, U11-pines.", " The user is Oslo."):
        assert not is_quoted(result, f"The wind speed is 5 and the city is Oslo.{garbage}")
    assert not is_quoted(result, "The wind speed is 5.")


def test_conversations_are_rendered_as_the_template_renders_them(datagen: ModuleType) -> None:
    from jinja2 import Environment

    template = Environment(autoescape=False)
    template.filters["tojson"] = datagen.dumps
    compiled = template.from_string((FOLDER / "chat_template.jinja").read_text("utf-8"))
    checked = 0
    for messages, tools, _, variant in conversations(datagen, 5, 300):
        if variant == "ours" and messages:
            checked += 1
            assert compiled.render(messages=messages, tools=tools) == datagen.render(messages, tools)
    assert checked > 200


def test_emulated_conversations_read_as_callgate_writes_them(datagen: ModuleType) -> None:
    checked = 0
    for messages, tools, _, variant in conversations(datagen, 8, 600):
        convention = variant.removeprefix("forced ")
        if convention not in ("tags", "json") or not messages:
            continue
        checked += 1
        request = ChatRequest(
            model="tiny-plain",
            messages=as_records(messages[:-1]),
            tools=tuple(Tool(one["name"], one.get("description", ""), one["parameters"]) for one in functions(tools)),
            tool_choice=None if variant == convention else "required",
        )
        means = Means(schema=True, grammar=convention == "tags")
        sent = emulation_of(request, means, Capabilities(name="tiny-plain")).request.messages
        learnt = datagen.emulated(messages, tools, variant)
        assert [{"role": one.role, "content": one.content} for one in sent] == learnt[: len(sent)]
        assert len(learnt) == len(sent) + 1 or messages[-1]["role"] != "assistant"
    assert checked > 40


def functions(tools: list[Any]) -> list[Any]:
    return [tool["function"] for tool in tools]


def as_records(messages: list[Any]) -> tuple[Message, ...]:
    found: list[Message] = []
    waiting: list[str] = []
    for message in messages:
        calls: list[ToolCall] = []
        for call in message.get("tool_calls", []):
            waiting.append(f"call_{len(found)}_{len(calls)}")
            calls.append(ToolCall(id=waiting[-1], name=call["name"], arguments=call["arguments"]))
        answered = waiting.pop(0) if message["role"] == "tool" else None
        found.append(Message(role=message["role"], content=message["content"], calls=tuple(calls), call_id=answered))
    return tuple(found)


def test_a_calculator_gets_an_expression_for_a_sum_in_words(datagen: ModuleType) -> None:
    generator = datagen.training_generator(9)
    for _ in range(500):
        expression, said = generator.pick([generator.said_sum, generator.ordered_sum])()
        eval(expression, {"__builtins__": {}, "sqrt": abs})
        assert expression != said


def test_arguments_are_those_of_the_tool_and_the_required_ones_come_first(datagen: ModuleType) -> None:
    calls = 0
    for messages, tools, _, _ in conversations(datagen, 6, 300):
        schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in tools}
        for call in [call for message in messages for call in message.get("tool_calls", [])]:
            calls += 1
            required = schemas[call["name"]].get("required", [])
            assert set(call["arguments"]) <= set(schemas[call["name"]]["properties"])
            assert list(call["arguments"])[: len(required)] == required
    assert calls > 300


def test_no_tool_of_the_evaluation_occurs_in_training(datagen: ModuleType) -> None:
    held = {name for spec in datagen.load_domains("domains_heldout.txt") for name in spec.names}
    offered = {tool["function"]["name"] for _, tools, _, _ in conversations(datagen, 7, 500) for tool in tools}
    assert not held & offered
    assert len(offered) > 1000


def test_the_shipped_file_has_this_template_and_this_tokenizer(tiny_gguf: Path) -> None:
    facts = facts_of(read_header(tiny_gguf), "tiny", 0)
    assert facts.templates == {"default": (FOLDER / "chat_template.jinja").read_text("utf-8")}
    vocabulary = json.loads((FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["vocab"]
    assert len(vocabulary) == 4096


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_the_shipped_model_passes_a_small_evaluation(tiny_gguf: Path) -> None:
    words = [sys.executable, "-B", str(FOLDER / "eval.py"), str(tiny_gguf), "--n", "2", "--show", "9", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=SECONDS, check=True)
    counts = json.loads(done.stdout.splitlines()[-1])
    right, of = (sum(count[i] for kind, count in counts.items() if not kind.startswith("name/")) for i in (0, 1))
    assert of >= 20
    assert right >= of - 2, done.stdout
