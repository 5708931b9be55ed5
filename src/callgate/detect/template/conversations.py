"""The conversations that a chat template is tried with, and the words by which we know what arrived.

Each word stands for one part of a conversation and occurs in no template. Messages are built anew for each
rendering, because a template may change what it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

USER = "quokkauser"
SYSTEM = "quokkasystem"
REPLY = "quokkareply"
RESULT = "quokkaresult"
REASONING = "quokkareasoning"
TOOL = "quokka_tool"
DESCRIPTION = "quokkadescription"
PARAMETER = "quokka_parameter"
VALUES = ("quokkavalue", "wombatvalue")

Message = dict[str, Any]
Content = Literal["empty", "null", "absent", "text", "typed"]
Arguments = Literal["object", "string"]
ToolForm = Literal["wrapped", "flat"]


def tool(form: ToolForm = "wrapped") -> dict[str, Any]:
    function = {
        "name": TOOL,
        "description": DESCRIPTION,
        "parameters": {
            "type": "object",
            "properties": {PARAMETER: {"type": "string", "description": "what to look for"}},
            "required": [PARAMETER],
        },
    }
    return function if form == "flat" else {"type": "function", "function": function}


class Chat(NamedTuple):
    """An ordinary conversation: perhaps a system message, a question, perhaps an answer that was thought about."""

    system: bool = False
    typed: bool = False
    """Every content a list of parts instead of a string."""
    typed_system: bool = False
    reasoning: bool = False
    """An earlier answer, with the thinking that led to it."""
    tools: ToolForm | None = None

    def messages(self) -> list[Message]:
        messages = []
        if self.system:
            messages.append({"role": "system", "content": _content(SYSTEM, self.typed or self.typed_system)})
        messages.append({"role": "user", "content": _content(USER, self.typed)})
        if self.reasoning:
            thought = dict.fromkeys(("reasoning_content", "reasoning", "thinking"), REASONING)
            messages.append({"role": "assistant", "content": _content(REPLY, self.typed), **thought})
            messages.append({"role": "user", "content": _content(USER, self.typed)})
        return messages

    def offered(self) -> list[dict[str, Any]] | None:
        return [tool(self.tools)] if self.tools else None


class CallChat(NamedTuple):
    """A conversation in which the assistant called a tool, in one of the legal ways to write that down."""

    content: Content = "empty"
    arguments: Arguments = "object"
    calls: int = 1
    telling_ids: bool = False
    """Kimi's ids tell the tool's name; Mistral wants nine characters."""
    named_results: bool = False
    tools: ToolForm | None = "wrapped"
    system: bool = False
    question: bool = True
    typed: bool = False
    ending: Literal["result", "nothing", "next question"] = "result"

    def messages(self) -> list[Message]:
        messages: list[Message] = []
        if self.system:
            messages.append({"role": "system", "content": _content(SYSTEM, self.typed)})
        if self.question:
            messages.append({"role": "user", "content": _content(USER, self.typed)})
        messages.append(self._calling())
        if self.ending != "nothing":
            messages += [self._result(index) for index in range(self.calls)]
        if self.ending == "next question":
            messages.append({"role": "assistant", "content": _content(REPLY, self.typed)})
            messages.append({"role": "user", "content": _content(USER, self.typed)})
        return messages

    def offered(self) -> list[dict[str, Any]] | None:
        return [tool(self.tools)] if self.tools else None

    def _calling(self) -> Message:
        message: Message = {"role": "assistant"}
        if self.content == "text":
            message["content"] = _content(REPLY, self.typed)
        elif self.content != "absent":
            message["content"] = {"empty": "", "null": None, "typed": _content(REPLY, True)}[self.content]
        if self.calls:
            message["tool_calls"] = [self._call(index) for index in range(self.calls)]
        return message

    def _id(self, index: int) -> str:
        return f"functions.{TOOL}:{index}" if self.telling_ids else f"callABC0{index + 1}"

    def _call(self, index: int) -> dict[str, Any]:
        arguments: Any = {PARAMETER: VALUES[index]}
        if self.arguments == "string":
            arguments = f'{{"{PARAMETER}": "{VALUES[index]}"}}'
        return {"id": self._id(index), "type": "function", "function": {"name": TOOL, "arguments": arguments}}

    def _result(self, index: int) -> Message:
        message = {"role": "tool", "tool_call_id": self._id(index), "content": _content(RESULT, self.typed)}
        if self.named_results:
            message["name"] = TOOL
        return message


def _content(text: str, typed: bool) -> Any:
    return [{"type": "text", "text": text}] if typed else text


COMMON_WAYS: Sequence[CallChat] = (
    CallChat(),
    CallChat(content="text"),
    CallChat(system=True),
    CallChat(tools=None),
    CallChat(content="text", typed=True),
)
"""The ways that make a difference to a template that never reads an assistant's calls."""

OTHER_WAYS: Sequence[CallChat] = (
    CallChat(content="null"),
    CallChat(content="absent"),
    CallChat(content="typed"),
    CallChat(ending="nothing"),
    CallChat(ending="next question"),
    CallChat(telling_ids=True),
    CallChat(named_results=True),
    CallChat(content="null", tools=None),
    CallChat(content="null", ending="nothing"),
    CallChat(content="null", system=True),
    CallChat(content="absent", tools=None),
    CallChat(content="absent", system=True),
    CallChat(content="typed", system=True, typed=True),
    CallChat(content="text", system=True),
    CallChat(content="text", telling_ids=True),
    CallChat(content="text", tools=None),
    CallChat(tools=None, system=True),
    CallChat(tools=None, ending="nothing"),
    CallChat(telling_ids=True, named_results=True, tools=None),
    CallChat(system=True, ending="next question"),
    CallChat(question=False),
    CallChat(question=False, tools=None),
)
"""What some published template or other insists on, beside the common ways."""
