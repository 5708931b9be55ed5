"""Reads conversations in the forms in which people have them: OpenAI's and Ollama's messages, or just a question."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Mapping, Sequence
from typing import Any, TypeGuard, get_args

import msgspec

from callgate.vocabulary import Image, Message, Role, ToolCall, UsageError

MOST_MESSAGES = 100_000
_DATA_URL = "data:"
_FORMS = '[{"role": "user", "content": "…"}], or an object that has such a list under "messages"'
_OTHER_NAMES = {"developer": "system", "function": "tool"}
_ROLES = frozenset(get_args(Role))
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode

Given = str | Message | Mapping[str, Any]


def read_messages(content: object) -> tuple[Message, ...]:
    """The messages in `content`: a list of them, an object that has the list under `messages`, or a question.

    Raises: UsageError, which names the message that is no good.
    """
    entries = content if isinstance(content, list) else _entries(content)
    if len(entries) > MOST_MESSAGES:
        raise UsageError("that is no conversation", hint=f"write {_FORMS}")
    return tuple(
        [
            entry if isinstance(entry, Message) else _message(entry, number)
            for number, entry in enumerate(entries, start=1)
        ]
    )


def _entries(content: object) -> Sequence[object]:
    if isinstance(content, str | Message):
        return [content]
    if isinstance(content, Mapping):
        content = content.get("messages")
    if not isinstance(content, Sequence):
        raise UsageError("that is no conversation", hint=f"write {_FORMS}")
    return content


def _message(entry: object, number: int) -> Message:
    if isinstance(entry, str):
        return Message(role="user", content=entry)
    if not _is_object(entry):
        raise UsageError(f"message {number} is no object", hint=f"write {_FORMS}")
    said = str(entry.get("role"))
    role = _OTHER_NAMES.get(said, said)
    if role not in _ROLES:
        raise UsageError(f"message {number} has no role", hint=f"roles are {', '.join(get_args(Role))}")
    text, images = _content(entry.get("content"), number)
    pictures = _listed(entry.get("images"), "images", number)
    own_images = [_image(picture, number, "under `images` they come in base64") for picture in pictures]
    return Message(
        role=role,  # type: ignore[arg-type]
        content=text,
        images=(*images, *own_images),
        thinking=_text(entry, "thinking") or _text(entry, "reasoning_content") or _text(entry, "reasoning"),
        calls=_calls(entry, number),
        call_id=_text(entry, "tool_call_id"),
        name=_text(entry, "name") or _text(entry, "tool_name"),
    )


def _content(content: object, number: int) -> tuple[str, tuple[Image, ...]]:
    if content is None or isinstance(content, str):
        return content or "", ()
    texts, images = [], []
    for part in _listed(content, "content", number):
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                images.append(_image(url, number))
            case _:
                raise UsageError(
                    f"message {number} has a part that is neither text nor a picture",
                    hint='write {"type": "text", "text": "…"}',
                )
    return "\n".join(texts), tuple(images)


def _image(given: object, number: int, hint: str = "pictures come as data:image/png;base64,…") -> Image:
    head, data = "", given if isinstance(given, str) else ""
    if data.startswith(_DATA_URL):
        head, _, data = data.partition(",")
    media_type = head.removeprefix(_DATA_URL).partition(";")[0] or "image/png"
    try:
        if data:
            return Image(b64decode(data, validate=True), media_type)
    except (binascii.Error, ValueError):
        pass
    raise UsageError(f"message {number} has a picture that isn't in it", hint=hint)


def _calls(entry: Mapping[str, Any], number: int) -> tuple[ToolCall, ...]:
    """Old clients have one call, under another name."""
    calls = _listed(entry.get("tool_calls"), "tool_calls", number)
    if not calls and (old := entry.get("function_call")) is not None:
        calls = (old,)
    return tuple([_call(call, number) for call in calls])


def _call(entry: object, number: int) -> ToolCall:
    if not _is_object(entry) or not _is_object(function := entry.get("function", entry)):
        raise UsageError(f"message {number} has a call without a name")
    name = function.get("name")
    if not isinstance(name, str):
        raise UsageError(f"message {number} has a call without a name")
    given, id_ = function.get("arguments"), entry.get("id")
    arguments, raw = (_read(given), given) if isinstance(given, str) else (given, None)
    if not isinstance(arguments, Mapping | str):
        arguments = {}
    return ToolCall(id_ if isinstance(id_, str) else "", name, arguments, raw)


def _read(text: str) -> Mapping[str, Any] | str:
    try:
        return _decode_object(text or "{}")
    except (msgspec.DecodeError, ValueError, RecursionError):
        return text


def _listed(value: object, name: str, number: int) -> Sequence[object]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple):
        raise UsageError(f"message {number} has {name} that are no list")
    return value


def _is_object(value: object) -> TypeGuard[Mapping[str, Any]]:
    return type(value) is dict or isinstance(value, Mapping)  # which takes longer to find out


def _text(entry: Mapping[str, Any], key: str) -> str | None:
    value = entry.get(key)
    return value if isinstance(value, str) and value else None
