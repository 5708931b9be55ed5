"""Anthropic's dialect: messages, the tokens in them, and models."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from callgate.gateway.dialect import CountTokens, Dialect, Extra, ListModels, Route, ServedModel, ShowModel, Talk, Wish
from callgate.gateway.given.blocks import GivenTurn, messages_of, system_of
from callgate.gateway.given.left_out import LeftOut
from callgate.gateway.given.parts import MOST_MESSAGES, Part
from callgate.gateway.given.tools import OfferedTool, as_own
from callgate.gateway.writing.messages import MessageWriter, anthropic_error
from callgate.tools import read_tools
from callgate.vocabulary import Capabilities, ChatRequest, Message, Think, Tool

_OWN_TOOLS = ("custom", "function")
_EFFORTS: dict[str, Think] = {"low": "low", "medium": "medium", "high": "high", "xhigh": "max", "max": "max"}
_USUAL_EFFORT: Literal["high"] = "high"


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
    effort: Annotated[str, Meta(description=f"One of {', '.join(_EFFORTS)}.")] | None = None
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
    def effort(self) -> str | None:
        return self.output_config.effort if self.output_config else None

    @property
    def think(self) -> Think | None:
        kind = self.thinking.type if self.thinking else None
        if kind == "disabled":
            return False
        if kind in ("enabled", "adaptive") and self.effort:
            return _EFFORTS.get(self.effort, _USUAL_EFFORT)
        return True if kind == "enabled" else None


def _message(body: MessagesRequest, extra: Extra) -> Wish:
    """What else is in it is for Anthropic's own server, and goes nowhere."""
    left_out = LeftOut()
    tools = _tools(body, left_out)
    choice, parallel = _chosen(body, tools, left_out)
    system = system_of(body.system, left_out)
    if extra.get("mcp_servers"):
        left_out.wish("mcp_servers")
    if (effort := body.effort) and effort not in _EFFORTS:
        left_out.value("effort", effort, _USUAL_EFFORT)
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
        stream=bool(body.stream),
        whole_prompt=True,
    )
    hides = body.thinking is not None and body.thinking.display == "omitted"
    return Wish(
        model=body.model or "",
        request=request,
        writer=partial(MessageWriter, shows_thinking=not hides, stops=body.stop_sequences or ()),
        notices=left_out.notices,
        may_not_think=True,
    )


def _tools(body: MessagesRequest, left_out: LeftOut) -> tuple[Tool, ...]:
    own = []
    for tool in body.tools or ():
        if tool.is_nested and tool.custom:
            left_out.tool(tool.custom.name, tool.type)
        elif tool.is_own(*_OWN_TOOLS):
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


_EVENTS = "text/event-stream"

ANTHROPIC = Dialect(
    name="anthropic",
    root="/v1/messages",
    routes=(
        Route("POST", "/v1/messages", Talk(MessagesRequest, _message, _EVENTS)),
        Route("POST", "/v1/messages/count_tokens", CountTokens(MessagesRequest, _message, _counted)),
    ),
    error=anthropic_error,
    id_header=b"request-id",
    sign="anthropic-version",
    signed=(Route("GET", "/v1/models", ListModels(_models)), Route("GET", "/v1/models/*", ShowModel(_model))),
)
