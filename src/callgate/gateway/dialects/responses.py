"""OpenAI's newer dialect, Responses: requests in items, which may go on from an earlier answer."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any, Literal, cast

import msgspec
from msgspec import Meta

from callgate.gateway.dialect import (
    OVERLONG,
    CountTokens,
    Dialect,
    DropAnswer,
    Extra,
    Failure,
    NotKept,
    Route,
    ShowAnswer,
    Talk,
    Wish,
)
from callgate.gateway.dialects.openai import EFFORTS, Effort
from callgate.gateway.given.items import items_of, messages_of, name_within, offered
from callgate.gateway.given.left_out import LeftOut
from callgate.gateway.given.parts import MOST_MESSAGES, Part, text_in
from callgate.gateway.given.tools import OfferedTool, as_own
from callgate.gateway.given.unmet import NoText, Zero, refuse_logprobs
from callgate.gateway.writing.openai_errors import openai_error
from callgate.gateway.writing.responses import Asked, ResponseWriter, Stored, answer_of
from callgate.vocabulary import ChatRequest, Message, Think, Tool, UsageError

_NoObject = Annotated[dict[str, Any], Meta(extra_json_schema={"not": {}})]


_USUAL_EFFORT: Literal["medium"] = "medium"
_LOGPROBS = "message.output_text.logprobs"
_Included = Annotated[str, Meta(extra_json_schema={"not": {"const": _LOGPROBS}})]


class TextPlain(msgspec.Struct, frozen=True, tag_field="type", tag="text"):
    pass


class TextObject(msgspec.Struct, frozen=True, tag_field="type", tag="json_object"):
    pass


class TextSchema(msgspec.Struct, frozen=True, tag_field="type", tag="json_schema"):
    schema: dict[str, Any]
    name: str = "answer"
    strict: bool | None = None


class TextConfig(msgspec.Struct, frozen=True):
    format: TextPlain | TextObject | TextSchema | None = None


class ReasoningConfig(msgspec.Struct, frozen=True):
    effort: Annotated[str, Meta(description=f"One of {', '.join(EFFORTS)}.")] | None = None
    summary: str | None = None


class ToolChosen(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool that must be called, by its name; or `allowed_tools`, of which the model may choose."""

    type: str
    name: str | None = None
    namespace: str | None = None
    mode: Literal["auto", "required"] | None = None
    tools: list[Part] | None = None


class ResponsesRequest(msgspec.Struct, frozen=True, kw_only=True):
    input: str | Annotated[list[Part], Meta(min_length=1, max_length=MOST_MESSAGES)]
    model: str | None = None
    instructions: str | None = None
    stream: bool | None = None
    store: bool | None = None
    previous_response_id: str | None = None
    tools: list[Annotated[OfferedTool, as_own("parameters", "function", free="custom")]] | None = None
    tool_choice: Literal["auto", "none", "required"] | ToolChosen | None = None
    parallel_tool_calls: bool | None = None
    text: TextConfig | None = None
    reasoning: ReasoningConfig | None = None
    max_output_tokens: Annotated[int, Meta(ge=1)] | None = None
    temperature: float | None = None
    top_p: float | None = None
    truncation: Annotated[str, Meta(description="One of auto, disabled.")] | None = None
    background: bool | None = None
    metadata: dict[str, Any] | None = None
    top_logprobs: Zero | None = None
    include: list[_Included] | None = None
    conversation: NoText | _NoObject | None = None
    prompt: str | _NoObject | None = None

    @property
    def options(self) -> dict[str, Any]:
        given = {"temperature": self.temperature, "top_p": self.top_p}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def effort(self) -> str | None:
        return self.reasoning.effort if self.reasoning else None

    @property
    def think(self) -> Think | None:
        return None if self.effort is None else EFFORTS.get(cast("Effort", self.effort), _USUAL_EFFORT)

    @property
    def schema(self) -> dict[str, Any] | None:
        match self.text.format if self.text else None:
            case TextObject():
                return {"type": "object"}
            case TextSchema(schema):
                return schema
        return None


def _respond(body: ResponsesRequest, extra: Extra) -> Wish:  # noqa: ARG001
    """What else is in it is for OpenAI's own server, and goes nowhere."""
    if body.conversation not in (None, "") or isinstance(body.prompt, dict):
        hint = "send what was said as input, or previous_response_id"
        raise UsageError("'conversation' and 'prompt' aren't to be had here", hint=hint)
    refuse_logprobs(_LOGPROBS in (body.include or ()), body.top_logprobs)
    wish = _wish(body, None)
    previous = [body.previous_response_id] if body.previous_response_id else []
    earlier = dict.fromkeys([*previous, *(answer_of(id_) for item in items_of(body.input) if (id_ := _referred(item)))])
    return msgspec.structs.replace(wish, earlier=tuple(earlier), go_on=partial(_wish, body)) if earlier else wish


def _wish(body: ResponsesRequest, kept: Mapping[str, bytes] | None) -> Wish:
    """`kept` are the answers that it goes on from; nothing, as long as they aren't known. Raises: NotKept."""
    left_out = LeftOut()
    offers = offered(body.tools or (), left_out)
    tools, choice = _chosen(body, offers.tools, left_out)
    before = _before(body, kept)
    said = (*before, *messages_of(_whole_items(body, kept), left_out)) or (Message(role="user"),)
    instructions = (Message(role="system", content=body.instructions),) if body.instructions else ()
    _tell_of_wishes(body, left_out)
    request = ChatRequest(
        model="",
        messages=(*instructions, *said),
        tools=tools,
        tool_choice=choice,
        parallel_tool_calls=body.parallel_tool_calls,
        schema=body.schema,
        think=body.think,
        max_tokens=body.max_output_tokens,
        options=body.options,
        stream=bool(body.stream),
        whole_prompt=body.truncation != "auto",
    )
    return Wish(
        model=body.model or "",
        request=request,
        writer=partial(ResponseWriter, asked=Asked(_echo(body), said, offers.ways, body.store is not False)),
        notices=left_out.notices,
        may_not_think=True,
    )


def _tell_of_wishes(body: ResponsesRequest, left_out: LeftOut) -> None:
    if body.background:
        left_out.wish("background")
    if body.effort is not None and body.effort not in EFFORTS:
        left_out.value("effort", body.effort, _USUAL_EFFORT)
    if body.truncation not in (None, "auto", "disabled"):
        left_out.value("truncation", body.truncation, "disabled")


def _before(body: ResponsesRequest, kept: Mapping[str, bytes] | None) -> tuple[Message, ...]:
    if kept is None or not body.previous_response_id:
        return ()
    if (content := kept.get(body.previous_response_id)) is None:
        raise NotKept(
            f"the answer {body.previous_response_id[:80]!r} isn't kept here, or no longer",
            hint="send all that was said as input",
        )
    return msgspec.json.decode(content, type=Stored).messages


def _whole_items(body: ResponsesRequest, kept: Mapping[str, bytes] | None) -> list[Mapping[str, Any]]:
    """With the items of earlier answers that are only named."""
    found: list[Mapping[str, Any]] = []
    outputs: dict[str, dict[str, Any]] = {}
    for item in items_of(body.input):
        if not (id_ := _referred(item)):
            found.append(item)
        elif kept is not None:
            if (answer := answer_of(id_)) not in outputs and answer in kept:
                response: Any = msgspec.json.decode(msgspec.json.decode(kept[answer], type=Stored).response)
                outputs[answer] = {each["id"]: each for each in response["output"]}
            if (one := outputs.get(answer, {}).get(id_)) is None:
                raise NotKept(f"the item {id_[:80]!r} isn't kept here, or no longer", hint="send it whole")
            found.append(one)
    return found


def _referred(item: Mapping[str, Any]) -> str:
    id_ = item.get("id") if item.get("type", "item_reference") == "item_reference" and "role" not in item else None
    return id_ if isinstance(id_, str) else ""


def _chosen(body: ResponsesRequest, tools: tuple[Tool, ...], left_out: LeftOut) -> tuple[tuple[Tool, ...], str | None]:
    """The tools that may be called, and which of them must be."""
    choice = body.tool_choice
    names = {tool.name for tool in tools}
    some_left_out = bool(left_out.notices)
    if not isinstance(choice, ToolChosen):
        if choice == "required" and not tools and some_left_out:
            left_out.choice(choice)
            return tools, "auto"
        return tools, choice
    if choice.type == "allowed_tools":
        allowed = {
            name_within(tool.get("namespace"), name) for tool in choice.tools or () if (name := text_in(tool, "name"))
        }
        return tuple(tool for tool in tools if tool.name in allowed), choice.mode if allowed & names else "auto"
    wanted = name_within(choice.namespace, choice.name or choice.type)
    if wanted in names or (choice.type in ("function", "custom") and choice.name and not some_left_out):
        return tools, wanted
    left_out.choice(wanted)
    return tools, "auto"


def _echo(body: ResponsesRequest) -> dict[str, Any]:
    """What a client is told again of what it asked for."""
    text = body.text or TextConfig(TextPlain())
    return {
        "background": False,
        "instructions": body.instructions,
        "max_output_tokens": body.max_output_tokens,
        "metadata": body.metadata or {},
        "parallel_tool_calls": body.parallel_tool_calls is not False,
        "previous_response_id": body.previous_response_id,
        "reasoning": body.reasoning or ReasoningConfig(),
        "store": body.store is not False,
        "temperature": body.temperature,
        "text": text if text.format else TextConfig(TextPlain()),
        "tool_choice": body.tool_choice or "auto",
        # Three events have them, and there may be many.
        "tools": msgspec.Raw(msgspec.json.encode([_told(tool) for tool in body.tools or ()])),
        "top_p": body.top_p,
        "truncation": "auto" if body.truncation == "auto" else "disabled",
    }


def _told(tool: OfferedTool) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(tool)
    function = plain.pop("function") or {}
    kind = tool.type or "function"
    told = {**plain, **function, "type": kind}
    needed = {"parameters", "strict"} if kind == "function" else set()
    return {name: value for name, value in told.items() if value is not None or name in needed}


def _counted(tokens: int, is_estimate: bool) -> object:
    estimate = {"callgate": {"estimate": True}} if is_estimate else {}
    return {"object": "response.input_tokens", "input_tokens": tokens, **estimate}


def _dropped(id_: str) -> object:
    return {"id": id_, "object": "response", "deleted": True}


def _error(failure: Failure) -> object:
    """In the words of OpenAI's other paths, but for what they don't have."""
    told = openai_error(failure)
    if failure.kind == OVERLONG:
        told["error"] |= {"param": "input"}
    if failure.kind == NotKept.__name__:
        told["error"] |= {"param": "previous_response_id", "code": "previous_response_not_found"}
    return told


_ID = "resp_[0-9a-zA-Z]+"

RESPONSES = Dialect(
    name="responses",
    root="/v1/responses",
    routes=(
        Route("POST", "/v1/responses", Talk(ResponsesRequest, _respond, "text/event-stream", in_stream=(OVERLONG,))),
        Route("POST", "/v1/responses/input_tokens", CountTokens(ResponsesRequest, _respond, _counted)),
        Route("GET", "/v1/responses/*", ShowAnswer(lambda kept: msgspec.json.decode(kept, type=Stored).response), _ID),
        Route("DELETE", "/v1/responses/*", DropAnswer(_dropped), _ID),
    ),
    error=_error,
    id_header=b"x-request-id",
)
