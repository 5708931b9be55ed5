"""Ollama's dialect: what its own clients ask, the `ollama` command among them."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from callgate.gateway.dialect import (
    Dialect,
    Embed,
    EmbedWish,
    Explanation,
    Extra,
    Failure,
    ListModels,
    ListRunning,
    PassOn,
    Route,
    Say,
    ShowModel,
    Talk,
    Wish,
    last_events,
)
from callgate.gateway.given.choices import ToolChoice, offered
from callgate.gateway.given.messages import GivenMessage, Picture, messages_of
from callgate.gateway.given.texts import Texts
from callgate.gateway.given.tools import GivenTool
from callgate.gateway.given.unmet import No, NoText, Zero, refuse_logprobs
from callgate.gateway.writing.ollama_models import details_of, listed, moment, running
from callgate.gateway.writing.vectors import shortened
from callgate.runtime import Said
from callgate.vocabulary import (
    AssistantDelta,
    ChatRequest,
    Done,
    Event,
    Think,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
    UsageError,
)

VERSION = "0.32.15"
"""Of the Ollama whose dialect this is: clients ask for it to know what they may send."""
_NO_TIME = re.compile(r"(?:0+(?:\.0*)?(?:ns|us|µs|μs|ms|s|m|h))+|0+(?:\.0*)?", re.ASCII)
"""Zero, as a number or as Go writes spans of time."""
_encode = msgspec.json.encode


class _Asked(msgspec.Struct, frozen=True, kw_only=True):
    model: str = ""
    stream: bool | None = None
    format: Literal["", "json"] | dict[str, Any] | None = None
    options: dict[str, Any] | None = None
    think: Think | None = None
    keep_alive: str | float | None = None
    logprobs: No | None = None
    top_logprobs: Zero | None = None

    def all_options(self) -> dict[str, Any]:
        refuse_logprobs(self.logprobs, self.top_logprobs)
        options = {name: value for name, value in (self.options or {}).items() if name != "num_predict"}
        return options if self.keep_alive is None else {**options, "keep_alive": self.keep_alive}

    @property
    def max_tokens(self) -> int | None:
        """Less than none is as many as it likes."""
        wanted = (self.options or {}).get("num_predict")
        return wanted if type(wanted) is int and wanted > 0 else None


class ChatBody(_Asked, frozen=True, kw_only=True):
    messages: list[GivenMessage] | None = None
    tools: list[GivenTool] | None = None
    tool_choice: ToolChoice | None = None
    parallel_tool_calls: bool | None = None


class GenerateBody(_Asked, frozen=True, kw_only=True):
    prompt: str | None = None
    system: str | None = None
    images: list[Picture] | None = None
    suffix: NoText | None = None
    raw: No | None = None
    template: NoText | None = None
    context: list[int] | None = None


class EmbedBody(msgspec.Struct, frozen=True, kw_only=True):
    input: Texts
    model: str = ""
    dimensions: Annotated[int, Meta(ge=0)] | None = None


class EmbeddingsBody(msgspec.Struct, frozen=True, kw_only=True):
    prompt: str
    model: str = ""


class ShowBody(msgspec.Struct, frozen=True, kw_only=True):
    model: str | None = None
    name: str | None = None
    """As it was called once."""


def _chat(body: ChatBody, extra: Extra) -> Wish:
    offer = offered(body.tools, body.tool_choice)
    request = ChatRequest(
        model="",
        messages=messages_of(body.messages or []),
        tools=offer.tools,
        tool_choice=offer.choice,
        parallel_tool_calls=body.parallel_tool_calls,
        schema=_schema(body.format),
        think=body.think,
        max_tokens=body.max_tokens,
        options=body.all_options(),
        extra=extra,
        stream=body.stream is not False,
    )
    empty = {"message": {"role": "assistant", "content": ""}}
    return Wish(
        model=body.model,
        request=request,
        writer=partial(ChatWriter, started=time.monotonic_ns()),
        at_once=None if body.messages else _only_loaded(body, empty),
        is_unload=is_no_time(body.keep_alive),
        notices=offer.notices,
    )


def _generate(body: GenerateBody, extra: Extra) -> Wish:
    if body.raw or body.template or body.suffix:
        raise UsageError("'raw', 'template' and 'suffix' aren't to be had here", hint="leave them out")
    said = [GivenMessage(role="system", content=body.system)] if body.system else []
    said.append(GivenMessage(role="user", content=body.prompt, images=body.images))
    request = ChatRequest(
        model="",
        messages=messages_of(said),
        schema=_schema(body.format),
        think=body.think,
        max_tokens=body.max_tokens,
        options=body.all_options(),
        extra=extra,
        stream=body.stream is not False,
    )
    return Wish(
        model=body.model,
        request=request,
        writer=partial(GenerateWriter, started=time.monotonic_ns()),
        at_once=None if body.prompt or body.images else _only_loaded(body, {"response": ""}),
        is_unload=is_no_time(body.keep_alive),
    )


def _only_loaded(body: _Asked, empty: Mapping[str, Any]) -> object:
    """Whoever says nothing wants a model to be loaded, or gone: what is said once it is."""
    done = {"done": True, "done_reason": "unload" if is_no_time(body.keep_alive) else "load"}
    return {"model": body.model, "created_at": _now(), **empty, **done}


def is_no_time(span: str | float | None) -> bool:
    return span is not None and _NO_TIME.fullmatch(str(span)) is not None


def _schema(wanted: str | dict[str, Any] | None) -> dict[str, Any] | None:
    if isinstance(wanted, str):
        return {"type": "object"} if wanted else None
    return wanted or None


class _Writer:
    def __init__(self, model: str, *, started: int) -> None:
        self._model = model
        self._name = b'{"model":' + _encode(model) + b',"created_at":"'
        self._usage = Usage()
        self._reason = "stop"
        self._calls = 0
        self._started = started
        self._first: int | None = None

    def _line(self, inner: bytes) -> bytes:
        if self._first is None:
            self._first = time.monotonic_ns()
        return self._name + _now().encode() + b'",' + inner + b',"done":false}\n'

    def note(self, event: Event) -> bytes:
        if isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, Done):
            self._reason = "length" if event.reason == "length" else "stop"
        return b""

    def last(self, inner: Mapping[str, Any], explanation: Explanation | None) -> dict[str, Any]:
        now = time.monotonic_ns()
        # Nobody knows when one that came whole was begun: clients divide by the time that it took to say it.
        first = self._first or self._started
        done = {
            "model": self._model,
            "created_at": _now(),
            **inner,
            "done": True,
            "done_reason": self._reason,
            "total_duration": now - self._started,
            "load_duration": 0,
            "prompt_eval_count": self._usage.prompt_tokens or 0,
            "prompt_eval_duration": first - self._started,
            "eval_count": self._usage.completion_tokens or 0,
            "eval_duration": max(now - first, 1),
        }
        return done if explanation is None else {**done, "callgate": explanation}

    def alive(self) -> bytes:
        """Each line is a piece of the answer."""
        return b""

    def fail(self, failure: Failure) -> bytes:
        return _encode(_error(failure)) + b"\n"

    def hear_out(self, said: Said) -> None:
        for event in last_events(said):
            self.note(event)


class ChatWriter(_Writer):
    def feed(self, event: Event) -> bytes:
        if isinstance(event, AssistantDelta):
            return self._line(b'"message":{"role":"assistant","content":' + _encode(event.text) + b"}")
        if isinstance(event, ThinkingDelta):
            said = _encode(event.text)
            return self._line(b'"message":{"role":"assistant","content":"","thinking":' + said + b"}")
        if isinstance(event, ToolCallEvent):
            call = _encode(_call(event.call, self._calls))
            self._calls += 1
            return self._line(b'"message":{"role":"assistant","content":"","tool_calls":[' + call + b"]}")
        return self.note(event)

    def end(self, explanation: Explanation | None) -> bytes:
        return _encode(self.last({"message": {"role": "assistant", "content": ""}}, explanation)) + b"\n"

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        self.hear_out(said)
        message: dict[str, Any] = {"role": "assistant", "content": said.text}
        if said.thinking:
            message["thinking"] = said.thinking
        if said.calls:
            message["tool_calls"] = [_call(call, number) for number, call in enumerate(said.calls)]
        return self.last({"message": message}, explanation)


class GenerateWriter(_Writer):
    def feed(self, event: Event) -> bytes:
        if isinstance(event, AssistantDelta):
            return self._line(b'"response":' + _encode(event.text))
        if isinstance(event, ThinkingDelta):
            return self._line(b'"response":"","thinking":' + _encode(event.text))
        return self.note(event)

    def end(self, explanation: Explanation | None) -> bytes:
        return _encode(self.last({"response": ""}, explanation)) + b"\n"

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        self.hear_out(said)
        thinking = {"thinking": said.thinking} if said.thinking else {}
        return self.last({"response": said.text, **thinking}, explanation)


def _now() -> str:
    return moment(time.time())


def _call(call: ToolCall, number: int) -> dict[str, Any]:
    """Ollama's clients take an object alone."""
    arguments = {"arguments": call.arguments} if isinstance(call.arguments, str) else call.arguments
    return {"id": call.id, "function": {"index": number, "name": call.name, "arguments": arguments}}


def _embed(body: EmbedBody, extra: Extra) -> EmbedWish:  # noqa: ARG001
    texts = (body.input,) if isinstance(body.input, str) else tuple(body.input)
    started = time.monotonic_ns()

    def write(vectors: Sequence[Sequence[float]], tokens: int | None) -> object:
        short = [shortened(vector, body.dimensions or None) for vector in vectors]
        took = {"total_duration": time.monotonic_ns() - started, "load_duration": 0, "prompt_eval_count": tokens or 0}
        return {"model": body.model, "embeddings": short, **took}

    return EmbedWish(model=body.model, texts=texts, write=write)


def _embedding(body: EmbeddingsBody, extra: Extra) -> EmbedWish:  # noqa: ARG001
    return EmbedWish(model=body.model, texts=(body.prompt,), write=lambda vectors, _: {"embedding": vectors[0]})


def _error(failure: Failure) -> dict[str, Any]:
    return {"error": failure.said}


_LINES = "application/x-ndjson"
_DIGEST = "sha256[:-][0-9a-fA-F]+"

OLLAMA = Dialect(
    name="ollama",
    root="/api",
    routes=(
        Route("POST", "/api/chat", Talk(ChatBody, _chat, _LINES)),
        Route("POST", "/api/generate", Talk(GenerateBody, _generate, _LINES)),
        Route("POST", "/api/embed", Embed(EmbedBody, _embed)),
        Route("POST", "/api/embeddings", Embed(EmbeddingsBody, _embedding)),
        Route("GET", "/api/tags", ListModels(lambda models: {"models": [listed(model) for model in models]})),
        Route("POST", "/api/show", ShowModel(details_of, ShowBody, lambda body: body.model or body.name or "")),
        Route("GET", "/api/ps", ListRunning(running)),
        Route("GET", "/api/version", Say(_encode({"version": VERSION}))),
        Route("HEAD", "/", Say(b"", "text/plain; charset=utf-8")),
        Route("GET", "/", Say(b"Ollama is running", "text/plain; charset=utf-8")),
        *(Route("POST", f"/api/{what}", PassOn()) for what in ("pull", "push", "create", "copy")),
        Route("DELETE", "/api/delete", PassOn()),
        *(Route(method, "/api/blobs/*", PassOn(), _DIGEST) for method in ("HEAD", "POST")),
    ),
    error=_error,
)
