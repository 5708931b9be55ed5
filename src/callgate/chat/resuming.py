"""Going on with a conversation from before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from callgate.chat.words import plural

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat

MOST_SHOWN = 12


def show_resumed(chat: Chat, *, is_copy: bool) -> None:
    """The last of what was said, and how much there is before it."""
    shown = chat.conversation.shown
    left_out = len(shown) - MOST_SHOWN
    if left_out > 0:
        chat.view.tell(f"{plural(left_out, 'entry', 'entries')} before that …")
    chat.view.show_history(shown[-MOST_SHOWN:])
    name, count = chat.conversation.name, plural(chat.conversation.count, "message")
    if is_copy:
        chat.view.tell(f"another chat has it open, so this is a copy: {count}, kept as {name} as soon as you go on")
    else:
        chat.view.tell(f"going on with {name}: {count}")
