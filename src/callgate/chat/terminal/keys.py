"""What keys do at the prompt, besides what they do at every prompt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prompt_toolkit.filters import Condition
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent

if TYPE_CHECKING:
    from callgate.chat.terminal.front import Front


def keys_for(front: Front) -> KeyBindings:
    keys = KeyBindings()
    is_asking = Condition(lambda: front.is_asking)

    @keys.add("enter")
    def _(_: KeyPressEvent) -> None:
        front.submit()

    @keys.add("escape", "enter")
    def _(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    @keys.add("escape", filter=is_asking, eager=True)
    def _(_: KeyPressEvent) -> None:
        front.answer(None)

    @keys.add("c-c")
    @keys.add("<sigint>")
    def _(event: KeyPressEvent) -> None:
        was_asking = front.is_asking
        if was_asking:
            front.answer(None)
        if front.interrupt() or was_asking:
            return
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            front.above("Ctrl-D or /exit leaves")

    @keys.add("c-d", filter=Condition(lambda: not front.buffer.text))
    def _(_: KeyPressEvent) -> None:
        if front.is_asking:
            front.answer(None)
        else:
            front.leave()

    @keys.add("c-t")
    def _(_: KeyPressEvent) -> None:
        front.unfold()

    return keys
