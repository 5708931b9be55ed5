"""The grammars: each reads what stands behind an opener, and gives the calls there, or none if it is something else."""

from __future__ import annotations

import re
from collections.abc import Callable

from callgate.gate.recovery.finders import finder
from callgate.gate.recovery.literals import Literals, NoLiteral, python_calls
from callgate.gate.recovery.said import Said, object_of, said_in_text, with_flaws
from callgate.gate.recovery.shapes import Block
from callgate.gate.recovery.source import Reading, Source
from callgate.gate.recovery.values import read_value
from callgate.tools import Loose, read_loosely

Grammar = Callable[[Source, Block], Reading[list[Said]]]

LONGEST_NAME = 256
CALL_ID = "[CALL_ID]"
"""Behind it stands the call's id, and then what stands between name and arguments."""
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
        calls = said_in_text(text, keyed=block.keyed)
        if not calls:
            return []
        found += calls
        if fence:
            yield from _closed_fence(source)
        goes_on, flaws = yield from _goes_on(source, block)
        if flaws:
            found[-1] = with_flaws(found[-1], flaws)
        if not goes_on:
            return found


def _goes_on(source: Source, block: Block) -> Reading[tuple[bool, tuple[str, ...]]]:
    """Passes what ends the block; says whether another call comes before that, and what was wrong with the last."""
    flaws: tuple[str, ...] = ()
    while True:
        char = yield from source.skip_blank()
        if char and char in ";,":
            source.at += 1
        elif char == "{":
            return True, flaws
        elif char and char in "}]" and block.close:
            source.at += 1
            flaws = ("stray-bracket",)
        else:
            if block.close:
                yield from source.take_end(finder(*block.close))
            return False, flaws


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
    read = read_loosely(text) if text else Loose({})
    if read is None or not isinstance(read.value, dict) or not (text or announced):
        return []
    if fence:
        yield from _closed_fence(source)
    closed = ""
    if block.close:
        yield from source.skip_blank()
        closed = yield from source.take_end(finder(*block.close))
    return [Said(name, read.value, flaws=read.rules)] if text or closed else []


def read_mistral(source: Source, block: Block) -> Reading[list[Said]]:
    """What stands behind `[TOOL_CALLS]`: an array of calls, or one with its name first."""
    char = yield from source.skip_blank()
    if char == "[":
        return (yield from read_json(source, block))
    if char == "{":
        text = yield from read_value(source)
        calls = said_in_text(text)
        if calls:
            return calls
        read = object_of(text)
        return [Said("", read.value, flaws=read.rules)] if read and read.value else []
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
            return python_calls(text) or python_calls(text, greedy=True) or said_in_text(text)
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
    calls = (python_calls(text) or said_in_text(text)) if text else []
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
