"""A server on loopback whose model says just what a test wants, one turn after the other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import msgspec
from aiohttp import web

from callgate.validate import Expected, ExpectedCall
from callgate.vocabulary import ModelRef
from tests.wire.server import serving


class Reply(NamedTuple):
    """One turn: words in pieces, or calls."""

    pieces: tuple[str, ...] = ()
    calls: tuple[tuple[str, Mapping[str, Any]], ...] = ()


def says(*pieces: str) -> Reply:
    return Reply(pieces)


def calls(*made: tuple[str, Mapping[str, Any]]) -> Reply:
    return Reply(calls=made)


def right(expect: Expected) -> Reply:
    """A turn as it is expected."""
    if expect.any_valid_call:
        return calls(("set_heater", {"level": "low"}))
    if expect.calls:
        return calls(*(made(call) for call in expect.calls))
    if expect.json is not None:
        return says(json.dumps(expect.json))
    words = [wanted if isinstance(wanted, str) else wanted[0] for wanted in expect.mentions]
    return says("Well, ", f"here you are: {' '.join(words)}.")


def wrong(expect: Expected, tools: Sequence[str]) -> dict[str, Reply]:
    """Turns that aren't, each by the kind of fault that it is."""
    if expect.any_valid_call:
        return {
            "no-call": says("I'd rather not."),
            "invalid-arguments": calls(("set_heater", {"level": "sideways"})),
            "wrong-name": calls(("no_such_tool", {})),
        }
    if expect.calls:
        good = [made(call) for call in expect.calls]
        name, arguments = good[0]
        faults = {
            "no-call": says("I'd rather not."),
            "empty": says(),
            "text-call": says(f"<tool_call>\n{json.dumps({'name': name, 'arguments': arguments})}\n</tool_call>"),
            "wrong-name": calls(("no_such_tool", arguments), *good[1:]),
            "wrong-arguments": calls((name, changed(arguments)), *good[1:]),
            "invalid-arguments": calls((name, {}), *good[1:]),
        } | ({} if expect.more_calls else {"extra-call": calls(*good, good[0])})
        return faults | ({"missing-call": calls(*good[1:])} if len(good) > 1 else {})
    faults = {"empty": says()}
    if tools:
        faults |= {
            "called-without-need": calls((tools[0], {})),
            "text-call": says(f'<tool_call>\n{{"name": "{tools[0]}", "arguments": {{}}}}\n</tool_call>'),
        }
    if expect.json is not None:
        faults |= {"invalid-json": says("Anna is 31."), "wrong-json": says(json.dumps({"name": "Anna"}))}
    if expect.mentions:
        faults |= {"result-unused|wrong-text": says("Well, ", "that would be 1.")}
    if expect.no_numbers:
        faults |= {"wrong-text": says("Unable to ", "say; I think that there are 42.")}
    if expect.pieces > 1:
        faults |= {"in-one-piece": says("All of it at once.")}
    return faults


def made(call: ExpectedCall) -> tuple[str, dict[str, Any]]:
    assert isinstance(call.arguments, dict)
    return call.name if isinstance(call.name, str) else call.name[0], call.arguments


def changed(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """The same arguments but for one value, which still fits its schema."""
    name = next(iter(arguments))
    match arguments[name]:
        case "low" | "medium" | "high" as level:
            return {**arguments, name: {"low": "medium", "medium": "high", "high": "low"}[level]}
        case str(text):
            return {**arguments, name: f"{text}x"}
        case bool(value):
            return {**arguments, name: not value}
        case int(number) | float(number):
            return {**arguments, name: number + 1}
        case list(values):
            return {**arguments, name: values[1:]}
    raise AssertionError(f"what is {arguments[name]!r}?")


class PlayedModel:
    """Says `replies` in their order; keeps what it was asked."""

    def __init__(self) -> None:
        self.replies: list[Reply] = []
        self.asked: list[dict[str, Any]] = []
        self.refuses_tools = False
        self.hangs_with_tools = False
        self.breaks = False
        self.end = "stop"
        self._gone = asyncio.Event()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[ModelRef]:
        async with serving(
            ("POST", "/v1/chat/completions", self._chat),
            ("GET", "/v1/models", _models),
            ("GET", "/{path:.*}", _nothing),
        ) as base:
            try:
                yield ModelRef("openai", "played", f"{base}/v1")
            finally:
                self._gone.set()

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        if asked.get("max_tokens") == 1 or asked.get("max_completion_tokens") == 1:  # it is only loaded
            return web.json_response({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]})
        self.asked.append(asked)
        if self.hangs_with_tools and asked.get("tools"):
            await self._gone.wait()
        if self.breaks:
            return web.json_response({"error": {"message": "out of memory, password=hunter22"}}, status=500)
        if self.refuses_tools and asked.get("tools"):
            return web.json_response({"error": {"message": "played does not support tools"}}, status=400)
        reply = self.replies.pop(0) if self.replies else says("There is nothing more to say.")
        made = [
            {"index": place, "id": f"c{place}", "type": "function", "function": _function(name, arguments)}
            for place, (name, arguments) in enumerate(reply.calls)
        ]
        end = "tool_calls" if made else self.end
        usage = {"prompt_tokens": 5, "completion_tokens": 7}
        if not asked.get("stream"):
            message = {"role": "assistant", "content": "".join(reply.pieces), **({"tool_calls": made} if made else {})}
            return web.json_response({"choices": [{"message": message, "finish_reason": end}], "usage": usage})
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        for piece in reply.pieces:
            await _send(response, {"choices": [{"index": 0, "delta": {"content": piece}}]})
        if made:
            await _send(response, {"choices": [{"index": 0, "delta": {"tool_calls": made}}]})
        await _send(response, {"choices": [{"index": 0, "delta": {}, "finish_reason": end}]})
        await _send(response, {"choices": [], "usage": usage})
        await response.write(b"data: [DONE]\n\n")
        return response


async def _models(request: web.Request) -> web.StreamResponse:
    return web.json_response({"object": "list", "data": [{"id": "played", "object": "model"}]})


async def _nothing(request: web.Request) -> web.StreamResponse:
    return web.json_response({"error": "not found"}, status=404)


async def _send(response: web.StreamResponse, chunk: object) -> None:
    await response.write(b"data: " + msgspec.json.encode(chunk) + b"\n\n")


def _function(name: str, arguments: Mapping[str, Any]) -> dict[str, str]:
    return {"name": name, "arguments": json.dumps(arguments)}
