"""Reads an Ollama template written in Go's template language.

It is read, not run: a field counts if an action names it outside of strings and comments. That makes the
answers weaker than those of a template that was rendered, and they are marked so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from callgate.vocabulary import Answer, Evidence, Source

_LONGEST = 1_000_000
"""Real ones stay under 20 kB; what is longer isn't read."""

_JINJA_STATEMENT = re.compile(
    r"\{%[-+]?\s*(?:if|for|set|macro|else|elif|endif|endfor|endmacro|filter|generation|raw|call|import|include|block)\b"
)
_GO_ACTION = re.compile(
    r"""\A\s*+(?:
        \$\w | /\*                                                 # $last, a comment
        | (?:if|range|with|define|template|block)\s | (?:end|else|break|continue)\s*+\Z
    ) | (?:\A|[\s(])\$?\.[A-Z]                                     # .Prompt, json $.Tools""",
    re.VERBOSE,
)
_FIELD = re.compile(r"\.([A-Za-z_]\w*)")
_CONDITION = re.compile(r"\s*(?:else\s+)?if\b")
_RANGE = re.compile(r"\s*range\b")
_HINTS = ("tool_call", "<tool>", "function_call")


def is_go_template(text: str) -> bool:
    """Go's language, and not Jinja? A text without any action is taken for Jinja, where it means the same."""
    text = text[:_LONGEST]
    if _JINJA_STATEMENT.search(text):
        return False
    return any(_GO_ACTION.search(action.code) for action in _actions(text))


def go_template_evidence(text: str, at: float) -> Iterator[Evidence]:
    """What a Go template lets through: tools, calls, results, the system text, thinking."""

    def say(claim: str, answer: Answer, detail: str) -> Evidence:
        return Evidence(claim, answer, Source.TEMPLATE_TEXT, detail, at)

    if len(text) > _LONGEST:
        yield say("tools", Answer.UNKNOWN, f"the Go template is too long to be read ({len(text):,} characters)")
        return
    actions = list(_actions(text))
    fields = {field for action in actions for field in _FIELD.findall(action.code)}
    literals = {literal for action in actions for literal in action.literals}
    role_printed = any("Role" in _FIELD.findall(a.code) and not _CONDITION.match(a.code) for a in actions)
    # `.Content` may stand outside of every test of the role, and then prints any message: that can't be seen here.
    any_content = "Content" in fields

    tools, calls = "Tools" in fields, "ToolCalls" in fields
    yield say("supports_tools", Answer.of(tools), f"the Go template {'uses' if tools else 'never uses'} .Tools")
    yield say(
        "supports_tool_calls", Answer.of(calls), f"the Go template {'uses' if calls else 'never uses'} .ToolCalls"
    )
    yield say("tools", *_verdict(tools, calls, text))

    if calls and any(_RANGE.match(a.code) and "ToolCalls" in _FIELD.findall(a.code) for a in actions):
        yield say("supports_parallel_tool_calls", Answer.YES, "the Go template goes through all of .ToolCalls")
    if "tool" in literals or fields & {"ToolName", "ToolCallID"}:
        yield say("supports_tool_responses", Answer.YES, "the Go template knows messages of role tool")
    elif role_printed:
        yield say("supports_tool_responses", Answer.YES, "the Go template prints any .Role")
    elif not any_content:
        yield say("supports_tool_responses", Answer.NO, "the Go template knows no messages of role tool")
    if "System" in fields:
        yield say("supports_system_role", Answer.YES, "the Go template uses .System")
    elif "system" in literals or role_printed:
        yield say("supports_system_role", Answer.YES, "the Go template knows messages of role system")
    elif not any_content:
        yield say("supports_system_role", Answer.NO, "the Go template has no place for a system text")
    if thinking := fields & {"Thinking", "Think", "ThinkLevel", "IsThinkSet"}:
        named = ", ".join(f".{field}" for field in sorted(thinking))
        yield say("supports_thinking", Answer.YES, f"the Go template uses {named}")
        if thinking != {"Thinking"}:
            yield say("supports_enable_thinking", Answer.YES, f"the Go template uses {named}")


def _verdict(tools: bool, calls: bool, text: str) -> tuple[Answer, str]:
    if tools and calls:
        return Answer.YES, "the Go template uses .Tools and .ToolCalls"
    if tools:
        return Answer.NO, "the Go template shows tools (.Tools), but can't replay calls of them (no .ToolCalls)"
    if calls:
        return Answer.NO, "the Go template replays calls (.ToolCalls), but never shows the tools (no .Tools)"
    if seen := [hint for hint in _HINTS if hint in text]:
        return Answer.UNKNOWN, f"the Go template has no .Tools, but speaks of {' and '.join(seen)}"
    return Answer.NO, "the Go template has neither .Tools nor .ToolCalls"


class _Action:
    __slots__ = ("code", "literals")

    def __init__(self, code: str, literals: tuple[str, ...]) -> None:
        self.code = code
        """What stands between the braces, its strings emptied and its comments gone."""
        self.literals = literals


_TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*+"|`[^`]*+`|\'(?:[^\'\\\n]|\\.)*+\'|\}\}')


def _actions(text: str) -> Iterator[_Action]:
    """The actions `{{ … }}` of a template, in order. One that never ends is left out."""
    start = text.find("{{")
    while start >= 0:
        position = start + 2
        if text.startswith("- ", position):
            position += 2
        comment = _comment(text, position)
        if comment is not None:
            if comment < 0:
                return
            yield _Action("/*", ())
            position = comment
        code: list[str] = []
        literals: list[str] = []
        while (token := _TOKEN.search(text, position)) and token[0] != "}}":
            code += text[position : token.start()], '""'
            literals.append(token[0][1:-1])
            position = token.end()
        if token is None:
            return
        code.append(text[position : token.start()])
        yield _Action("".join(code).removesuffix(" -"), tuple(literals))
        start = text.find("{{", token.end())


def _comment(text: str, position: int) -> int | None:
    """Where a comment that begins an action ends; -1 if it never does, `None` if there is none."""
    while text[position : position + 1] in (" ", "\t", "\n", "\r"):
        position += 1
    if not text.startswith("/*", position):
        return None
    end = text.find("*/", position + 2)
    return end + 2 if end >= 0 else -1
