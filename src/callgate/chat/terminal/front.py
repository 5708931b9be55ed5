"""The prompt, with what is about to be said above it and the status below: prompt_toolkit, and nothing else of weight.

It is drawn before anything of the chat itself is loaded. What is over and done with scrolls away above it, as on any
terminal; only the last lines, which may still change, are drawn anew.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping

from prompt_toolkit import PromptSession
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, to_filter
from prompt_toolkit.formatted_text import ANSI, StyleAndTextTuples, to_formatted_text
from prompt_toolkit.layout.controls import BufferControl
from prompt_toolkit.styles import Style

from callgate.chat.cleaning import cleaned
from callgate.chat.terminal.completing import Completions
from callgate.chat.terminal.keys import keys_for
from callgate.chat.terminal.past import Past
from callgate.chat.typed import is_done_at_once, is_no_answer

PROMPT = "› "
REDRAW_SECONDS = 0.04
ROWS_BELOW = 4
"""That what is drawn anew leaves for the prompt and the status."""
FEWEST_ROWS = 3
_STYLE = {
    "prompt": "bold ansicyan",
    "question": "bold ansiyellow",
    "bottom-toolbar": "noreverse ansibrightblack",
    "bottom-toolbar.text": "noreverse ansibrightblack",
}


class Question:
    """What is being asked: the next line is its answer."""

    def __init__(self, words: str, choices: Mapping[str, str], kept: Document, *, pick: bool, gives_way: bool) -> None:
        self.words = words
        self.choices = choices
        self.pick = pick
        self.gives_way = gives_way
        self.kept = kept
        """What the user was typing when it came."""
        self.answer: asyncio.Future[str | None] = asyncio.get_running_loop().create_future()


class Front:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self.has_colours = not os.environ.get("NO_COLOR")
        self.live: Callable[[], str] = lambda: ""
        """What stands above the prompt and may still change, with ANSI colours."""
        self.toolbar: Callable[[int], str] = lambda _: ""
        """The status, for so many columns."""
        self.interrupt: Callable[[], bool] = lambda: False
        """Ctrl-C; whether there was anything to stop."""
        self.unfold: Callable[[], None] = lambda: None
        self.past = Past()
        self.completions = Completions(lambda: self._question.choices if self._question else None)
        self._question: Question | None = None
        self._asking = asyncio.Lock()
        self._changed = asyncio.Event()
        self._typed: asyncio.Queue[str | None] = asyncio.Queue()
        self._drawn: tuple[str, StyleAndTextTuples] = ("", [])
        self._is_over = False
        self.session: PromptSession[None] = PromptSession(
            message=self._message,
            multiline=True,
            prompt_continuation="  ",
            key_bindings=keys_for(self),
            completer=self.completions,
            complete_while_typing=Condition(self._completes),
            history=self.past,
            bottom_toolbar=self._toolbar,
            style=Style.from_dict(_STYLE if self.has_colours else {"bottom-toolbar": "noreverse"}),
            erase_when_done=True,
        )
        self.session.app.min_redraw_interval = REDRAW_SECONDS
        self.buffer.on_text_changed += lambda _: self._changed.set()
        self._keep_low()

    def _keep_low(self) -> None:
        """The status stands right below the prompt, and not at the end of the screen."""
        for window in self.session.layout.find_all_windows():
            if isinstance(window.content, BufferControl) and window.content.buffer is self.buffer:
                window.dont_extend_height = to_filter(True)

    @property
    def buffer(self) -> Buffer:
        return self.session.default_buffer

    @property
    def columns(self) -> int:
        return self.session.app.output.get_size().columns

    @property
    def rows_for_live(self) -> int:
        return max(FEWEST_ROWS, self.session.app.output.get_size().rows - ROWS_BELOW - self.buffer.document.line_count)

    async def run(self, on_drawn: Callable[[], None]) -> None:
        """Until `leave`. `on_drawn` is called once, when the prompt is there."""
        app = self.session.app

        def drawn(_: object) -> None:
            app.after_render -= drawn
            on_drawn()

        app.after_render += drawn
        await self.session.prompt_async(handle_sigint=True, set_exception_handler=False)

    async def lines(self) -> AsyncIterator[str]:
        while (line := await self._typed.get()) is not None:
            yield line

    def leave(self) -> None:
        """Nothing is typed any more."""
        self._typed.put_nowait(None)

    def close(self) -> None:
        """The prompt goes."""
        if not self._is_over:
            self._is_over = True
            if self.session.app.is_running:
                self.session.app.exit()

    # --- What is shown

    def above(self, text: str) -> None:
        """Lines that stay as they are, above the prompt. They have to be harmless."""
        if not text.endswith("\n"):
            text += "\n"
        app = self.session.app
        if not app.is_running or app.is_done:
            app.output.write_raw(text.replace("\n", "\r\n"))
            app.output.flush()
            return
        app.renderer.erase()
        app.output.write_raw(text.replace("\n", "\r\n"))
        app.output.flush()
        app.renderer.reset()
        app.renderer.request_absolute_cursor_position()
        app.invalidate()

    def redraw(self) -> None:
        self.session.app.invalidate()

    def _message(self) -> StyleAndTextTuples:
        words = ("class:question", f"{self._question.words} ") if self._question else ("class:prompt", PROMPT)
        live = "" if self.session.app.is_done else self.live()
        if not live:
            return [words]
        if self._drawn[0] != live:
            self._drawn = live, to_formatted_text(ANSI(live.rstrip("\n") + "\n"))
        return [*self._drawn[1], words]

    def _toolbar(self) -> StyleAndTextTuples:
        return [("class:bottom-toolbar.text", self.toolbar(self.columns))]

    def _completes(self) -> bool:
        return self.buffer.text.startswith("/") if self._question is None else bool(self._question.choices)

    # --- What is typed

    async def ask(
        self, words: str, choices: Mapping[str, str], *, before: str = "", pick: bool = False, gives_way: bool = False
    ) -> str | None:
        """What is typed next; `None` for nothing. What was being typed comes back afterwards; a question that
        `gives_way` waits until nothing is. Who asks while another question stands waits too.
        """
        async with self._asking:
            while gives_way and self.buffer.text:
                self._changed.clear()
                await self._changed.wait()
            if before:
                self.above(before)
            question = self._question = Question(words, choices, self.buffer.document, pick=pick, gives_way=gives_way)
            self.buffer.reset()
            if pick:
                self.buffer.start_completion(select_first=False)
            self.redraw()
            try:
                return await question.answer
            finally:
                self._question = None
                self.buffer.reset(question.kept)
                self.redraw()

    @property
    def is_asking(self) -> bool:
        return self._question is not None

    def answer(self, text: str | None) -> None:
        question = self._question
        if question is None or question.answer.done():
            return
        typed = cleaned(text or "").strip() or None
        self.above(f"{question.words} {typed or ''}".rstrip())
        question.answer.set_result(typed)

    def submit(self) -> None:
        """Enter was pressed."""
        text = self.buffer.text
        if self._question is not None and not self._passes(self._question, text.strip()):
            self.answer(text)
            return
        if text.endswith("\\"):
            self.buffer.delete_before_cursor(1) if self.buffer.document.is_cursor_at_the_end else None
            self.buffer.insert_text("\n")
            return
        if not text.strip():
            return
        self.buffer.append_to_history()
        self.buffer.reset()
        self.above(self.echo(text))
        self._typed.put_nowait(text)

    def _passes(self, question: Question, text: str) -> bool:
        """Whether it passes the question by, being a command or a message; the question goes, if it gives way."""
        if not is_no_answer(text, gives_way=question.gives_way and not question.pick):
            return False
        if question.gives_way and not is_done_at_once(text):
            self.answer(None)
        return True

    def echo(self, text: str) -> str:
        """What the user said, as it stays on the screen."""
        shown = cleaned(text).strip().replace("\n", "\n  ")
        return f"\x1b[1m{PROMPT}{shown}\x1b[0m" if self.has_colours else f"{PROMPT}{shown}"
