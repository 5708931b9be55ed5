"""The grammars: each reads what stands behind an opener, and gives the calls there, or none if it is something else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from callgate.gate.recovery.literals import Literals, NoLiteral, python_calls
from callgate.gate.recovery.said import Said, object_of, said_in
from callgate.gate.recovery.shapes import Block
from callgate.gate.recovery.source import Reading, Source, finder
from callgate.gate.recovery.values import read_value

Grammar = Callable[[Source, Block], Reading[list[Said]]]

LONGEST_NAME = 256
CALL_ID = "[CALL_ID]"
"""Behind it stands the call's id, and then what stands between name and arguments."""
CUT = "missing-bracket"
"""The rule by which the end of a JSON text was mended."""
KIND = "function"
"""Some say first what kind of tool it is; there is but one."""
_FENCES = ("```json", "```")
_NAME = re.compile(r"[^\s<>{}\[\]()`|｜]*")
_SPACED_NAME = re.compile(r"[^\n<>{}\[\]()`|｜]*")
_NUMBERED = re.compile(r"(?:functions\.)?(.+):\d+")
_CALL_WORD = "call:"


def read_json(source: Source, block: Block) -> Reading[list[Said]]:
    """JSON objects with a name and arguments, alone, in an array, or one after another."""
    found: list[Said] = []
    while True:
        fence = yield from _opened_fence(source)
        text = yield from read_value(source)
        calls = _calls_in(text, keyed=block.keyed)
        if not calls:
            return []
        found += calls
        if fence:
            yield from _closed_fence(source)
        if not (yield from _goes_on(source, block)):
            return found


def _calls_in(text: str, *, keyed: bool) -> list[Said]:
    from callgate.tools import read_loosely

    read = read_loosely(text) if text else None
    return said_in(read.value, keyed=keyed, cut=CUT in read.rules) if read else []


def _goes_on(source: Source, block: Block) -> Reading[bool]:
    """Passes what ends the block; says whether another call comes before that."""
    while True:
        char = yield from source.skip_blank()
        if char and char in ";,":
            source.at += 1
        elif char == "{":
            return True
        elif char and char in "}]" and block.close:  # one too many
            source.at += 1
        else:
            if block.close:
                yield from source.take_end(finder(*block.close))
            return False


def _opened_fence(source: Source) -> Reading[str]:
    char = yield from source.skip_blank()
    return (yield from source.take(finder(*_FENCES))) if char == "`" else ""


def _closed_fence(source: Source) -> Reading[None]:
    yield from source.skip_blank()
    yield from source.take(finder("```"))


def read_named(source: Source, block: Block) -> Reading[list[Said]]:
    """A name, and behind it a JSON object: `get_weather[ARGS]{"city": "Paris"}`."""
    name, between = yield from _name_before(source, block)
    if between == CALL_ID:
        _, between = yield from _name_before(source, block)
    elif name == KIND and between:
        name, _ = yield from _name_before(source, block)
    return (yield from read_arguments(source, block, name, announced=bool(between)))


def _name_before(source: Source, block: Block) -> Reading[tuple[str, str]]:
    yield from source.skip_blank()
    name = (yield from source.while_in(_SPACED_NAME, LONGEST_NAME)).strip()
    yield from source.skip_blank()
    between = (yield from source.take(finder(*block.between))) if block.between else ""
    return name, between


def read_arguments(source: Source, block: Block, name: str, *, announced: bool) -> Reading[list[Said]]:
    """The JSON object of a call whose name was read."""
    if block.numbered:
        numbered = _NUMBERED.fullmatch(name)
        if not numbered:
            return []
        name = numbered[1]
    if len(name) > LONGEST_NAME or (block.between and not announced and not block.joined):
        return []
    fence = yield from _opened_fence(source)
    text = yield from read_value(source, brackets="{")
    arguments = _object_in(text) if text else None
    if arguments is None and (text or not announced):
        return []
    if fence:
        yield from _closed_fence(source)
    closed = ""
    if block.close:
        yield from source.skip_blank()
        closed = yield from source.take_end(finder(*block.close))
    return [Said(name, arguments or {})] if text or closed else []


def _object_in(text: str) -> dict[str, Any] | None:
    from callgate.tools import read_loosely

    read = read_loosely(text)
    return read.value if read and isinstance(read.value, dict) else None


def read_mistral(source: Source, block: Block) -> Reading[list[Said]]:
    """What stands behind `[TOOL_CALLS]`: an array of calls, or one with its name first."""
    char = yield from source.skip_blank()
    if char == "[":
        return (yield from read_json(source, block))
    if char == "{":
        text = yield from read_value(source)
        calls = _calls_in(text, keyed=False)
        if calls:
            return calls
        arguments = object_of(text)
        return [Said("", arguments)] if arguments else []
    return (yield from read_named(source, block))


def read_pythonic(source: Source, block: Block) -> Reading[list[Said]]:
    """Calls as Python writes them, in brackets or line by line."""
    char = yield from source.skip_blank()
    if char == "{":
        return (yield from read_json(source, block))
    before = source.held()
    if block.close:
        text, closed = yield from source.until(finder(*block.close, *block.open))
        if closed in block.close:
            return python_calls(text) or python_calls(text, greedy=True) or _calls_in(text, keyed=False)
        source.back(before)
    if char == "[":
        text = yield from read_value(source, brackets="[", loose=True)
    else:
        parts: list[str] = []
        while True:
            name = yield from source.while_in(_NAME, LONGEST_NAME)
            inside = (yield from read_value(source, brackets="(", loose=True)) if name else ""
            if not inside:
                break
            parts.append(name + inside)
            char = yield from source.skip_blank()
            if char and char in ",;":
                source.at += 1
                yield from source.skip_blank()
        text = "\n".join(parts)
    calls = (python_calls(text) or _calls_in(text, keyed=False)) if text else []
    if calls and block.close:
        yield from source.skip_blank()
        yield from source.take_end(finder(*block.close))
    return calls


def read_gemma(source: Source, block: Block) -> Reading[list[Said]]:
    """`call:get_weather{city:<escape>Paris<escape>}`."""
    yield from source.skip_blank()
    yield from source.take(finder(_CALL_WORD))
    name = (yield from source.while_in(_SPACED_NAME, LONGEST_NAME)).strip()
    text = yield from read_value(source, quotes=block.quotes, brackets="{")
    if not name or not text:
        return []
    arguments = _marked_object(text, block)
    if arguments is None:
        return []
    if block.close:
        yield from source.skip_blank()
        yield from source.take_end(finder(*block.close))
    return [Said(name, arguments)]


def _marked_object(text: str, block: Block) -> dict[str, object] | None:
    """Where the mark behind the last text was forgotten, it goes before the last bracket."""
    for end in block.close:
        text = text.removesuffix(end)
    open_marks = [mark for mark in block.quotes if text.count(mark) % 2 and text.endswith("}")]
    for candidate in (text, *(f"{text[:-1]}{mark}}}" for mark in open_marks)):
        try:
            found = Literals(candidate, quotes=block.quotes).value()
        except NoLiteral:
            continue
        if isinstance(found, dict):
            return found
    return None
