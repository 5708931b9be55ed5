"""OpenAI's dialect: chat completions, completions, models, embeddings."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from callgate.gateway.dialect import (
    Dialect,
    Embed,
    EmbedWish,
    Extra,
    ListModels,
    Route,
    ServedModel,
    ShowModel,
    Talk,
    Wish,
)
from callgate.gateway.given.choices import FunctionChoice, ToolChoice, offered
from callgate.gateway.given.messages import GivenMessage, messages_of
from callgate.gateway.given.texts import TextsNoTokens, texts_of
from callgate.gateway.given.tools import FunctionDefinition, GivenTool
from callgate.gateway.given.unmet import No, NoText, One, OneText, Zero, refuse_logprobs
from callgate.gateway.writing.completions import ChatWriter, CompletionWriter
from callgate.gateway.writing.legacy_functions import FunctionWriter
from callgate.gateway.writing.openai_errors import openai_error
from callgate.gateway.writing.vectors import packed, shortened
from callgate.vocabulary import ChatRequest, Message, Think, UsageError

_OPTIONS = ("temperature", "top_p", "seed", "stop", "presence_penalty", "frequency_penalty")
_NO_OPTIONS = (None,) * len(_OPTIONS)
_options_of = attrgetter(*_OPTIONS)
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
        given = _options_of(self)
        if given == _NO_OPTIONS:
            return {}
        return {name: value for name, value in zip(_OPTIONS, given, strict=True) if value is not None}

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
    writer = FunctionWriter if body.functions and not body.tools else ChatWriter
    offer = offered(body.tools, body.tool_choice, body.functions, body.function_call)
    request = ChatRequest(
        model="",
        messages=messages_of(body.messages),
        tools=offer.tools,
        tool_choice=offer.choice,
        parallel_tool_calls=body.parallel_tool_calls if writer is ChatWriter else False,
        schema=None if body.response_format is None else _schema(body.response_format),
        think=_think(body.reasoning_effort or (body.reasoning.effort if body.reasoning else None)),
        max_tokens=body.max_completion_tokens or body.max_tokens,
        options=body.options(),
        extra=extra,
        stream=bool(body.stream),
        whole_prompt=True,
    )
    return Wish(
        model=body.model or "",
        request=request,
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
        stream=bool(body.stream),
        whole_prompt=True,
    )
    return Wish(
        model=body.model or "",
        request=request,
        writer=lambda model: CompletionWriter(model, wants_usage=body.wants_usage),
    )


def _schema(wanted: PlainText | AnyObject | HeldToSchema) -> dict[str, Any] | None:
    match wanted:
        case AnyObject():
            return _ANY_OBJECT
        case HeldToSchema(NamedSchema(schema)):
            return schema
    return None


def _think(effort: Effort | None) -> Think | None:
    return None if effort is None else EFFORTS[effort]


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
