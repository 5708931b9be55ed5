"""What may be meant by what is being typed: commands, models, tools, conversations, or the answers to a question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document

from callgate.chat.command_names import NAMES

Words = Mapping[str, str]
"""With what each means."""

_VERBS: dict[str, Words] = {
    "/tools": {
        "on ": "switch tools on",
        "off ": "switch tools off",
        "ask ": "ask again before it runs",
        "emulate": "describe tools in the prompt",
        "native": "send tools as they are",
        "auto": "as suits the model",
    },
    "/mcp": {"log ": "what a server said", "restart ": "start it again"},
    "/system": {"none": "no system message"},
}


class Completions(Completer):
    """What comes behind a command is known only when the chat is loaded: `sources` gets it then."""

    def __init__(self, choices: Callable[[], Words | None]) -> None:
        self._choices = choices
        self.sources: dict[str, Callable[[], Words]] = {}
        """By command, or by command and verb as in `/tools on`."""

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:  # noqa: ARG002
        text = document.text_before_cursor
        if (choices := self._choices()) is not None:
            yield from _matching(text, choices)
            return
        if not text.startswith("/") or "\n" in text:
            return
        command, space, rest = text.partition(" ")
        if not space:
            yield from _matching(command, {name: named.help for name, named in NAMES.items()}, prefix=True)
            return
        verb, space, pattern = rest.partition(" ")
        if space and (source := self.sources.get(f"{command} {verb}")):
            yield from _matching(pattern, source())
            return
        yield from _matching(rest, _VERBS.get(command, {}), prefix=True)
        if source := self.sources.get(command):
            yield from _matching(rest, source())


def _matching(typed: str, words: Words, *, prefix: bool = False) -> Iterable[Completion]:
    """Those that begin like it first, then those that have it somewhere."""
    low = typed.lower()
    begin = [word for word in words if word.lower().startswith(low)]
    inside = [] if prefix else [word for word in words if low in word.lower() and word not in begin]
    for word in (*begin, *inside):
        yield Completion(word, start_position=-len(typed), display_meta=words[word])
