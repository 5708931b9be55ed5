"""Answers as OpenAI's Responses has them: items, each told of when it begins, grows and ends, in numbered events."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import count
from secrets import token_hex
from typing import Any, NamedTuple

import msgspec

from callgate.gateway.dialect import COMMENT, OVERLONG, Explanation, Failure, last_events
from callgate.gateway.given.items import FREE, Way
from callgate.gateway.writing.openai_errors import TOO_LONG
from callgate.runtime import Said
from callgate.vocabulary import (
    AssistantDelta,
    Done,
    Event,
    Message,
    ThinkingDelta,
    ToolCall,
    ToolCallEvent,
    Usage,
)

_encode = msgspec.json.encode
_MOST_TAILS = 4_096
Item = dict[str, Any]


class Asked(NamedTuple):
    """What an answer tells of its request."""

    echo: Mapping[str, Any]
    said: tuple[Message, ...]
    """The conversation, without instructions."""
    ways: Mapping[str, Way]
    stores: bool


class Stored(msgspec.Struct, frozen=True):
    """What is kept of an answer."""

    messages: tuple[Message, ...]
    """All that was said up to it, itself included."""
    response: msgspec.Raw


def answer_of(item: str) -> str:
    """The id of the answer that has an item of this id."""
    return f"resp_{item.partition('_')[2].rpartition('_')[0]}"


class _Tails:
    """How pieces of a kind end, by their number: written once for all answers, up to a number that few reach."""

    def __init__(self, more: bytes) -> None:
        """`more` is what else each piece has."""
        self._form = more + b',"sequence_number":%d}\n\n'
        self.written: list[bytes] = []

    def of(self, number: int) -> bytes:
        missing = range(len(self.written), min(number + 1, _MOST_TAILS))
        self.written.extend(self._form % each for each in missing)
        return self._form % number


class _Kind(NamedTuple):
    """Items that come in pieces: `part` is how theirs are called, `delta` the pieces of these."""

    starts: str
    part: str
    delta: str
    at: str
    tails: _Tails


_KINDS: dict[type[Event], _Kind] = {
    AssistantDelta: _Kind("msg", "content_part", "output_text", "content_index", _Tails(b',"logprobs":[]')),
    ThinkingDelta: _Kind("rs", "reasoning_summary_part", "reasoning_summary_text", "summary_index", _Tails(b"")),
}


class ResponseWriter:
    def __init__(self, model: str, *, asked: Asked) -> None:
        self._token = token_hex(24)
        self._id = f"resp_{self._token}"
        self._about = {"id": self._id, "object": "response", "created_at": int(time.time()), "model": model}
        self._asked = asked
        self._usage: Usage | None = None
        self._reason = "stop"
        self._numbers = count()
        """Of the events."""
        self._has_begun = False
        self._output: list[Item] = []
        self._said = Said()
        self._final: dict[str, Any] | None = None
        self._open: type[Event] | None = None
        """What the item that was begun and hasn't ended is made of."""
        self._texts: list[str] = []
        """Its pieces."""
        self._hear = self._texts.append
        # Written once for each item, so that of each piece but its text has to be.
        self._head = b""
        self._tails = _KINDS[AssistantDelta].tails
        self._written = self._tails.written

    def feed(self, event: Event) -> bytes:
        if type(event) is self._open:
            text: str = event.text  # type: ignore[union-attr]
            self._hear(text)
            number = next(self._numbers)
            try:
                return self._head + _encode(text) + self._written[number]
            except IndexError:
                return self._head + _encode(text) + self._tails.of(number)
        if isinstance(event, AssistantDelta | ThinkingDelta):
            return self._begun(type(event)) + self.feed(event) if event.text else b""
        if isinstance(event, ToolCallEvent):
            return self._called(event.call)
        self._note(event)
        return b""

    def _event(self, kind: str, **fields: Any) -> bytes:
        content = _encode({"type": kind, **fields, "sequence_number": next(self._numbers)})
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), content)

    def _start(self) -> bytes:
        if self._has_begun:
            return b""
        self._has_begun = True
        response = self._response("in_progress")
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    def _begun(self, kind: type[Event]) -> bytes:
        before = self._start() + self._ended("completed")
        self._open = kind
        words = _KINDS[kind]
        item = self._item(kind, None, "in_progress")
        where = {"item_id": item["id"], "output_index": len(self._output), words.at: 0}
        told = self._event("response.output_item.added", output_index=len(self._output), item=item)
        told += self._event(f"response.{words.part}.added", **where, part=_part(kind, ""))
        name = f"response.{words.delta}.delta"
        self._head = b"event: %s\ndata: %s" % (name.encode(), _encode({"type": name, **where})[:-1] + b',"delta":')
        self._tails, self._written = words.tails, words.tails.written
        return before + told

    def _ended(self, status: str) -> bytes:
        kind, self._open = self._open, None
        if kind is None:
            return b""
        text = "".join(self._texts)
        self._texts.clear()
        words = _KINDS[kind]
        self._said.hear(kind(text))  # type: ignore[call-arg, arg-type]
        # Four events have all of it.
        written = msgspec.Raw(_encode(text))
        item = self._item(kind, written, status)
        where = {"item_id": item["id"], "output_index": len(self._output), words.at: 0}
        more: dict[str, Any] = {"logprobs": []} if kind is AssistantDelta else {}
        told = self._event(f"response.{words.delta}.done", **where, text=written, **more)
        told += self._event(f"response.{words.part}.done", **where, part=_part(kind, written))
        return told + self._done(item)

    def _called(self, call: ToolCall) -> bytes:
        before = self._start() + self._ended("completed")
        self._said.hear(ToolCallEvent(call))
        item = self._call(call)
        name = "input" if item["type"] == "custom_tool_call" else "arguments"
        event = "response.custom_tool_call_input" if name == "input" else "response.function_call_arguments"
        where = {"item_id": item["id"], "output_index": len(self._output)}
        begun = {**item, name: "", "status": "in_progress"}
        told = self._event("response.output_item.added", output_index=len(self._output), item=begun)
        told += self._event(f"{event}.delta", **where, delta=item[name])
        told += self._event(f"{event}.done", **where, **{name: item[name]}, name=item["name"])
        return before + told + self._done(item)

    def _done(self, item: Item) -> bytes:
        told = self._event("response.output_item.done", output_index=len(self._output), item=item)
        self._output.append(item)
        return told

    def _item(self, kind: type[Event], text: str | msgspec.Raw | None, status: str) -> Item:
        """By its id, an item's answer is known, too."""
        id_ = f"{_KINDS[kind].starts}_{self._token}_{len(self._output)}"
        parts = [] if text is None else [_part(kind, text)]
        if kind is ThinkingDelta:
            return {"id": id_, "type": "reasoning", "status": status, "summary": parts}
        return {"id": id_, "type": "message", "status": status, "role": "assistant", "content": parts}

    def _call(self, call: ToolCall) -> Item:
        way = self._asked.ways.get(call.name) or Way(call.name)
        place = f"{self._token}_{len(self._output)}"
        about = {"status": "completed", "call_id": call.id, "name": way.name}
        if way.namespace:
            about["namespace"] = way.namespace
        if way.is_free:
            free = call.arguments if isinstance(call.arguments, str) else call.arguments.get(FREE, "")
            text = free if isinstance(free, str) else _encode(free).decode()
            return {"id": f"ctc_{place}", "type": "custom_tool_call", **about, "input": text}
        written = call.arguments if isinstance(call.arguments, str) else _encode(call.arguments).decode()
        return {"id": f"fc_{place}", "type": "function_call", **about, "arguments": written}

    def _note(self, event: Event) -> None:
        if isinstance(event, Usage):
            self._usage = event
        elif isinstance(event, Done):
            self._reason = event.reason

    def _response(self, status: str, **more: Any) -> dict[str, Any]:
        return {
            **self._about,
            "status": status,
            "output": list(self._output),
            "usage": _usage(self._usage) if self._usage or status in ("completed", "incomplete") else None,
            "error": None,
            "incomplete_details": None,
            **self._asked.echo,
            **more,
        }

    def _finished(self, explanation: Explanation | None) -> dict[str, Any]:
        is_cut = self._reason == "length"
        more: dict[str, Any] = {"completed_at": int(time.time())}
        if is_cut:
            more["incomplete_details"] = {"reason": "max_output_tokens"}
        if explanation is not None:
            more["callgate"] = explanation
        self._final = self._response("incomplete" if is_cut else "completed", **more)
        return self._final

    def end(self, explanation: Explanation | None) -> bytes:
        before = self._start() + self._ended("incomplete" if self._reason == "length" else "completed")
        response = self._finished(explanation)
        return before + self._event(f"response.{response['status']}", response=response)

    def alive(self) -> bytes:
        return self._start() or COMMENT

    def fail(self, failure: Failure) -> bytes:
        codes = {429: "rate_limit_exceeded", 503: "rate_limit_exceeded"}
        code = codes.get(failure.status, "server_error" if failure.status >= 500 else "invalid_prompt")
        if failure.kind == OVERLONG:
            code = TOO_LONG
        before = self._start()
        told = self._event("error", code=code, message=failure.said, param=None)
        response = self._response("failed", error={"code": code, "message": failure.said})
        return before + told + self._event("response.failed", response=response)

    def whole(self, said: Said, explanation: Explanation | None) -> object:
        for event in last_events(said):
            self._note(event)
        is_cut = self._reason == "length" and not said.calls
        for kind, text in ((ThinkingDelta, said.thinking), (AssistantDelta, said.text)):
            if text:
                cut = is_cut and (kind is AssistantDelta or not said.text)
                self._output.append(self._item(kind, text, "incomplete" if cut else "completed"))
        for call in said.calls:
            self._output.append(self._call(call))
        self._said = said
        return self._finished(explanation)

    def kept(self) -> tuple[str, bytes] | None:
        if not self._asked.stores or self._final is None:
            return None
        calls = tuple(ToolCall(call.id, call.name, call.arguments) for call in self._said.calls)
        answer = msgspec.structs.replace(self._said.message(), calls=calls)
        return self._id, _encode(Stored((*self._asked.said, answer), msgspec.Raw(_encode(self._final))))


def _part(kind: type[Event], text: str | msgspec.Raw) -> dict[str, Any]:
    if kind is ThinkingDelta:
        return {"type": "summary_text", "text": text}
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _usage(used: Usage | None) -> dict[str, Any]:
    used = used or Usage()
    prompt, answer = used.prompt_tokens or 0, used.completion_tokens or 0
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": used.cached_tokens or 0, "cache_write_tokens": 0},
        "output_tokens": answer,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + answer,
    }
