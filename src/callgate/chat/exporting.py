"""A conversation as a file for other people and programs: Markdown, JSON or HTML."""

from __future__ import annotations

import html
import os

import msgspec

from callgate.chat.cleaning import cleaned
from callgate.chat.conversation import Conversation
from callgate.chat.items import Line
from callgate.runtime import names_a_secret, shown_arguments
from callgate.vocabulary import Message, StorageError, UsageError

_WHO = {"user": "You", "assistant": "Model", "tool": "Tool", "system": "System"}
_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
    "<title>Conversation</title><style>body{font:1rem/1.5 system-ui;max-width:48rem;margin:2rem auto;padding:0 1rem}"
    "pre{white-space:pre-wrap;background:#8881;padding:.5rem;border-radius:.3rem}.line{color:#777;font-style:italic}"
    "</style>"
)


def write_export(conversation: Conversation, path: str) -> str:
    """Gives where it is. Raises: UsageError, if there is such a file already; StorageError."""
    if "\0" in path:
        raise UsageError(f"{path!r} can't be the name of a file", hint="name it .md, .json or .html")
    path = os.path.abspath(os.path.expanduser(path))
    kind = os.path.splitext(path)[1].lower()
    writers = {".md": as_markdown, ".markdown": as_markdown, ".txt": as_markdown, ".json": as_json, ".html": as_html}
    if kind not in writers:
        raise UsageError(f"{os.path.basename(path)!r} says not in what form", hint="name it .md, .json or .html")
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        with open(os.open(path, flags, 0o600), "w", encoding="utf-8", errors="replace") as file:
            file.write(writers[kind](conversation))
    except FileExistsError:
        raise UsageError(f"{path!r} is there already", hint="take another name") from None
    except OSError as error:
        raise StorageError(f"{path!r} can't be written: {error.strerror}") from None
    return path


def tells_secrets(conversation: Conversation, path: str) -> bool:
    """Whether an export into `path` has arguments in it that are masked everywhere else."""
    said = (item.message for item in conversation.shown if not isinstance(item, Line))
    return path.lower().endswith(".json") and any(names_a_secret(call) for message in said for call in message.calls)


def as_markdown(conversation: Conversation) -> str:
    parts = [f"**System**\n\n{cleaned(conversation.system)}"] if conversation.system else []
    for item in conversation.shown:
        if isinstance(item, Line):
            parts.append(f"*{cleaned(item.text)}*")
        else:
            parts.append(_message_as_markdown(item.message, item.model))
    return "\n\n".join(parts) + "\n"


def _message_as_markdown(message: Message, model: str | None) -> str:
    who = f"**{_WHO[message.role]}**" + (f" ({model})" if model else "")
    if message.role == "tool":
        return f"{who} {message.name}\n\n{_fenced(cleaned(message.content))}"
    parts = [who]
    if message.content:
        parts.append(cleaned(message.content))
    parts += [f"→ `{call.name}`\n\n{_fenced(cleaned(shown_arguments(call)), 'json')}" for call in message.calls]
    return "\n\n".join(parts)


def _fenced(text: str, language: str = "") -> str:
    fence = "```"
    while fence in text:
        fence += "`"
    return f"{fence}{language}\n{text}\n{fence}"


def as_json(conversation: Conversation) -> str:
    """Messages in OpenAI's form, with the chat's own lines between them under a role of their own. It is whole, so that
    a program can go on with it: no argument is masked, as those are that people read.
    """
    entries: list[dict[str, object]] = []
    if conversation.system:
        entries.append({"role": "system", "content": conversation.system})
    for item in conversation.shown:
        if isinstance(item, Line):
            entries.append({"role": "callgate", "content": item.text, "model": item.model, "at": item.at})
        else:
            entries.append(_message_as_json(item.message) | ({"model": item.model} if item.model else {}))
    return msgspec.json.format(msgspec.json.encode({"messages": entries}, enc_hook=str)).decode() + "\n"


def _message_as_json(message: Message) -> dict[str, object]:
    entry: dict[str, object] = {"role": message.role, "content": message.content}
    if message.thinking:
        entry["reasoning_content"] = message.thinking
    if message.calls:
        entry["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments(call.arguments)},
            }
            for call in message.calls
        ]
    if message.role == "tool":
        entry |= {"tool_call_id": message.call_id, "name": message.name}
    return entry


def _arguments(arguments: object) -> str:
    return arguments if isinstance(arguments, str) else msgspec.json.encode(arguments, enc_hook=str).decode()


def as_html(conversation: Conversation) -> str:
    parts = [_HEAD]
    if conversation.system:
        parts.append(f"<h4>System</h4><pre>{_safe(conversation.system)}</pre>")
    for item in conversation.shown:
        if isinstance(item, Line):
            parts.append(f'<p class="line">{_safe(item.text)}</p>')
            continue
        message = item.message
        model = f" ({_safe(item.model)})" if item.model else ""
        parts.append(f"<h4>{_WHO[message.role]} {_safe(message.name or '')}{model}</h4>")
        if message.content:
            parts.append(f"<pre>{_safe(message.content)}</pre>")
        parts += [f"<pre>→ {_safe(call.name)} {_safe(shown_arguments(call))}</pre>" for call in message.calls]
    return "\n".join(parts) + "\n"


def _safe(text: str) -> str:
    return html.escape(cleaned(text))
