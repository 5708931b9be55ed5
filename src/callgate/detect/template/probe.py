"""What a chat template can do, found out by rendering it and looking at what arrives in the prompt.

Nothing is concluded from the template's text but this: a variable or key that it doesn't spell, it can't read. So
the many ways to write down a call are tried only on templates that read calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from callgate.detect.template.conversations import (
    COMMON_WAYS,
    DESCRIPTION,
    OTHER_WAYS,
    PARAMETER,
    REASONING,
    RESULT,
    SYSTEM,
    TOOL,
    USER,
    VALUES,
    Arguments,
    CallChat,
    Chat,
    ToolForm,
)
from callgate.detect.template.report import TemplateReport

THINKING_SWITCHES = ("enable_thinking", "thinking", "thinking_mode", "skip_think", "reasoning_effort")
Switches = tuple[tuple[str, bool], ...]
"""Template variables that are set for one rendering."""
KEEP_THINKING: Switches = (
    ("enable_thinking", True),
    ("preserve_thinking", True),
    ("clear_thinking", False),
    ("truncate_history_thinking", False),
    ("drop_thinking", False),
)
"""What templates call the wish that earlier thinking stays in the prompt."""
SPECIAL_TOKENS = {
    **{f"{name}_token": f"<{name}>" for name in ("bos", "eos", "unk", "pad", "sep", "cls", "mask")},
    "additional_special_tokens": [f"<extra_{index}>" for index in range(16)],
}
"""What stands for a model's special tokens where they aren't known: templates print them."""

_PART_PRINTED_WHOLE = re.compile(rf"""['"]text['"]\s*:\s*['"](?:{USER}|{SYSTEM}|{RESULT})""")
_OBJECT_AS_PYTHON = re.compile(rf"{{'{PARAMETER}'")
_STRING_ENCODED_AGAIN = re.compile(rf'\\+"{PARAMETER}')
_GARBLED: Mapping[Arguments, re.Pattern[str]] = {"object": _OBJECT_AS_PYTHON, "string": _STRING_ENCODED_AGAIN}
"""A call's arguments in a form that no model was trained on."""

AnyChat = Chat | CallChat


class Engine(Protocol):
    """One compiled template."""

    name: str
    failure: str | None
    """Why it last failed, where that is known."""

    def render(self, context: Mapping[str, Any]) -> str | None:
        """The prompt, or `None` if the template won't have this conversation."""

    def confirm(self, *, thin: bool) -> None:
        """Told that a yes rests on this rendering; `thin`: of messages with content that is null or absent."""


def examine(engine: Engine, source: str, variables: Mapping[str, Any]) -> TemplateReport:
    """Tries the compiled template `engine`, whose text is `source`, in every legal way before it says no."""
    return _Probe(engine, source, {**SPECIAL_TOKENS, **variables}).report()


class _Probe:
    def __init__(self, engine: Engine, source: str, variables: Mapping[str, Any]) -> None:
        self._engine = engine
        self._source = source
        self._variables = variables
        self._seen: dict[tuple[AnyChat, Switches], str] = {}
        self._was_rendered = False
        self._notes: list[str] = []
        self._ways = COMMON_WAYS if "tool_calls" not in source else (*COMMON_WAYS, *OTHER_WAYS)

    def report(self) -> TemplateReport:
        string, typed = self._takes_strings(), self._takes_parts()
        if not self._was_rendered:
            self._notes.append(f"every ordinary conversation makes it fail: {self._engine.failure or 'it raises'}")
        elif not (string or typed):
            self._notes.append("a lone user message doesn't reach the prompt")
        with_objects = self._way_of_calling("object", self._ways)
        # Where objects are taken, strings aren't refused for anything but being strings.
        with_strings = self._way_of_calling("string", (with_objects, *COMMON_WAYS) if with_objects else self._ways)
        way = with_objects or with_strings
        switch = self._thinking_switch()
        return TemplateReport(
            supports_tools=self._shows_tools(),
            supports_tool_calls=way is not None,
            supports_tool_responses=self._shows_results(),
            supports_parallel_tool_calls=way is not None and self._shows_two_calls(way),
            supports_system_role=self._shows_system(),
            supports_string_content=string,
            supports_typed_content=typed,
            requires_typed_content=typed and not string,
            requires_object_arguments=with_objects is not None and with_strings is None,
            requires_string_arguments=with_strings is not None and with_objects is None,
            supports_preserve_reasoning=self._keeps_reasoning(),
            supports_enable_thinking=switch == "enable_thinking",
            thinking_switch=switch,
            notes=tuple(self._notes),
            engine=self._engine.name,
        )

    def _prompt(self, chat: AnyChat, switches: Switches = ()) -> str:
        key = (chat, switches)
        if (seen := self._seen.get(key)) is not None:
            return seen
        context = {
            **self._variables,
            "messages": chat.messages(),
            "tools": chat.offered(),
            "documents": None,
            "add_generation_prompt": True,
            **dict(switches),
        }
        prompt = self._engine.render(context)
        self._was_rendered = self._was_rendered or prompt is not None
        self._seen[key] = prompt = prompt or ""
        return prompt

    def _reads(self, *names: str) -> bool:
        return any(name in self._source for name in names)

    def _chats(self, **how: Any) -> Iterator[Chat]:
        """The same ordinary conversation without and with a system message, without and with tools."""
        yield Chat(**how)
        yield Chat(system=True, **how)
        if self._reads("tools"):
            yield Chat(tools="wrapped", **how)
            yield Chat(system=True, tools="wrapped", **how)

    def _takes_strings(self) -> bool:
        return any(USER in self._prompt(chat) for chat in self._chats())

    def _takes_parts(self) -> bool:
        prompts = (self._prompt(chat) for chat in self._chats(typed=True))
        return any(USER in prompt and not _PART_PRINTED_WHOLE.search(prompt) for prompt in prompts)

    def _shows_system(self) -> bool:
        offers: tuple[ToolForm | None, ...] = (None, "wrapped") if self._reads("tools") else (None,)
        for tools in offers:
            if SYSTEM in self._prompt(Chat(system=True, tools=tools)):
                return True
            for chat in (Chat(system=True, typed=True, tools=tools), Chat(system=True, typed_system=True, tools=tools)):
                prompt = self._prompt(chat)
                if SYSTEM in prompt and not _PART_PRINTED_WHOLE.search(prompt):
                    return True
        return False

    def _shows_tools(self) -> bool:
        if not self._reads("tools"):
            return False
        chats: tuple[AnyChat, ...] = (Chat(system=True, tools="wrapped"), Chat(tools="wrapped"), *self._ways)
        for chat in chats:
            prompt = self._prompt(chat)
            if TOOL in prompt and DESCRIPTION in prompt:
                if PARAMETER not in prompt:
                    self._notes.append("a tool's parameters don't reach the prompt")
                return True
        if any(DESCRIPTION in self._prompt(chat) for chat in (Chat(tools="flat"), Chat(system=True, tools="flat"))):
            self._notes.append("tools reach the prompt only in the flat form, which servers don't send")
        return False

    def _way_of_calling(self, arguments: Arguments, ways: Iterable[CallChat]) -> CallChat | None:
        for way in ways:
            chat = way._replace(arguments=arguments)
            if self._shows_calls(chat):
                return chat
        return None

    def _sure(self, chat: CallChat) -> bool:
        self._engine.confirm(thin=chat.content in ("null", "absent"))
        return True

    def _shows_calls(self, chat: CallChat) -> bool:
        prompt = self._prompt(chat)
        if not all(value in prompt for value in VALUES[: chat.calls]) or _GARBLED[chat.arguments].search(prompt):
            return False
        if not chat.tools:
            return prompt.count(TOOL) >= chat.calls and self._sure(chat)
        # The name stands in the list of tools as well, so it must occur more often than without the call.
        listed = self._prompt(chat._replace(calls=0, arguments="object")).count(TOOL)
        return prompt.count(TOOL) >= listed + chat.calls and self._sure(chat)

    def _shows_two_calls(self, way: CallChat) -> bool:
        ways = (way, *(other._replace(arguments=way.arguments) for other in self._ways))
        return any(self._shows_calls(chat._replace(calls=2)) for chat in ways)

    def _shows_results(self) -> bool:
        for way in self._ways:
            if way.ending == "nothing":
                continue
            for chat in (way, way._replace(arguments="string")) if self._reads("arguments") else (way,):
                prompt = self._prompt(chat)
                if RESULT in prompt and not (way.typed and _PART_PRINTED_WHOLE.search(prompt)):
                    return self._sure(way)
        return False

    def _keeps_reasoning(self) -> bool:
        if not self._reads("reasoning", "thinking"):
            return False
        return any(
            REASONING in self._prompt(chat, switches)
            for switches in ((), KEEP_THINKING)
            for chat in self._chats(reasoning=True)
        )

    def _thinking_switch(self) -> str | None:
        for switch in THINKING_SWITCHES:
            if self._reads(switch) and self._reacts_to(switch):
                return switch
        return None

    def _reacts_to(self, switch: str) -> bool:
        chats: tuple[AnyChat, ...] = (
            *self._chats(),
            *self._chats(typed=True),
            *self._chats(reasoning=True),
            *self._ways,
        )
        return any(self._prompt(chat, ((switch, True),)) != self._prompt(chat, ((switch, False),)) for chat in chats)
