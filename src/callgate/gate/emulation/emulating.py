"""A request with tools, made one that a model without tools can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from callgate.gate.choosing import tools_that_may_be_called
from callgate.gate.emulation.answers import EmulatedAnswer
from callgate.gate.emulation.closing import closed
from callgate.gate.emulation.conventions import Convention, calls_text, instructions
from callgate.gate.emulation.describing import described
from callgate.gate.emulation.grammar_text import LONGEST_TEXT as LONGEST_IN_GRAMMAR
from callgate.gate.emulation.held import grammar_for, schema_for
from callgate.gate.emulation.json_answers import JsonAnswer
from callgate.gate.emulation.schema_text import LONGEST_TEXT as LONGEST_IN_SCHEMA
from callgate.gate.emulation.shapes import Shape
from callgate.gate.emulation.strays import NewReader
from callgate.gate.emulation.tag_answers import TagAnswer
from callgate.gate.history import history_for, with_system_text
from callgate.vocabulary import Capabilities, ChatRequest, Means, Notice, Tool

MOST_CALLS = 4
"""In one answer: each has to be bounded, so their number has to be, too."""
MOST_TOKENS = 4096
FEWEST_TOKENS = 256
USUAL_CONTEXT = 8192
CHARACTERS_PER_TOKEN = 2
"""English has about four; digits, marks and other scripts have fewer."""


REMEMBERED = 32
"""Sets of tools, prepared."""


class Emulation(msgspec.Struct, frozen=True):
    """A request as it is sent, and how its answer is to be read."""

    request: ChatRequest
    convention: Convention = "tags"
    held: bool = False
    """The backend holds the answer to the convention; where it doesn't, calls have to be recovered from the text."""
    notices: tuple[Notice, ...] = ()
    shapes: Mapping[str, Shape] = {}
    plain_reply: bool = True

    def answer(self, otherwise: NewReader | None = None) -> EmulatedAnswer:
        """Reads one answer to the request. `otherwise` makes what reads what doesn't keep to the convention."""
        if self.convention == "json":
            return JsonAnswer(self.shapes, plain_reply=self.plain_reply, otherwise=otherwise)
        return TagAnswer(self.shapes, otherwise=otherwise)


def emulation_of(request: ChatRequest, means: Means, capabilities: Capabilities) -> Emulation:
    """The request without tools, and how to read the answer.

    Raises: UsageError, if the tool that must be called isn't offered.
    """
    tools = tools_that_may_be_called(request)
    forced = request.tool_choice not in (None, "auto")
    by_schema = means.schema and (request.schema is not None or not means.grammar)
    by_grammar = means.grammar and not by_schema and request.schema is None and "grammar" not in request.extra
    convention: Convention = "json" if by_schema else "tags"
    messages, notices = history_for(
        request.messages, capabilities, "emulated", None, calls_as=lambda calls: calls_text(convention, calls)
    )
    plain = msgspec.structs.replace(request, messages=messages, tools=(), tool_choice=None, parallel_tool_calls=None)
    if not tools:
        return Emulation(plain, notices=notices)
    if by_schema or (by_grammar and forced):
        plain = msgspec.structs.replace(plain, think=_think(request, capabilities))
    most = MOST_CALLS if _may_be_several(request, capabilities) else 1
    offer = _Offer(
        tuple(msgspec.json.encode(tool, enc_hook=_plain) for tool in tools),
        _characters(request, capabilities) // most,
        LONGEST_IN_SCHEMA if by_schema else LONGEST_IN_GRAMMAR,
    )
    prepared = _prepared(offer)
    told = instructions(
        convention,
        prepared.listed,
        forced=forced,
        several=most > 1,
        holds=by_schema or by_grammar,
        replies_in_json=request.schema is not None,
    )
    if by_schema:
        schema = (
            _schema(offer, most, forced)
            if request.schema is None
            else schema_for(prepared.shapes, most=most, forced=forced, reply=request.schema)
        )
        plain = msgspec.structs.replace(plain, schema=schema)
    elif by_grammar:
        plain = msgspec.structs.replace(plain, extra={**plain.extra, "grammar": _grammar(offer, most, forced)})
    return Emulation(
        msgspec.structs.replace(plain, messages=with_system_text(messages, told, capabilities)),
        convention,
        by_schema or by_grammar,
        notices,
        prepared.shapes,
        request.schema is None,
    )


class _Offer(msgspec.Struct, frozen=True):
    tools: tuple[bytes, ...]
    characters: int
    longest_text: int


class _Prepared(msgspec.Struct, frozen=True):
    shapes: Mapping[str, Shape]
    listed: str


# The same tools come with every request of a conversation.


@lru_cache(maxsize=REMEMBERED)
def _prepared(offer: _Offer) -> _Prepared:
    tools = [msgspec.json.decode(tool, type=Tool) for tool in offer.tools]
    shaped = [(tool, closed(tool.parameters, offer.characters, longest_text=offer.longest_text)) for tool in tools]
    return _Prepared({tool.name: shape for tool, shape in shaped}, described(shaped))


@lru_cache(maxsize=REMEMBERED)
def _schema(offer: _Offer, most: int, forced: bool) -> Mapping[str, Any]:
    return schema_for(_prepared(offer).shapes, most=most, forced=forced)


@lru_cache(maxsize=REMEMBERED)
def _grammar(offer: _Offer, most: int, forced: bool) -> str:
    return grammar_for(_prepared(offer).shapes, most=most, forced=forced)


def _may_be_several(request: ChatRequest, capabilities: Capabilities) -> bool:
    """A model that doesn't know how would repeat the same call until it may no longer."""
    if request.parallel_tool_calls is not None:
        return request.parallel_tool_calls
    return capabilities.supports_parallel_tool_calls is True


def _characters(request: ChatRequest, capabilities: Capabilities) -> int:
    """How long the arguments may get in all. Where tokens are counted, each may be one character alone."""
    context = capabilities.loaded_context or capabilities.context_length or USUAL_CONTEXT
    most = max(FEWEST_TOKENS, min(MOST_TOKENS, context // 4)) * CHARACTERS_PER_TOKEN
    asked = request.max_tokens or request.options.get("num_predict") or request.options.get("max_tokens")
    return min(asked, most) if isinstance(asked, int) and asked > 0 else most


def _think(request: ChatRequest, capabilities: Capabilities) -> Any:
    """A model that begins by thinking would have to think in the form of its answer: better not at all."""
    if request.think is None and capabilities.supports_enable_thinking:
        return False
    return request.think


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
