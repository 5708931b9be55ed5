"""Answers to nobody: what each action of a dialect would send, to show it and to learn its shape.

Only what is the same for every model, tool and client has a shape. What is theirs is left empty here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import msgspec

from callgate.gateway.dialect import (
    CountTokens,
    DropAnswer,
    Embed,
    ListModels,
    ListRunning,
    Loaded,
    ServedModel,
    ShowModel,
    Talk,
    Wish,
)
from callgate.runtime import FoundModel, ModelReport, Said, StockedModel
from callgate.vocabulary import (
    Answer,
    AssistantDelta,
    CallgateError,
    Capabilities,
    Done,
    Event,
    Evidence,
    Facts,
    ModelRef,
    NotFound,
    ServerKind,
    Source,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)

_ASKED: dict[str, Any] = {
    "model": "tiny",
    "messages": [{"role": "user", "content": "What is 17 times 23?"}],
    "prompt": "What is 17 times 23?",
    "input": "What is 17 times 23?",
}
"""All that a request of any dialect must have."""
_TOLD_AGAIN: tuple[dict[str, Any], ...] = (
    {
        "tool_choice": {"type": "function", "name": "get_time"},
        "text": {"format": {"type": "json_schema", "schema": {}}},
    },
    {"tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": []}},
)
"""What some dialects tell of a request in its answer, in more than one form."""
_CALL = ToolCallEvent(ToolCall("call_1", "get_time", {}))
_USED = Usage(12, 5)
_ANSWERS: tuple[tuple[Event, ...], ...] = (
    (AssistantDelta("391"), _USED, Done("stop")),
    (ThinkingDelta("17 × 23 …"), AssistantDelta("391"), _USED, Done("stop")),
    (_CALL, _USED, Done("tool_calls")),
)
_DONE = {"mode": "native", "model": "tiny", "repairs": [], "notices": []}


def whole_answers(action: Talk) -> Iterator[object]:
    """The first is the one to show."""
    for wish in _wishes(action):
        if wish.at_once is not None:
            yield _plain(wish.at_once)
            continue
        for events in _ANSWERS:
            for explanation in (None, _DONE):
                said = Said()
                for event in events:
                    said.hear(event)
                yield _plain(wish.writer("tiny").whole(said, explanation))


def streamed_answers(action: Talk) -> Iterator[list[bytes]]:
    """The pieces of each."""
    for wish in _wishes(action):
        if wish.at_once is not None:
            continue
        for events in _ANSWERS:
            for explanation in (None, _DONE):
                writer = wish.writer("tiny")
                yield [piece for piece in (*map(writer.feed, events), writer.end(explanation)) if piece]


def other_answers(
    action: CountTokens | DropAnswer | Embed | ListModels | ShowModel | ListRunning,
) -> Iterator[object]:
    match action:
        case CountTokens():
            yield from (_plain(action.write(12, is_estimate)) for is_estimate in (False, True))
        case DropAnswer():
            yield _plain(action.write("resp_1"))
        case Embed():
            vectors = [[0.25, -0.5]]
            for packed in ("float", "base64"):
                body: Any = msgspec.convert({**_ASKED, "encoding_format": packed}, action.body)
                yield _plain(action.read(body, {}).write(vectors, 5))
        case ListModels():
            yield _plain(action.write(_MODELS))
        case ShowModel():
            yield from (_plain(action.write(model)) for model in _MODELS)
        case ListRunning():
            yield _plain(action.write({"tiny": Loaded(7_000_000, 4_096)}, []))
            yield _plain(action.write({}, [{}]))


def _wishes(action: Talk) -> Iterator[Wish]:
    for usage in (False, True):
        asked = {**_ASKED, "stream_options": {"include_usage": usage}}
        yield action.read(msgspec.convert(asked, action.body), {})
    for asked in ({"model": "tiny"}, *({**_ASKED, **more} for more in _TOLD_AGAIN)):
        with suppress(msgspec.ValidationError, CallgateError):
            yield action.read(msgspec.convert(asked, action.body), {})


def _plain(answer: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(answer))


def _evidence() -> Iterator[Evidence]:
    for claim, answer in (("tools", Answer.YES), ("context_length", 4096), ("family", "llama")):
        yield Evidence(claim, answer, Source.TEMPLATE, "why we think so", 0.5)


def _model(name: str, known: Capabilities | None, facts: Facts | None, error: CallgateError | None) -> ServedModel:
    found = FoundModel(ref=ModelRef("tiny", name), name=name, backend="llamacpp", place="")
    report = ModelReport(
        target=name, model=name, capabilities=known, served=facts is not None, elapsed_ms=0.5, error=error
    )
    return ServedModel(id=name, stocked=StockedModel(found, report), mode="native", facts=facts)


_YES = {field.name: True for field in msgspec.structs.fields(Capabilities) if field.type == (bool | None)}
_KNOWN = msgspec.structs.replace(
    Capabilities(name="tiny", tools=Answer.YES, evidence=tuple(_evidence()), cached_at=0.5),
    **{**_YES, "is_embedding": False},
    thinking_switch="enable_thinking",
    context_length=4096,
    loaded_context=4096,
    parameter_count=1_000_000,
    parameter_size="1M",
    quantization="Q8_0",
    family="llama",
    architecture="llama",
    reliability="good",
)
_MODELS = (
    _model("tiny", _KNOWN, Facts(name="tiny", templates={"default": "{{ messages }}"}), None),
    _model("another", Capabilities(name="another"), None, None),
    _model("elsewhere", _KNOWN, Facts(name="elsewhere", server=ServerKind.OLLAMA, answer={"details": {}}), None),
    _model("lost", None, None, NotFound("it isn't there", hint="look elsewhere")),
)
