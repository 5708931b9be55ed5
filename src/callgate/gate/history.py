"""A conversation as the model that is asked next can take it. Nothing is stored: it is done anew at every request.

Calls and their results are paired, past tool turns get the form that the target understands, and what it can't take
(a system role, pictures, another model's thinking) is moved, described or left out, never without a word.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Protocol

import msgspec

from callgate.gate.deciding import Mode
from callgate.gate.pairing import Turn, are_paired, paired
from callgate.tools import read_loosely
from callgate.vocabulary import Capabilities, Message, Notice, ToolCall

CallsAs = Callable[[Sequence[ToolCall]], str]

PARAGRAPH = "\n\n"
TOOLS_OFF = "Tools are switched off: you can't call any, so answer with what you know."
_FRAME_END = re.compile("</tool_response", re.IGNORECASE)
_QUOTES = re.compile(r"[\"<>\n\r]")
IMAGE_LEFT_OUT = "[An image was here. You can't see images.]"


class SentNames(Protocol):
    """What a backend gets for a tool's name."""

    def sent(self, name: str, /) -> str: ...


def history_for(
    messages: Sequence[Message],
    capabilities: Capabilities,
    mode: Mode,
    names: SentNames | None = None,
    *,
    calls_as: CallsAs | None = None,
) -> tuple[tuple[Message, ...], tuple[Notice, ...]]:
    """The messages for this model, and what had to be left out of them.

    With `native` tools, past calls and results keep their roles; `calls_as` says how past calls are written where they
    become text. Without tools, images, thinking or surplus system messages, the messages are the same.
    """
    if _are_just_words(messages, capabilities):
        return tuple(messages), ()
    notices: list[Notice] = []
    found = _with_one_system(messages, capabilities)
    if capabilities.supports_vision is False:
        found = _without_images(found, notices)
    are_native = mode == "native" and are_paired(found, None if names is None else names.sent)
    if not are_native and any(message.calls or message.role == "tool" for message in found):
        turns = paired(found)
        found = _native(turns, names) if mode == "native" else _as_text(turns, calls_as or _told)
    return tuple(_without_foreign_thinking(found, capabilities, mode)), tuple(notices)


def _are_just_words(messages: Sequence[Message], capabilities: Capabilities) -> bool:
    """Words of a user and of a model, behind one system message at most: any model can take them as they are."""
    may_be_system = capabilities.supports_system_role is not False
    for message in messages:
        role = message.role
        if role not in ("user", "assistant") and not (may_be_system and role == "system"):
            return False
        if message.calls or message.images or message.thinking is not None:
            return False
        may_be_system = False
    return True


def with_system_text(messages: Sequence[Message], text: str, capabilities: Capabilities) -> tuple[Message, ...]:
    """The messages with `text` at the end of the system message; at the start of the first words of the user, where the
    model has no system role.
    """
    if capabilities.supports_system_role is not False:
        for index, message in enumerate(messages):
            if message.role == "system":
                content = PARAGRAPH.join(filter(None, (message.content, text)))
                return (*messages[:index], _with(message, content), *messages[index + 1 :])
        return (Message(role="system", content=text), *messages)
    for index, message in enumerate(messages):
        if message.role == "user":
            content = PARAGRAPH.join(filter(None, (text, message.content)))
            return (*messages[:index], _with(message, content), *messages[index + 1 :])
    return (Message(role="user", content=text), *messages)


def tools_off_note(messages: Sequence[Message], capabilities: Capabilities) -> tuple[Message, ...]:
    """The messages with a sentence that tools are off, for one request; nobody said it, so nobody keeps it."""
    return with_system_text(messages, TOOLS_OFF, capabilities)


def _with(message: Message, content: str) -> Message:
    return msgspec.structs.replace(message, content=content)


# --- system messages ---


def _with_one_system(messages: Sequence[Message], capabilities: Capabilities) -> list[Message]:
    """One system message, in front: most templates reject any other. None, where there is no such role."""
    system = [message for message in messages if message.role == "system"]
    has_role = capabilities.supports_system_role is not False
    if not system or (has_role and len(system) == 1 and messages[0] is system[0]):
        return list(messages)
    others = [message for message in messages if message.role != "system"]
    text = PARAGRAPH.join(message.content for message in system if message.content)
    images = tuple(image for message in system for image in message.images)
    if not text and not images:
        return others
    if has_role:
        return [Message(role="system", content=text, images=images), *others]
    if images:
        return [Message(role="user", content=text, images=images), *others]
    return list(with_system_text(others, text, capabilities))


# --- images ---


def _without_images(messages: Sequence[Message], notices: list[Notice]) -> list[Message]:
    left_out = 0
    found: list[Message] = []
    for message in messages:
        if message.images:
            left_out += len(message.images)
            words = "\n".join([message.content] * bool(message.content) + [IMAGE_LEFT_OUT] * len(message.images))
            found.append(msgspec.structs.replace(message, content=words, images=()))
        else:
            found.append(message)
    if left_out:
        what = "an image was" if left_out == 1 else f"{left_out} images were"
        notices.append(Notice("images_left_out", f"{what} left out: the model can't see images"))
    return found


# --- thinking ---


def _without_foreign_thinking(messages: list[Message], capabilities: Capabilities, mode: Mode) -> list[Message]:
    """Thinking belongs to the model that thought it, and to the answer that it led to.

    It is kept where that answer isn't there yet: in the calls since the user last spoke, for a model whose own calls
    and thinking go together. Where nobody knows whether it thinks, that is most likely its own.
    """
    if all(message.thinking is None for message in messages):
        return messages
    may_think = capabilities.supports_thinking is not False or capabilities.supports_preserve_reasoning
    keeps = mode == "native" and may_think
    last = max((index for index, message in enumerate(messages) if message.role == "user"), default=-1)
    return [
        msgspec.structs.replace(message, thinking=None)
        if message.thinking is not None and not (keeps and index > last)
        else message
        for index, message in enumerate(messages)
    ]


# --- calls and results ---


def _native(turns: Sequence[Turn], names: SentNames | None) -> list[Message]:
    found: list[Message] = []
    for turn in turns:
        message = turn.message
        if not turn.results:
            found.append(message if message.role != "tool" else _answered(message))
            continue
        calls = tuple(_as_sent(call, names) for call in message.calls)
        found.append(message if calls == message.calls else msgspec.structs.replace(message, calls=calls))
        shown: list[Message] = []
        for call, result in zip(calls, turn.results, strict=True):
            name = result.name if names is None or not result.name else call.name
            found.append(msgspec.structs.replace(result, call_id=call.id, name=name, images=()))
            if result.images:
                # Hardly any server takes pictures from a tool.
                words = f"The images that {call.name} gave:"
                shown.append(Message(role="user", content=words, images=result.images))
        found += shown
    return found


def _as_sent(call: ToolCall, names: SentNames | None) -> ToolCall:
    """Under the name that its tool is sent by; with an object for arguments, since servers take nothing else."""
    name = call.name if names is None else names.sent(call.name)
    if isinstance(call.arguments, str):
        loose = read_loosely(call.arguments)
        arguments = loose.value if loose and isinstance(loose.value, dict) else {"arguments": call.arguments}
        return msgspec.structs.replace(call, name=name, arguments=arguments, raw=None)
    return call if name == call.name else msgspec.structs.replace(call, name=name)


def _as_text(turns: Sequence[Turn], calls_as: CallsAs) -> list[Message]:
    """Neighbours of one role are one message if one of them was made here: many templates want them to alternate."""
    found: list[Message] = []
    made_here = False
    for turn in turns:
        message = turn.message
        made: list[Message] = []
        if turn.results:
            words = PARAGRAPH.join(filter(None, (message.content, calls_as(message.calls))))
            made.append(msgspec.structs.replace(message, content=words, calls=()))
            made += [_answered(result, call.name) for call, result in zip(message.calls, turn.results, strict=True)]
        elif message.role == "tool":
            made.append(_answered(message))
        for one in made or [message]:
            if (made or made_here) and found and found[-1].role == one.role:
                found[-1] = _together(found[-1], one)
            else:
                found.append(one)
            made_here = bool(made)
    return found


def _together(one: Message, other: Message) -> Message:
    content = PARAGRAPH.join(filter(None, (one.content, other.content)))
    return msgspec.structs.replace(one, content=content, images=one.images + other.images)


def _answered(result: Message, name: str | None = None) -> Message:
    """What a tool said, as words of the user's side. It can't end its own frame and go on as somebody else."""
    name = name or result.name
    whose = f' name="{_QUOTES.sub("_", name)}"' if name else ""
    said = _FRAME_END.sub(r"<\\/tool_response", result.content)
    content = f"<tool_response{whose}>\n{said}\n</tool_response>"
    return Message(role="user", content=content, images=result.images)


def _told(calls: Sequence[ToolCall]) -> str:
    """Past calls for a model that has no tools now, and isn't to be tempted."""
    return "\n".join(f"[Called the tool {call.name} with {_json(call.arguments)}]" for call in calls)


def _json(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
