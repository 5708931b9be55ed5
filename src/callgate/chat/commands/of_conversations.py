"""`/system`, `/save`, `/load`, `/export`, `/retry`, `/undo` and `/clear`."""

from __future__ import annotations

import asyncio
import shutil
import time
from typing import TYPE_CHECKING

from callgate.chat.cleaning import on_one_line
from callgate.chat.exporting import tells_secrets, write_export
from callgate.chat.resuming import show_resumed
from callgate.chat.swapping import turn_to
from callgate.chat.tables import in_columns
from callgate.chat.turns import take_turn
from callgate.chat.words import as_kept, plural, shortened
from callgate.vocabulary import ModelRef, UsageError

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

MOST_LISTED = 20


async def set_system(chat: Chat, text: str) -> None:
    if not text:
        chat.view.tell(chat.conversation.system or "there is no system message", "reply")
        return
    chat.conversation.set_system("" if text.lower() in ("none", "-") else text)
    chat.view.tell(
        "the model is told so from now on" if chat.conversation.system else "no system message any more", "reply"
    )


async def save(chat: Chat, name: str) -> None:
    if not name:
        raise UsageError("a conversation needs a name", hint="/save NAME")
    chat.conversations.save(chat.conversation, name)
    chat.view.tell(f"saved as {name!r}, and so is what follows: `callgate chat --resume {name}`", "reply")


async def load(chat: Chat, name: str) -> None:
    if not name:
        kept = await asyncio.to_thread(chat.conversations.listed, MOST_LISTED)
        rows = [
            (on_one_line(one.name), time.strftime("%Y-%m-%d %H:%M", time.localtime(one.at)), one.title) for one in kept
        ]
        text = "\n".join(in_columns(rows, shutil.get_terminal_size().columns, 0)) or "there is none yet"
        chat.view.show_text(text, "conversations", {"conversations": [list(row) for row in rows]})
        return
    if await asyncio.to_thread(chat.conversations.named, name) == chat.conversation.name:
        chat.view.tell(f"you are in it: {chat.conversation.name}", "reply")
        return
    conversation, is_copy = await asyncio.to_thread(chat.conversations.load, name)
    chat.begin_anew(conversation)
    show_resumed(chat, is_copy=is_copy)
    if conversation.model and conversation.model != as_kept(chat.ref):
        await turn_to(chat, ModelRef.parse(conversation.model))


async def export(chat: Chat, path: str) -> None:
    if not path:
        raise UsageError("an export needs a file", hint="/export FILE.md, .json or .html")
    where = await asyncio.to_thread(write_export, chat.conversation, path)
    words = f"written into {where}"
    if tells_secrets(chat.conversation, where):
        words += ", which is whole: arguments named like secrets aren't masked there, as they are in .md and .html"
    chat.view.tell(words, "reply", {"file": where})


async def retry(chat: Chat, _: str) -> None:
    text = chat.unanswered
    if text is None:
        count = chat.conversation.messages_since_question()
        question = chat.conversation.last_question
        if question is None:
            raise UsageError("nothing was asked yet", hint="say something first")
        chat.conversation.take_back(count)
        text = question.content
    await take_turn(chat, text)


async def undo(chat: Chat, _: str) -> None:
    if chat.unanswered is not None:  # it isn't part of the conversation any more
        text, chat.unanswered = chat.unanswered, None
        chat.view.tell(f"taken back: {shortened(text, 60)!r}, which had no answer", "reply")
        return
    count = chat.conversation.messages_since_question()
    question = chat.conversation.last_question
    if question is None:
        raise UsageError("there is nothing to take back")
    chat.conversation.take_back(count)
    chat.meter.forget(chat.conversation.messages)
    chat.show_status()
    left = plural(chat.conversation.count, "message")
    chat.view.tell(f"taken back: {shortened(question.content, 60)!r} and what came of it; {left} left", "reply")


async def clear(chat: Chat, _: str) -> None:
    old = chat.conversation
    system = old.system
    chat.begin_anew(chat.conversations.new())
    if system:
        chat.conversation.set_system(system)
    kept = f"; the old one is kept as {old.name}" if old.count and old.is_kept else ""
    chat.view.tell(f"a new conversation{kept}", "reply")
