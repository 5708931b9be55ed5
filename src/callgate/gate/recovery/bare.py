"""Calls that nothing announces: only their shape says what they are, so that place and shape must fit.

- JSON, an object or an array of them, with a name and arguments and nothing that calls don't have, and
  `[get_weather(city='Paris')]`: one or several in a row that are a whole answer, or begin a line behind words and end
  the answer. With words behind them they are what somebody writes about calls. Never inside of other JSON, nor in an
  expression. Only if every name counts, or the model is known to write so, also within a line and with words behind.
- A whole answer, or all of it behind the thinking: fenced blocks of calls only, `get_weather(city='Paris')`, a
  tool's name with its arguments behind it. A fenced block with words before or behind it shows an example.
"""

from __future__ import annotations

import re

from callgate.gate.recovery import grammars, tagged
from callgate.gate.recovery.announced import Candidate
from callgate.gate.recovery.finders import finder
from callgate.gate.recovery.grammars import LONGEST_NAME
from callgate.gate.recovery.literals import python_calls
from callgate.gate.recovery.lookout import FENCE, Lookout
from callgate.gate.recovery.offered import Offers
from callgate.gate.recovery.said import ARGUMENT_KEYS, CALL_KEYS, Said, said_in_read, said_in_text
from callgate.gate.recovery.shapes import Block
from callgate.gate.recovery.source import Reading, Source
from callgate.gate.recovery.values import Scan, read_value, scan_value
from callgate.tools import read_loosely

_WORD = re.compile(r"[^\W\d][\w.\-]*")
_ESSENTIAL = re.compile("|".join((*ARGUMENT_KEYS, "function", "tool_calls")))
"""Without one of these there is no call."""
_INFO = re.compile(r"[\w+-]*")
_SEPARATORS = ("<｜tool▁sep｜>", "<|tool▁sep|>", "[ARGS]", "<|tool_call_argument_begin|>")
_GEMMA = Block((), "gemma", ("<tool_call|>",), quotes=('<|"|>', "<escape>"))
_KIND = finder(*(grammars.KIND + separator for separator in _SEPARATORS[:2]))
LONGEST_INFO = 32
"""Of what stands behind a fence: the name of a language."""
_NAME = re.compile(r"[\w.\-]*")


def read_last(source: Source, offers: Offers, look: Lookout) -> Reading[Candidate | None]:
    """Calls from here to the end of the answer; one with no calls in it, if what was read is text for sure."""
    calls: list[Said] = []
    first: Candidate | None = None
    while True:
        before = source.held()
        candidate = yield from read_bare(source, offers, look)
        if candidate is None or not candidate.calls or not offers.knows_all(candidate):
            if first is None:
                return _data(source, look, before, source.raw(before)) if candidate and candidate.calls else candidate
            source.back(before)
            return Candidate([], first.format)
        first = first or candidate
        calls += candidate.calls
        while (char := (yield from source.skip_blank())) and (yield from source.take(look.tail_finder)):
            pass
        if not char:
            return Candidate(calls, first.format)
        if char not in "{[":
            return Candidate([], first.format)


def read_bare(source: Source, offers: Offers, look: Lookout) -> Reading[Candidate | None]:
    """A call, or several in brackets, from the bracket at which the source stands; or other JSON, with no calls."""
    before = source.held()
    char = source.text[source.at]
    if char == "[":
        source.at += 1
        char = yield from source.skip_blank()
        if char == "{":
            source.back(before)
    if char == "{":
        return (yield from _read_json(source, look, before)) if "json" in look.bare else None
    if "pythonic" not in look.bare:
        return None
    word = yield from _word(source, offers)
    if not word or (yield from source.skip_blank()) != "(":
        return None
    source.back(before)
    text = yield from read_value(source, brackets="[", loose=True)
    calls = python_calls(text, words=False)
    return Candidate(calls, "pythonic") if calls else None


def _read_json(source: Source, look: Lookout, before: int) -> Reading[Candidate | None]:
    """Gives up at the first key that no call has."""
    scan = Scan(keys=CALL_KEYS)
    yield from scan_value(source, scan)
    text = source.raw(before)
    if scan.over and (scan.open or not _ESSENTIAL.search(text)):
        return _data(source, look, before, text)
    read = read_loosely(text)
    if read is None:
        return None
    calls = said_in_read(read, bare=True)
    if not calls:
        return _data(source, look, before, text)
    return Candidate(calls, "llama3_json" if text.startswith("{") else "xlam")


def _data(source: Source, look: Lookout, before: int, text: str) -> Candidate | None:
    """What was read since `before` is no call, so that it is text for sure, and all in it too, unless that has tags."""
    start, tag = look.tags.find(text, 0, len(text), ended=False)
    if tag or not start:
        return None
    if start < len(text):
        source.back(before + start)
    return Candidate([], "")


def _word(source: Source, offers: Offers) -> Reading[str]:
    """The tool's name that comes next, passed; "" as soon as it can't be one."""
    yield from source.ahead(1)
    while True:
        match = _WORD.match(source.text, source.at, source.at + LONGEST_NAME + 1)
        if not match or len(match.group()) > LONGEST_NAME or not offers.could_begin(match.group()):
            return ""
        if match.end() < len(source.text) or source.ended:
            if not offers.is_name(match.group()):
                return ""
            source.at = match.end()
            return match.group()
        yield


def read_fenced(source: Source) -> Reading[Candidate | None]:
    """Fenced blocks from here to the end with nothing but calls in them."""
    found: Candidate | None = None
    while (yield from source.take(finder(FENCE))):
        yield from source.while_in(_INFO, LONGEST_INFO)
        char = yield from source.skip_blank()
        if not char or char not in "{[":
            return None
        text = yield from read_value(source, loose=False)
        calls = said_in_text(text, bare=True) or python_calls(text, words=False)
        yield from source.skip_blank()
        if not calls or not (yield from source.take(finder(FENCE))):
            return None
        found = Candidate([*(found.calls if found else ()), *calls], "xlam")
        if not (yield from source.skip_blank()):
            return found
    return None


def read_first_words(source: Source, offers: Offers) -> Reading[Candidate | None]:
    """A whole answer that begins with a tool's name."""
    yield from source.skip_blank()
    if (yield from source.take(finder("call:"))):
        word = yield from _word(source, offers)
        source.at -= len(word)
        calls = (yield from grammars.read_gemma(source, _GEMMA)) if word else []
        return Candidate(calls, "gemma4") if calls and not (yield from source.skip_blank()) else None
    if (yield from source.take(_KIND)):
        calls = yield from grammars.read_named(source, Block((), "named"))
        return Candidate(calls, "deepseek_v3_fenced_json") if calls else None
    word = yield from _word(source, offers)
    if not word:
        return None
    char = yield from source.ahead(1)
    if char == "(":
        return (yield from _python_lines(source, offers))
    separator = yield from source.take(finder(*_SEPARATORS))
    if separator:
        calls = yield from grammars.read_arguments(
            source, Block((), "named", between=_SEPARATORS), word, announced=True
        )
        return Candidate(calls, "deepseek_v3.1") if calls else None
    if char != "\n":
        return None
    char = yield from source.skip_blank()
    if char == "<":
        calls = yield from tagged.read_pairs_of(source, Block((), "pairs", ("</tool_call>",)), word, whole=True)
        return Candidate(calls, "glm4.5+_xml") if calls and any(call.arguments for call in calls) else None
    if char == "{":
        calls = yield from grammars.read_arguments(source, Block((), "named"), word, announced=False)
        return Candidate(calls, "functionary_v3.2") if calls and not (yield from source.skip_blank()) else None
    return None


def _python_lines(source: Source, offers: Offers) -> Reading[Candidate | None]:
    source.back()
    parts: list[str] = []
    while True:
        char = yield from source.skip_blank()
        if char and char in ",;":
            source.at += 1
            continue
        name = yield from source.while_in(_NAME, LONGEST_NAME)
        if not name:
            break
        inside = yield from read_value(source, brackets="(", loose=True)
        if not inside:
            return None
        parts.append(name + inside)
    if char:
        return None
    calls = python_calls("\n".join(parts), words=False)
    return Candidate(calls, "lfm2_pythonic") if calls and all(map(offers.has_parameters, calls)) else None
