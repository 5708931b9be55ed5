from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.gateway import Options
from callgate.gateway.asgi import decoded
from callgate.gateway.dialect import CountTokens, Embed, ShowModel, Talk
from callgate.gateway.dialects import DIALECTS
from callgate.gateway.openapi import document
from callgate.vocabulary import AssistantDelta, Done, ThinkingDelta, ToolCall, ToolCallEvent, Usage, UsageError
from tests.gateway.dialects import test_ollama, test_openai
from tests.gateway.running import MULTIPLY, PlayedServer, gateway, recording

DOCUMENT: dict[str, Any] = json.loads(document(DIALECTS, keyed=False, has_default=True))
ACTIONS = {
    route.path: route.action
    for dialect in DIALECTS
    for route in dialect.routes
    if isinstance(route.action, Talk | CountTokens | Embed | ShowModel) and route.action.body
}
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)
FIELDS = sorted({*test_openai.FIELDS, *test_ollama.FIELDS, "input", "dimensions", "name", "functions", "reasoning"})
USUAL: dict[str, Any] = {"messages": [{"role": "user", "content": "hello"}], "prompt": "hello", "input": "hello"}
ANSWERS = (
    (AssistantDelta("Hel"), AssistantDelta("lo"), Usage(3, 2), Done("stop")),
    (ThinkingDelta("hm"), AssistantDelta("Hello"), Done("length")),
    (ToolCallEvent(ToolCall("1", "multiply", {"a": "17", "b": 23})), Usage(3, 2), Done("tool_calls")),
    (Done("stop"),),
)


def validator(schema: object, whole: dict[str, Any] = DOCUMENT) -> jsonschema_rs.Draft202012Validator:
    return jsonschema_rs.Draft202012Validator({"allOf": [schema], "components": whole["components"]})


ASKED = {
    path: validator(DOCUMENT["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"])
    for path in ACTIONS
}


def test_every_route_is_told_of_with_what_may_go_wrong() -> None:
    operations = {
        (path, method): each for path, methods in DOCUMENT["paths"].items() for method, each in methods.items()
    }
    for dialect in DIALECTS:
        for route in dialect.routes:
            told = operations.pop((route.path.replace("*", "{name}"), route.method.lower()))
            assert told["summary"]
            assert {"403", "500"} <= told["responses"].keys()
    assert {path for path, _ in operations} == {"/health", "/ready", "/metrics", "/openapi.json"}
    names = [each["operationId"] for methods in DOCUMENT["paths"].values() for each in methods.values()]
    assert len(names) == len(set(names))


def test_every_reference_leads_somewhere() -> None:
    def refs(value: object) -> Iterator[str]:
        if isinstance(value, dict):
            if isinstance(value.get("$ref"), str):
                yield value["$ref"]
            for inner in value.values():
                yield from refs(inner)
        elif isinstance(value, list):
            for inner in value:
                yield from refs(inner)

    found = {ref.removeprefix("#/components/schemas/") for ref in refs(DOCUMENT)}
    assert found <= DOCUMENT["components"]["schemas"].keys()
    assert {"GivenMessage", "ToolDefinition", "openai.Error", "ollama.Error"} <= found


def test_a_key_is_asked_for_where_one_is_needed() -> None:
    keyed = json.loads(document(DIALECTS, keyed=True, has_default=True))
    assert keyed["security"] == [{"bearer": []}, {"header": []}]
    assert "401" in keyed["paths"]["/v1/models"]["get"]["responses"]
    assert keyed["paths"]["/health"]["get"]["security"] == []
    assert "401" not in keyed["paths"]["/health"]["get"]["responses"]
    assert "security" not in DOCUMENT


def is_taken(path: str, body: dict[str, Any]) -> bool:
    action = ACTIONS[path]
    assert action.body
    try:
        record, extra = decoded(json.dumps(body).encode(), action.body, nesting=64)
        if not isinstance(action, ShowModel):
            action.read(record, extra)
    except UsageError:
        return False
    return True


@given(st.sampled_from(sorted(ACTIONS)), st.dictionaries(st.sampled_from(FIELDS), JSONS), st.booleans())
def test_what_fits_the_document_is_taken_and_nothing_else(path: str, body: dict[str, Any], usual: bool) -> None:
    asked = {**USUAL, **body} if usual else body
    assert is_taken(path, asked) is ASKED[path].is_valid(asked)


@pytest.mark.parametrize(
    "more",
    [
        {"tools": [MULTIPLY]},
        {"tools": [{"name": "a b", "input_schema": {"type": "object"}}]},
        {"tools": [{"type": "function"}]},
        {"tools": [{"function": None, "name": "x", "parameters": {"type": "string"}}]},
        {"tools": [{"function": {"name": "x"}, "name": "", "parameters": {"type": 1}, "input_schema": {"items": 1}}]},
        {"tools": [{"function": {"name": ""}, "name": "x"}]},
        {"tools": [{"type": "function", "function": {"name": ""}}]},
        {"tools": [{"type": "function", "function": {"name": " "}}]},
        {"tools": [{"type": "function", "function": {"name": "a\u200bb"}}]},
        {"tools": [{"type": "function", "function": {"name": "é" * 256}}]},
        {"tools": [{"type": "function", "function": {"name": "é" * 257}}]},
        {"tools": [{"type": "web_search", "name": "x", "parameters": {"type": "object"}}]},
        {"tools": [{"function": {"name": "x", "parameters": {"type": "string"}}}]},
        {"tools": [{"function": {"name": "x", "parameters": {"properties": {"y": {"type": "text"}}}}}]},
        {"tools": [{"function": {"name": "x", "parameters": {"properties": {"y": True}, "required": ["y"]}}}]},
        {"tool_choice": {"type": "function", "function": {"name": "x"}}},
        {"tool_choice": {"type": "function"}},
        {"tool_choice": {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": []}}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {}}}},
        {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "text"}},
        {"messages": []},
        {"messages": [{"role": "nobody"}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "eA=="}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "http://x/y"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "input_audio"}]}]},
        {"messages": [{"role": "user", "images": ["data:image/png;base64,eHl6"]}]},
        {"messages": [{"role": "user", "images": [""]}]},
        {"messages": [{"role": "user", "images": ["eA="]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "x", "arguments": {}}}]}]},
        {"messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}]},
        {"messages": [{"role": "user", "content": [{"type": "nothing"}, {}]}], "input": [{"type": "nothing"}, {}]},
        {"messages": [{"role": "user", "content": ["x"]}], "input": ["x"]},
        {"system": [{"type": "text", "text": "x"}], "instructions": "x"},
        {"system": 1, "instructions": 1},
        {"tools": [{"type": "web_search_20250305", "name": ""}, {"type": "web_search"}]},
        {"tools": [{"type": "custom", "name": "x", "input_schema": {"type": 1}, "parameters": {"type": 1}}]},
        {"tools": [{"type": "custom"}]},
        {"tools": [{"type": "namespace", "name": "x", "tools": [{"type": "function", "name": "y"}]}]},
        {"tool_choice": {"type": "any"}},
        {"tool_choice": {"type": "tool"}},
        {"tool_choice": {"type": "tool", "name": "x", "disable_parallel_tool_use": True}},
        {"thinking": {"type": "enabled", "budget_tokens": 1024}, "text": {"format": {"type": "text"}}},
        {"thinking": {}, "text": {"format": {"type": "xml"}}},
        {"output_config": {"effort": "huge"}, "previous_response_id": 5},
        {
            "output_format": {"type": "json_schema", "schema": {}},
            "text": {"format": {"type": "json_schema", "schema": {}}},
        },
        {"max_tokens": 0, "max_output_tokens": 0},
        {"conversation": "x"},
        {"conversation": "", "prompt": {"id": "x"}},
        {"n": 1.0, "max_tokens": 5.0},
        {"n": 2},
        {"max_tokens": 5.5},
        {"functions": [{"name": "x"}]},
        {"functions": [{"name": "x"}], "function_call": {"name": "x"}},
        {"functions": [{"name": "x"}], "function_call": "required"},
        {"functions": [{"name": ""}]},
        {"reasoning_effort": "none", "reasoning": {"effort": "huge"}},
        {"think": "max", "format": "json"},
        {"think": "some"},
        {"format": "xml"},
        {"input": []},
        {"dimensions": 0},
        {"dimensions": 3},
        {"prompt": ["x", "y"]},
        {"suffix": "x"},
        {"echo": True},
        {"raw": True},
        {"best_of": 2},
        {"logprobs": 0},
    ],
)
@pytest.mark.parametrize("path", sorted(ACTIONS))
def test_what_is_hard_to_say_is_said(path: str, more: dict[str, Any]) -> None:
    body = {**USUAL, **more}
    assert is_taken(path, body) is ASKED[path].is_valid(body)


async def test_a_model_has_to_be_named_where_none_is_the_default() -> None:
    names: list[dict[str, object]] = [{"model": model} for model in (None, "", 1, "nothing")]
    names += [{}, {"name": "nothing"}, {"name": ""}, {"model": "", "name": "nothing"}, {"model": None, "name": None}]
    async with gateway() as on:
        told = (await on.get("/openapi.json")).json
        for path in ACTIONS:
            schema = told["paths"][path]["post"]["requestBody"]["content"]["application/json"]["schema"]
            fits = validator(schema, told)
            statuses = {}
            for named in names:
                body = {**USUAL, **named}
                statuses[json.dumps(named)] = status = (await on.post(path, body)).status
                assert (path, named, status) == (path, named, 404 if fits.is_valid(body) else 400)
            assert {*statuses.values()} == {400, 404}


async def test_answers_look_as_it_is_told(tmp_path: Path) -> None:
    played = PlayedServer()
    model = recording(tmp_path / "said", *ANSWERS * 30)
    async with (
        played.served() as url,
        gateway(Options(model=model, aliases={"v": f"{url}/v1#slow"}, explain=True)) as on,
    ):
        told = (await on.get("/openapi.json")).json
        assert told == DOCUMENT

        def fits(method: str, path: str, status: int, media_type: str, values: Sequence[object]) -> None:
            content = told["paths"][path][method]["responses"][str(status)]["content"]
            for value in values:
                validator(content[media_type]["schema"]).validate(value)

        for path in (path for path, action in ACTIONS.items() if isinstance(action, Talk)):
            for stream in (False, True):
                for number, _ in enumerate(ANSWERS * 2):
                    usage = {"include_usage": number < len(ANSWERS)}
                    body = {**USUAL, "stream": stream, "stream_options": usage, "tools": [MULTIPLY]}
                    answer = await on.post(path, body)
                    assert answer.status == 200
                    sent = answer.headers["content-type"]
                    if sent == "text/event-stream":
                        lines = [part.splitlines() for part in answer.body.decode().split("\n\n") if part]
                        events = [dict(line.split(": ", 1) for line in part) for part in lines]
                        data = [event["data"] for event in events]
                        fits("post", path, 200, sent, events)
                        schema = told["paths"][path]["post"]["responses"]["200"]["content"][sent]["schema"]
                        held = schema["properties"]["data"]
                        chunk = validator(held.get("anyOf", [held])[-1]["contentSchema"])
                        assert all(chunk.is_valid(json.loads(each)) for each in data if each != "[DONE]")
                    else:
                        fits("post", path, 200, sent, answer.lines)
        fits("post", "/api/chat", 200, "application/json", [(await on.post("/api/chat", {"model": ""})).json])
        for path in ("/v1/messages/count_tokens", "/v1/responses/input_tokens"):
            fits("post", path, 200, "application/json", [(await on.post(path, USUAL)).json])
        kept = (await on.post("/v1/responses", USUAL)).json["id"]
        for method in ("get", "delete"):
            for status in (200, 404) if method == "delete" else (200,):
                answer = await on.ask(method.upper(), f"/v1/responses/{kept}")
                assert answer.status == status
                fits(method, "/v1/responses/{name}", status, "application/json", [answer.json])
        for path in ("/v1/embeddings", "/api/embed", "/api/embeddings"):
            answer = await on.post(path, {**USUAL, "model": "v"})
            assert answer.status == 200
            fits("post", path, 200, "application/json", [answer.json])
        fits("post", "/api/show", 200, "application/json", [(await on.post("/api/show", {"model": "v"})).json])
        fits("get", "/v1/models/{name}", 200, "application/json", [(await on.get("/v1/models/tiny")).json])
        for path in ("/v1/models", "/api/tags", "/api/ps", "/api/version", "/health", "/ready"):
            fits("get", path, 200, "application/json", [(await on.get(path)).json])
        for path in ACTIONS:
            answer = await on.post(path, b"[]")
            fits("post", path, answer.status, "application/json", [answer.json])
