"""Starts a chat on a terminal: the prompt first, and then, behind it, all the rest."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callgate.chat.chatting import Chat
    from callgate.chat.options import ChatOptions, Describe
    from callgate.chat.terminal.front import Front
    from callgate.settings import Settings

Load = Callable[[], "tuple[ChatOptions, Settings, Describe]"]


def run_in_terminal(load: Load) -> None:
    """`load` is called when the prompt is there, in a thread of its own.

    Raises: UsageError, if what it takes to draw isn't installed; CallgateError, if the chat can't begin;
    KeyboardInterrupt, if the user wouldn't wait for that.
    """
    try:
        from callgate.chat.terminal.front import Front
    except ImportError as error:
        raise _not_installed(error) from None

    if not asyncio.run(_run(Front(), load)):
        raise KeyboardInterrupt


async def _run(front: Front, load: Load) -> bool:
    behind: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def drawn() -> None:
        nonlocal behind
        behind = asyncio.ensure_future(_chat(front, load))

    drawing = asyncio.create_task(front.run(drawn))
    try:
        await drawing
    finally:
        if not behind.done():
            behind.cancel()
        outcome = (await asyncio.gather(behind, return_exceptions=True))[0]
    if isinstance(outcome, Exception):
        raise outcome
    return outcome is not False


async def _chat(front: Front, load: Load) -> bool:
    """The chat behind the prompt, and whether it ever began; when it is over, the prompt goes."""
    try:
        options, settings, describe = await _in_thread(load)
        from callgate.chat.running import converse
        from callgate.chat.terminal.connecting import connect, tell_log
        from callgate.chat.terminal.view import TerminalView

        view = TerminalView(front)
        if options.verbose:
            tell_log(view, settings)

        def started(chat: Chat) -> None:
            connect(front, chat)

        return await converse(view, options, settings, describe, started=started)
    finally:
        front.close()


async def _in_thread(load: Load) -> tuple[ChatOptions, Settings, Describe]:
    """All that is heavy, while the user may already type. A daemon: whoever leaves at once doesn't wait for it."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[ChatOptions, Settings, Describe]] = loop.create_future()

    def settle(result: tuple[ChatOptions, Settings, Describe] | None, error: Exception | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        elif result is not None:
            done.set_result(result)

    def work() -> None:
        try:
            result = load()
            import callgate.chat.preloading
            import callgate.chat.running
            import callgate.chat.terminal.connecting
            import callgate.chat.terminal.view
        except ImportError as error:
            loop.call_soon_threadsafe(settle, None, _not_installed(error))
        except Exception as error:  # noqa: BLE001 - it is raised where it is waited for
            loop.call_soon_threadsafe(settle, None, error)
        else:
            loop.call_soon_threadsafe(settle, result, None)
            with suppress(Exception):  # whoever needs it meets that too, and tells
                callgate.chat.preloading.load()

    threading.Thread(target=work, name="callgate-load", daemon=True).start()
    return await done


def _not_installed(error: ImportError) -> Exception:
    from callgate.vocabulary import UsageError

    if error.name and error.name.partition(".")[0] in ("prompt_toolkit", "rich", "markdown_it"):
        return UsageError(
            f"a chat on a terminal needs {error.name.partition('.')[0]}, which isn't installed",
            hint="pip install 'callgate[chat]'; or `callgate chat --plain`, which does without",
        )
    return error
