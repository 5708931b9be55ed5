"""Anthropic's dialect: messages, the tokens in them, and models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from secrets import token_hex
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from callgate.gateway.dialect import (
    OVERLONG,
    CountTokens,
    Dialect,
    Explanation,
    Extra,
    Failure,
    ListModels,
    Route,
    ServedModel,
    ShowModel,
    Talk,
    Wish,
    last_events,
)
from callgate.gateway.given.blocks import GivenTurn, messages_of, system_of
from callgate.gateway.given.left_out import LeftOut
from callgate.gateway.given.parts import MOST_MESSAGES, Part
from callgate.gateway.given.tools import OfferedTool, as_own
from callgate.runtime import Said
from callgate.tools import read_tools
from callgate.vocabulary import (
    AssistantDelta,
    Capabilities,
    ChatRequest,
    Done,
    Event,
    Message,
    Think,
    ThinkingDelta,
    Tool,
    ToolCall,
    ToolCallEvent,
    Usage,
)

_OWN_TOOLS = ("custom", "function")
_EFFORTS: dict[str, Think] = {"low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max"}
_SIGNATURE = "Y2FsbGdhdGU="
"""Clients want thinking to be signed, and send it back so. It says `callgate`, and proves nothing."""
_encode = msgspec.json.encode


class ChosenByModel(msgspec.Struct, frozen=True, tag_field="type", tag="auto"):
    disable_parallel_tool_use: bool | None = None


class AnyTool(msgspec.Struct, frozen=True, tag_field="type", tag="any"):
    disable_parallel_tool_use: bool | None = None


class ThisTool(msgspec.Struct, frozen=True, tag_field="type", tag="tool"):
    name: str
    disable_parallel_tool_use: bool | None = None


class NoTool(msgspec.Struct, frozen=True, tag_field="type", tag="none"):
    pass


class Thinking(msgspec.Struct, frozen=True):
    type: str
    display: str | None = None


class OutputSchema(msgspec.Struct, frozen=True):
    type: Literal["json_schema"]
    schema: dict[str, Any]


class OutputConfig(msgspec.Struct, frozen=True):
    effort: Literal["low", "medium", "high", "xhigh", "max"] | None = None
    format: OutputSchema | None = None


class MessagesRequest(msgspec.Struct, frozen=True, kw_only=True):
    messages: Annotated[list[GivenTurn], Meta(min_length=1, max_length=MOST_MESSAGES)]
    model: str | None = None
    max_tokens: Annotated[int, Meta(ge=0)] | None = None
    system: str | list[Part] | None = None
    tools: list[Annotated[OfferedTool, as_own("input_schema", *_OWN_TOOLS)]] | None = None
    tool_choice: ChosenByModel | AnyTool | ThisTool | NoTool | None = None
    thinking: Thinking | None = None
    output_config: OutputConfig | None = None
    output_format: OutputSchema | None = None
    """As `output_config.format` was called before."""
    stream: bool | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop_sequences: list[str] | None = None

    @property
    def options(self) -> dict[str, Any]:
        given = {"temperature": self.temperature, "top_p": self.top_p, "top_k": self.top_k}
        options = {name: value for name, value in given.items() if value is not None}
        return {**options, "stop": self.stop_sequences} if self.stop_sequences else options

    @property
    def think(self) -> Think | None:
        kind = self.thinking.type if self.thinking else None
        effort = self.output_config.effort if self.output_config else None
        if kind == "disabled":
            return False
        if kind in ("enabled", "adaptive") and effort:
            return _EFFORTS[effort]
        return True if kind == "enabled" else None


def _message(body: MessagesRequest, extra: Extra) -> Wish:  # noqa: ARG001
    """What else is in it is for Anthropic's own server, and goes nowhere."""
    left_out = LeftOut()
    tools = _tools(body, left_out)
    choice, parallel = _chosen(body, tools, left_out)
    system = system_of(body.system)
    held = (body.output_config.format if body.output_config else None) or body.output_format
    request = ChatRequest(
        model="",
        messages=(*([Message(role="system", content=system)] if system else ()), *messages_of(body.messages, left_out)),
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=parallel,
        schema=held.schema if held else None,
        think=body.think,
        max_tokens=None if body.max_tokens is None else max(1, body.max_tokens),
        options=body.options,
        whole_prompt=True,
    )
    hides = body.thinking is not None and body.thinking.display == "omitted"
    return Wish(
        model=body.model or "",
        request=request,
        stream=bool(body.stream),
        writer=partial(MessageWriter, shows_thinking=not hides, stops=body.stop_sequences or ()),
        notices=left_out.notices,
        may_not_think=True,
    )


def _tools(body: MessagesRequest, left_out: LeftOut) -> tuple[Tool, ...]:
    own = []
    for tool in body.tools or ():
        if tool.is_own(*_OWN_TOOLS):
            own.append(tool.definition(tool.input_schema))
        else:
            left_out.tool(tool.name or "", tool.type)
    return read_tools(own) if own else ()


def _chosen(body: MessagesRequest, tools: Sequence[Tool], left_out: LeftOut) -> tuple[str | None, bool | None]:
    """Which tool must be called, and whether several may be."""
    choice = body.tool_choice
    if choice is None or isinstance(choice, NoTool):
        return None if choice is None else "none", None
    parallel = False if choice.disable_parallel_tool_use else None
    if isinstance(choice, ChosenByModel):
        return "auto", parallel
    wanted = choice.name if isinstance(choice, ThisTool) else "required"
    is_there = bool(tools) if isinstance(choice, AnyTool) else any(tool.name == wanted for tool in tools)
    if not is_there and len(tools) < len(body.tools or ()):
        left_out.choice(wanted)
        return "auto", parallel
    return wanted, parallel


class MessageWriter:
    def __init__(self, model: str, *, shows_thinking: bool = True, stops: Sequence[str] = ()) -> None:
        self._about: dict[str, Any] = {
            "id": f"msg_{token_hex(12)}",
            "type": "message",
            "role": "assistant",
            "model": model,
        }
        self._shows_thinking = shows_thinking
        self._usage = Usage()
        self._stops = stops
        self._ended: dict[str, Any] = {"stop_reason": "end_turn", "stop_sequence": None}
        self._has_begun = False
        self._has_called = False
        self._open: type[Event] | None = None
        """What the block that was begun and hasn't ended is made of."""
        self._index = -1
        # Written once for each block, so that of each piece but its text has to be encoded.
        self._head = b""

    def feed(self, event: Event) -> bytes:
        kind = type(event)
        if kind is self._open:
            return self._head + _encode(event.text) + b"}}\n\n"  # type: ignore[union-attr]
        if isinstance(event, AssistantDelta):
            return self._delta(event, {"type": "text", "text": ""}, "text")
        if isinstance(event, ThinkingDelta):
            return self._delta(event, {"type": "thinking", "thinking": "", "signature": ""}, "thinking")
        if isinstance(event, ToolCallEvent):
            self._has_called = True
            call = _call(event.call)
            delta = {"type": "input_json_delta", "partial_json": _encode(call["input"]).decode()}
            started = self._start({**call, "input": {}})
            told = _event({"type": "content_block_delta", "index": self._index, "delta": delta})
            return started + told + self._stop()
        self._note(event)
        return b""

    def _delta(self, event: AssistantDelta | ThinkingDelta, block: dict[str, str], name: str) -> bytes:
        if not event.text or (name == "thinking" and not self._shows_thinking):
            return b""
        started = self._start(block)
        self._open = type(event)
        head = _event({"type": "content_block_delta", "index": self._index, "delta": {"type": f"{name}_delta"}})
        self._head = head[: -len(b"}}\n\n")] + b',"%s":' % name.encode()
        return started + self._head + _encode(event.text) + b"}}\n\n"

    def _begin(self) -> bytes:
        if self._has_begun:
            return b""
        self._has_begun = True
        start = {**self._about, "content": [], "stop_reason": None, "stop_sequence": None, "usage": _usage(Usage())}
        return _event({"type": "message_start", "message": start}) + _PING

    def _start(self, block: dict[str, Any]) -> bytes:
        before = self._begin() + self._close()
        self._index += 1
        return before + _event({"type": "content_block_start", "index": self._index, "content_block": block})

    def _stop(self) -> bytes:
        return _event({"type": "content_block_stop", "index": self._index})

    def _close(self) -> bytes:
        was, self._open = self._open, None
        if was is None:
            return b""
        signature = b""
        if was is ThinkingDelta:
            delta = {"type": "signature_delta", "signature": _SIGNATURE}
            signature = _event({"type": "content_block_delta", "index": self._index, "delta": delta})
        return signature + self._stop()

    def _note(self, event: Event) -> None:
        if isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, Done):
            stop = event.stop if event.stop in self._stops and not self._has_called else None
            ended = "tool_use" if self._has_called else "end_turn" if stop is None else "stop_sequence"
            reason = "max_tokens" if event.reason == "length" else ended
            self._ended = {"stop_reason": reason, "stop_sequence": stop}

    def end(self, explanation: Explanation | None) -> bytes:
        usage = _usage(self._usage)
        last = {"type": "message_delta", "delta": self._ended, "usage": usage, **_explained(explanation)}
        return self._begin() + self._close() + _event(last) + _event({"type": "message_stop"})

    def alive(self) -> bytes:
        return self._begin() or _PING

    def fail(self, failure: Failure) -> bytes:
        return _event(_error(failure))

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        self._has_called = bool(said.calls)
        for event in last_events(said):
            self._note(event)
        content: list[dict[str, Any]] = []
        if said.thinking and self._shows_thinking:
            content.append({"type": "thinking", "thinking": said.thinking, "signature": _SIGNATURE})
        if said.text:
            content.append({"type": "text", "text": said.text})
        content += [_call(call) for call in said.calls]
        ended = {**self._ended, "usage": _usage(self._usage)}
        return {**self._about, "content": content, **ended, **_explained(explanation)}


def _event(content: dict[str, Any]) -> bytes:
    return b"event: %s\ndata: %s\n\n" % (content["type"].encode(), _encode(content))


_PING = _event({"type": "ping"})


def _call(call: ToolCall) -> dict[str, Any]:
    """Its clients take an object alone."""
    arguments = {"arguments": call.arguments} if isinstance(call.arguments, str) else call.arguments
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": arguments}


def _usage(used: Usage) -> dict[str, int]:
    """What was in a cache counts by itself here."""
    cached = used.cached_tokens or 0
    counted = {"input_tokens": max(0, (used.prompt_tokens or 0) - cached), "output_tokens": used.completion_tokens or 0}
    return {**counted, "cache_creation_input_tokens": 0, "cache_read_input_tokens": cached}


def _explained(explanation: Explanation | None) -> dict[str, Any]:
    return {"callgate": explanation} if explanation is not None else {}


def _counted(tokens: int, is_estimate: bool) -> object:
    return {"input_tokens": tokens, **({"callgate": {"estimate": True}} if is_estimate else {})}


def _model(model: ServedModel) -> dict[str, Any]:
    known = model.stocked.capabilities or Capabilities(name=model.id)
    return {
        "type": "model",
        "id": model.id,
        "display_name": model.id,
        "created_at": datetime.fromtimestamp(model.stocked.found.modified or 0, UTC).isoformat().replace("+00:00", "Z"),
        "lifecycle": "active",
        "max_input_tokens": known.loaded_context or known.context_length,
    }


def _models(models: Sequence[ServedModel]) -> object:
    listed = [_model(model) for model in models]
    first, last = (listed[0]["id"], listed[-1]["id"]) if listed else (None, None)
    return {"data": listed, "has_more": False, "first_id": first, "last_id": last}


_KINDS = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}


def _error(failure: Failure) -> dict[str, Any]:
    kind = _KINDS.get(failure.status, "api_error" if failure.status >= 500 else "invalid_request_error")
    error = {"type": kind, "message": _too_long(failure) if failure.kind == OVERLONG else failure.said}
    return {"type": "error", "error": error, "request_id": f"req_{token_hex(12)}"}


def _too_long(failure: Failure) -> str:
    """In the very words that agents look for."""
    if failure.needed is None or failure.room is None:
        return f"prompt is too long: {failure.said}"
    return f"prompt is too long: {failure.needed} tokens > {failure.room} maximum ({failure.said})"


_EVENTS = "text/event-stream"

ANTHROPIC = Dialect(
    name="anthropic",
    root="/v1/messages",
    routes=(
        Route("POST", "/v1/messages", Talk(MessagesRequest, _message, _EVENTS)),
        Route("POST", "/v1/messages/count_tokens", CountTokens(MessagesRequest, _message, _counted)),
    ),
    error=_error,
    sign="anthropic-version",
    signed=(Route("GET", "/v1/models", ListModels(_models)), Route("GET", "/v1/models/*", ShowModel(_model))),
)
