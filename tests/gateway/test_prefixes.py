"""What is sent for a turn of an agent's talk begins with what was sent for the last one, so that caches help."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import pytest

from callgate.gateway import Options
from callgate.settings import Settings
from tests.gateway.dialects.test_anthropic import events_of
from tests.gateway.running import Gateway, PlayedServer, gateway, no_servers

CHAT, MESSAGES, RESPONSES = "/v1/chat/completions", "/v1/messages", "/v1/responses"
WORDS = ("weather", "files", "issues", "mail", "music", *(f"number{number}" for number in range(35)))
SYSTEM = "You are an agent. " * 50
Step = tuple[str, str]
"""Who says something, and what; of a `tool` its result."""
TALK: tuple[Step, ...] = (
    ("user", "play some music"),
    ("call", "use_music"),
    ("call", "use_files"),
    ("say", "It plays."),
    ("user", "thanks, go on"),
    ("call", "use_music"),
    ("say", "Done."),
)
EXAMPLES = {"type": "object", "properties": {"what": {"type": "string"}, "how": {"type": "integer"}}}


def asked(path: str, steps: Sequence[Step]) -> dict[str, Any]:
    """The request of an agent after these."""
    messages: list[Any] = []
    for number, (who, what) in enumerate(steps):
        id_, arguments = f"call_{number}", {"what": f"this {number}", "how": 3}
        match path, who:
            case "/v1/chat/completions", "call":
                called = {"name": what, "arguments": json.dumps(arguments)}
                messages.append(
                    {"role": "assistant", "tool_calls": [{"id": id_, "type": "function", "function": called}]}
                )
                messages.append({"role": "tool", "tool_call_id": id_, "content": f"result {number}"})
            case "/v1/messages", "call":
                use = {"type": "tool_use", "id": id_, "name": what, "input": arguments}
                result = {"type": "tool_result", "tool_use_id": id_, "content": f"result {number}"}
                messages += [{"role": "assistant", "content": [use]}, {"role": "user", "content": [result]}]
            case "/v1/responses", "call":
                call = {"type": "function_call", "call_id": id_, "name": what, "arguments": json.dumps(arguments)}
                messages += [call, {"type": "function_call_output", "call_id": id_, "output": f"result {number}"}]
            case _:
                messages.append({"role": "user" if who == "user" else "assistant", "content": what})
    tools = [(f"use_{word}", f"Does something with {word}.") for word in WORDS]
    match path:
        case "/v1/messages":
            billing = {"type": "text", "text": f"x-anthropic-billing-header: cch={len(steps)};"}
            system = [billing, {"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}]
            own = [{"name": name, "description": about, "input_schema": EXAMPLES} for name, about in tools]
            return {"max_tokens": 99, "system": system, "messages": messages, "tools": own}
        case "/v1/responses":
            own = [
                {"type": "function", "name": name, "description": about, "parameters": EXAMPLES}
                for name, about in tools
            ]
            return {"instructions": SYSTEM, "input": messages, "tools": own}
    functions = [{"name": name, "description": about, "parameters": EXAMPLES} for name, about in tools]
    own = [{"type": "function", "function": function} for function in functions]
    return {"messages": [{"role": "system", "content": SYSTEM}, *messages], "tools": own}


def turns(steps: Sequence[Step]) -> Iterable[Sequence[Step]]:
    """After each of which it is the model's turn."""
    return (steps[: end + 1] for end, (who, _) in enumerate(steps) if who != "say")


async def sent(path: str, talks: Iterable[Sequence[Step]], settings: Settings, **more: object) -> list[dict[str, Any]]:
    """What the server behind gets for each."""
    played = PlayedServer()
    played.go_on.set()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow"), settings) as served:
        for steps in talks:
            answer = await served.post(path, {**asked(path, steps), "stream": True, **more})
            assert answer.status == 200, answer.body
    return played.asked


def begins_with(longer: dict[str, Any], shorter: dict[str, Any]) -> bool:
    """Tools and system message byte for byte, and all messages up to the last."""
    same = all(json.dumps(longer.get(key)) == json.dumps(shorter.get(key)) for key in ("tools", "response_format"))
    start = longer["messages"][: len(shorter["messages"])]
    return same and json.dumps(start) == json.dumps(shorter["messages"])


@pytest.mark.parametrize("path", [CHAT, MESSAGES, RESPONSES])
@pytest.mark.parametrize("strategy", ["native", "emulate"])
@pytest.mark.parametrize("limit", [0, 5])
async def test_every_turn_begins_with_the_one_before(path: str, strategy: str, limit: int) -> None:
    settings = no_servers(tools__strategy=strategy, tools__limit=limit)
    requests = await sent(path, turns(TALK), settings)
    assert len(requests) == 5
    for earlier, later in pairwise(requests):
        assert len(later["messages"]) > len(earlier["messages"])
        assert begins_with(later, earlier)
    system = requests[0]["messages"][0]
    assert system["role"] == "system"
    assert system["content"].startswith(SYSTEM.strip()[:100])
    if strategy == "native":
        assert len(requests[0]["tools"]) == (limit or len(WORDS))
    else:
        assert system["content"].count("- use_") == (limit or len(WORDS))


async def test_a_question_about_something_else_changes_the_selection_once() -> None:
    talk = (*TALK, ("user", "is there any mail?"), ("call", "use_mail"), ("user", "good, thanks"))
    requests = await sent(MESSAGES, turns(talk), no_servers(tools__strategy="native", tools__limit=3))
    offered = [tuple(tool["function"]["name"] for tool in request["tools"]) for request in requests]
    assert len(set(offered)) == 2
    assert offered[-3] == offered[-2] == offered[-1]
    assert {"use_music", "use_files", "use_mail"} <= set(offered[-1]), "what was called stays"


async def test_an_answer_that_is_gone_on_from_is_the_same_talk() -> None:
    played = PlayedServer()
    played.go_on.set()
    async with played.served() as url, gateway(Options(model=f"{url}/v1#slow")) as served:
        previous: str | None = None
        for number in range(4):
            body = {**asked(RESPONSES, TALK[:1]), "input": f"question {number}", "previous_response_id": previous}
            answer = await served.post(RESPONSES, body)
            assert answer.status == 200
            previous = answer.json["id"]
    for earlier, later in pairwise(played.asked):
        assert begins_with(later, earlier)


@pytest.mark.engine
@pytest.mark.parametrize(("model", "mode"), [("tiny", "native"), ("tiny-plain", "emulated")])
@pytest.mark.parametrize("limit", [0, 3])
async def test_a_real_engine_reads_only_what_is_new(model: str, mode: str, limit: int, require_engine: None) -> None:
    """The prompts are the rendered ones, to the last token: what the engine has in its cache it doesn't read again."""
    async with gateway(Options(model=model, explain=True), no_servers(tools__limit=limit)) as served:
        steps: list[Step] = [
            ("user", "play some music"),
            ("call", "use_music"),
            ("call", "use_files"),
            ("user", "go on"),
        ]
        read = [await _read(served, steps[:length], mode) for length in range(1, len(steps) + 1)]
    for (before, _), (prompt, cached) in pairwise(read):
        # Of what was sent before, all is found again but what asks the model to speak.
        assert cached >= before - 8
        assert prompt - cached < 120


async def _read(served: Gateway, steps: Sequence[Step], mode: str) -> tuple[int, int]:
    """How long the prompt was, and how much of it was in the cache."""
    body = asked(MESSAGES, steps)
    body |= {"max_tokens": 1, "tools": body["tools"][:8], "system": "You are an agent."}
    answer = await served.post(MESSAGES, body)
    assert answer.status == 200, answer.body
    assert answer.json["callgate"]["mode"] == mode
    usage = answer.json["usage"]
    return usage["input_tokens"] + usage["cache_read_input_tokens"], usage["cache_read_input_tokens"]


@pytest.mark.engine
async def test_a_real_engine_says_which_text_ended_an_answer_and_what_is_too_long(require_engine: None) -> None:
    async with gateway(Options(model="tiny")) as served:
        body: dict[str, Any] = {"max_tokens": 50, "messages": [{"role": "user", "content": "Hello, how are you?"}]}
        plain = (await served.post(MESSAGES, body)).json
        assert (plain["stop_reason"], plain["stop_sequence"]) == ("end_turn", None)
        text = plain["content"][0]["text"]
        stop = text.split()[2]
        for stream in (False, True):
            answer = await served.post(MESSAGES, {**body, "stop_sequences": ["never", stop], "stream": stream})
            ended = events_of(answer.body)[-2]["delta"] if stream else answer.json
            assert (ended["stop_reason"], ended["stop_sequence"]) == ("stop_sequence", stop)
            assert stop.encode() not in answer.body.replace(b'"stop_sequence":"' + stop.encode(), b"")
        unused = (await served.post(MESSAGES, {**body, "stop_sequences": ["never"]})).json
        assert (unused["stop_reason"], unused["stop_sequence"]) == ("end_turn", None)
        long = {**body, "messages": [{"role": "user", "content": "Hello, how are you? " * 2_000}]}
        for stream in (False, True):
            refused = await served.post(MESSAGES, {**long, "stream": stream})
            assert refused.status == 400
            assert refused.json["error"]["message"].startswith("prompt is too long: 14")
