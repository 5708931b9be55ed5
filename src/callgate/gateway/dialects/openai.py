"""OpenAI's dialect: chat completions, completions, models, embeddings."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cached_property
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from callgate.gateway.dialect import (
    COMMENT,
    Dialect,
    Embed,
    EmbedWish,
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
from callgate.gateway.given.choices import FunctionChoice, ToolChoice, offered
from callgate.gateway.given.messages import GivenMessage, messages_of
from callgate.gateway.given.texts import TextsNoTokens, texts_of
from callgate.gateway.given.tools import FunctionDefinition, GivenTool
from callgate.gateway.given.unmet import No, NoText, One, OneText, Zero, refuse_logprobs
from callgate.gateway.ids import new_id
from callgate.gateway.openai_errors import openai_error
from callgate.gateway.vectors import packed, shortened
from callgate.runtime import Said
from callgate.vocabulary import (
    AssistantDelta,
    ChatRequest,
    Done,
    Event,
    Message,
    Think,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
    UsageError,
)

_OPTIONS = ("temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty")
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
EFFORTS: dict[Effort, Think] = {
    "none": False,
    "minimal": "low",
    "low": "low",
    "medium": "medium",
    "high": "high",
    "xhigh": "max",
    "max": "max",
}
_ANY_OBJECT = {"type": "object"}
_encode = msgspec.json.encode


class StreamOptions(msgspec.Struct, frozen=True):
    include_usage: bool | None = None


class NamedSchema(msgspec.Struct, frozen=True):
    schema: dict[str, Any]


class PlainText(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    pass


class AnyObject(msgspec.Struct, frozen=True, tag_field="type", tag="json_object"):
    pass


class HeldToSchema(msgspec.Struct, frozen=True, tag_field="type", tag="json_schema"):
    json_schema: NamedSchema


class Reasoning(msgspec.Struct, frozen=True):
    effort: Effort | None = None


class _Sampling(msgspec.Struct, frozen=True, kw_only=True):
    model: str | None = None
    stream: bool | None = None
    stream_options: StreamOptions | None = None
    n: One | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    stop: str | list[str] | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None

    def options(self) -> dict[str, Any]:
        if self.n not in (None, 1):
            raise UsageError("there is one answer to a request: 'n' can't be more than 1")
        return {name: value for name in _OPTIONS if (value := getattr(self, name)) is not None}

    @property
    def wants_usage(self) -> bool:
        return bool(self.stream_options and self.stream_options.include_usage)


class ChatCompletionRequest(_Sampling, frozen=True, kw_only=True):
    messages: Annotated[list[GivenMessage], Meta(extra_json_schema={"minItems": 1})]
    tools: list[GivenTool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None
    response_format: PlainText | AnyObject | HeldToSchema | None = None
    max_completion_tokens: int | None = None
    reasoning_effort: Effort | None = None
    reasoning: Reasoning | None = None
    functions: list[FunctionDefinition] | None = None
    function_call: FunctionChoice | None = None
    logprobs: No | None = None
    top_logprobs: Zero | None = None


class CompletionRequest(_Sampling, frozen=True, kw_only=True):
    prompt: str | OneText
    suffix: NoText | None = None
    echo: No | None = None
    best_of: One | None = None
    logprobs: Zero | None = None


class EmbeddingRequest(msgspec.Struct, frozen=True, kw_only=True):
    input: TextsNoTokens
    model: str | None = None
    encoding_format: Literal["float", "base64"] | None = None
    dimensions: Annotated[int, Meta(ge=1)] | None = None


def _chat(body: ChatCompletionRequest, extra: Extra) -> Wish:
    if not body.messages:
        raise UsageError("there is no message to answer", hint='write {"messages": [{"role": "user", "content": "…"}]}')
    refuse_logprobs(body.logprobs, body.top_logprobs)
    writer = ChatWriter
    if body.functions and not body.tools:
        from callgate.gateway.legacy_functions import FunctionWriter

        writer = FunctionWriter
    offer = offered(body.tools, body.tool_choice, body.functions, body.function_call)
    request = ChatRequest(
        model="",
        messages=messages_of(body.messages),
        tools=offer.tools,
        tool_choice=offer.choice,
        parallel_tool_calls=body.parallel_tool_calls if writer is ChatWriter else False,
        schema=_schema(body.response_format),
        think=_think(body.reasoning_effort or (body.reasoning.effort if body.reasoning else None)),
        max_tokens=body.max_completion_tokens or body.max_tokens,
        options=body.options(),
        extra=extra,
        whole_prompt=True,
    )
    return Wish(
        model=body.model or "",
        request=request,
        stream=bool(body.stream),
        writer=lambda model: writer(model, wants_usage=body.wants_usage),
        notices=offer.notices,
    )


def _completion(body: CompletionRequest, extra: Extra) -> Wish:
    """The prompt is what a user says: models here are made for talks."""
    prompts = [body.prompt] if isinstance(body.prompt, str) else body.prompt
    if len(prompts) != 1:
        raise UsageError("there is one answer to a request: send one prompt", hint="send each in a request of its own")
    if body.suffix or body.echo or body.logprobs or body.best_of not in (None, 1):
        raise UsageError("'suffix', 'echo', 'logprobs' and 'best_of' aren't to be had here", hint="leave them out")
    request = ChatRequest(
        model="",
        messages=(Message(role="user", content=prompts[0]),),
        max_tokens=body.max_tokens,
        options=body.options(),
        extra=extra,
        whole_prompt=True,
    )
    return Wish(
        model=body.model or "",
        request=request,
        stream=bool(body.stream),
        writer=lambda model: CompletionWriter(model, wants_usage=body.wants_usage),
    )


def _schema(wanted: PlainText | AnyObject | HeldToSchema | None) -> dict[str, Any] | None:
    match wanted:
        case AnyObject():
            return _ANY_OBJECT
        case HeldToSchema(NamedSchema(schema)):
            return schema
    return None


def _think(effort: Effort | None) -> Think | None:
    return None if effort is None else EFFORTS[effort]


class _Writer:
    """What both kinds of completions have in common."""

    kind = ""
    id_starts = ""

    def __init__(self, model: str, *, wants_usage: bool) -> None:
        self._about: dict[str, Any] = {
            "id": f"{self.id_starts}-{new_id()}",
            "object": self.kind,
            "created": int(time.time()),
            "model": model,
        }
        if wants_usage:
            self._about["usage"] = None
        self._wants_usage = wants_usage
        self._usage = Usage()
        self._reason = "stop"
        self._calls = 0

    def note(self, event: Event) -> None:
        """Of what is told at the end."""
        if isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, Done):
            self._reason = "tool_calls" if self._calls and event.reason != "length" else _finish(event.reason)

    def ending(self, last: dict[str, Any], explanation: Explanation | None) -> bytes:
        finish = {**self._about, "choices": [last], **_explained(explanation)}
        usage = {**self._about, "choices": [], "usage": _usage(self._usage)}
        return b"".join((_line(finish), _line(usage) if self._wants_usage else b"", b"data: [DONE]\n\n"))

    def alive(self) -> bytes:
        return COMMENT

    def fail(self, failure: Failure) -> bytes:
        return _line(openai_error(failure))

    def all_of(self, choice: dict[str, Any], explanation: Explanation | None) -> object:
        return {**self._about, "choices": [choice], "usage": _usage(self._usage), **_explained(explanation)}


class ChatWriter(_Writer):
    kind = "chat.completion.chunk"
    id_starts = "chatcmpl"

    def __init__(self, model: str, *, wants_usage: bool) -> None:
        super().__init__(model, wants_usage=wants_usage)
        self._role = b'"role":"assistant",'

    @cached_property
    def _head(self) -> bytes:
        """Written once, so that of each piece but its text has to be encoded."""
        return b"data: " + _encode(self._about)[:-1] + b',"choices":[{"index":0,"delta":{'

    def feed(self, event: Event) -> bytes:
        kind = type(event)
        if kind is AssistantDelta:
            piece = b'"content":' + _encode(event.text)  # type: ignore[union-attr]
        elif kind is ThinkingDelta:
            piece = b'"reasoning_content":' + _encode(event.text)  # type: ignore[union-attr]
        elif isinstance(event, ToolCallEvent):
            piece = self.call_piece(event.call)
            self._calls += 1
            if not piece:
                return b""
        else:
            self.note(event)
            return b""
        role, self._role = self._role, b""
        return self._head + role + piece + b'},"finish_reason":null}]}\n\n'

    def call_piece(self, call: ToolCall) -> bytes:
        """Of a delta; nothing, if there is no place for it."""
        return b'"tool_calls":[' + _encode({"index": self._calls, **_call(call)}) + b"]"

    def end(self, explanation: Explanation | None) -> bytes:
        delta = {"role": "assistant", "content": ""} if self._role else {}
        return self.ending({"index": 0, "delta": delta, "finish_reason": self._reason}, explanation)

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        self._calls = len(said.calls)
        for event in last_events(said):
            self.note(event)
        text = said.text or (None if said.calls else "")
        message: dict[str, Any] = {"role": "assistant", "content": text, "refusal": None}
        if said.thinking:
            message["reasoning_content"] = said.thinking
        if said.calls:
            message["tool_calls"] = [_call(call) for call in said.calls]
        self._about["object"] = "chat.completion"
        choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": self._reason}
        return self.all_of(choice, explanation)


class CompletionWriter(_Writer):
    kind = "text_completion"
    id_starts = "cmpl"

    def feed(self, event: Event) -> bytes:
        if isinstance(event, AssistantDelta):
            return _line({**self._about, "choices": [_text_choice(event.text, None)]})
        self.note(event)
        return b""

    def end(self, explanation: Explanation | None) -> bytes:
        return self.ending(_text_choice("", self._reason), explanation)

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        for event in last_events(said):
            self.note(event)
        return self.all_of(_text_choice(said.text, self._reason), explanation)


def _text_choice(text: str, reason: str | None) -> dict[str, Any]:
    return {"index": 0, "text": text, "logprobs": None, "finish_reason": reason}


def _line(content: object) -> bytes:
    return b"data: " + _encode(content) + b"\n\n"


def _finish(reason: str) -> str:
    return "length" if reason == "length" else "tool_calls" if reason == "tool_calls" else "stop"


def _call(call: ToolCall) -> dict[str, Any]:
    arguments = call.arguments if isinstance(call.arguments, str) else _encode(call.arguments).decode()
    return {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _usage(used: Usage) -> dict[str, Any]:
    prompt, completion = used.prompt_tokens or 0, used.completion_tokens or 0
    counted = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    cached = used.cached_tokens
    return counted if cached is None else {**counted, "prompt_tokens_details": {"cached_tokens": cached}}


def _explained(explanation: Explanation | None) -> dict[str, Any]:
    return {"callgate": explanation} if explanation is not None else {}


def _embed(body: EmbeddingRequest, extra: Extra) -> EmbedWish:  # noqa: ARG001
    texts = texts_of(body.input)

    def written(vector: Sequence[float]) -> object:
        short = shortened(vector, body.dimensions)
        return packed(short) if body.encoding_format == "base64" else short

    def write(vectors: Sequence[Sequence[float]], tokens: int | None) -> object:
        entries = [
            {"object": "embedding", "index": number, "embedding": written(vector)}
            for number, vector in enumerate(vectors)
        ]
        usage = {"prompt_tokens": tokens or 0, "total_tokens": tokens or 0}
        return {"object": "list", "data": entries, "model": body.model or "", "usage": usage}

    return EmbedWish(model=body.model or "", texts=texts, write=write)


def _model(model: ServedModel) -> dict[str, Any]:
    created = model.stocked.found.modified or 0
    owner = model.stocked.found.backend
    return {
        "id": model.id,
        "object": "model",
        "created": int(created),
        "owned_by": owner,
        "callgate": model.as_json(),
    }


def _models(models: Sequence[ServedModel]) -> object:
    return {"object": "list", "data": [_model(model) for model in models]}


_EVENTS = "text/event-stream"

OPENAI = Dialect(
    name="openai",
    root="/v1",
    routes=(
        Route("POST", "/v1/chat/completions", Talk(ChatCompletionRequest, _chat, _EVENTS)),
        Route("POST", "/v1/completions", Talk(CompletionRequest, _completion, _EVENTS)),
        Route("POST", "/v1/embeddings", Embed(EmbeddingRequest, _embed)),
        Route("GET", "/v1/models", ListModels(_models)),
        Route("GET", "/v1/models/*", ShowModel(_model)),
    ),
    error=openai_error,
)
