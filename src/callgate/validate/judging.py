"""Whether a turn was right: the calls by name and arguments, the answer by what it has in it.

Kinds of failure, each a word for programs:

    no-call                 it had to call a tool, and only spoke
    text-call               its call came as text, and nobody looked for it there
    missing-call            it made some of the calls, and not all
    extra-call              it made more calls than there were to make
    wrong-order             it made the calls, one before its turn
    wrong-name              it called a tool that isn't there
    wrong-tool              it called another tool than it should have
    wrong-arguments         the arguments fit the tool, and are others than they should be
    invalid-arguments       the arguments don't fit the tool
    called-without-need     it called a tool, and had none to call
    empty                   it said nothing
    result-unused           what a tool gave isn't in the answer
    wrong-text              the answer lacks something, or has something that it must not have
    invalid-json, wrong-json    the answer is no JSON, or another than it should be
    in-one-piece            the answer didn't come bit by bit
    cut-off                 the longest answer that it may give was too short for what it had to say
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from callgate.gate import recover
from callgate.tools import repair
from callgate.validate.case_records import Expected, ExpectedCall
from callgate.validate.heard import MOST_CALLS, Fault, Heard
from callgate.validate.judging_arguments import are_right, are_same
from callgate.vocabulary import Tool, ToolCall

_WITH_ANY_LENGTH = frozenset({"called-without-need", "text-call", "wrong-name", "wrong-tool"})
"""What a longer answer wouldn't have mended. Who has only talked so far might still have called."""
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*(?!\w)")
_APOSTROPHES = str.maketrans("’‘ʼ", "'''")
_THOUSANDS = re.compile(r"(?<=\d)[,'’\u00a0\u2009\u202f _](?=\d{3}(?!\d))")
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL | re.IGNORECASE)
_MARKS = re.compile(
    r"<\|[a-z_]+\|>|</?(?:eos|bos|start_of_turn|end_of_turn)>|\[/?INST\]|\A\s*<s>|</s>\s*\Z", re.IGNORECASE
)
"""Of chat templates: in an answer they are a leak."""


def judge(
    expect: Expected, heard: Heard, tools: Sequence[Tool], *, strict: bool = False, after_result: bool = False
) -> Fault | None:
    """What was wrong with the turn; `None`, if it was right.

    `strict`: a call that callgate had to mend was wrong. `after_result`: the turn had what tools gave before it.
    """
    fault = _judged_calls(expect, heard, {tool.name: tool for tool in tools}, strict)
    if fault is None and not expect.has_calls:
        fault = _judged_text(expect, heard, tools, after_result)
    if fault is not None and heard.was_cut:
        kind = fault.kind if fault.kind in _WITH_ANY_LENGTH else "cut-off"
        return Fault(kind, f"{fault.reason}; the answer was cut off")
    return fault


def expected_as_json(expect: Expected) -> dict[str, Any]:
    """What was expected, without what wasn't asked for."""
    given, nothing = (msgspec.json.decode(msgspec.json.encode(each)) for each in (expect, Expected()))
    shown = {name: value for name, value in given.items() if value != nothing[name]}
    if expect.calls:
        shown["calls"] = [{name: value for name, value in call.items() if value} for call in given["calls"]]
    return shown


def _judged_calls(expect: Expected, heard: Heard, tools: Mapping[str, Tool], strict: bool) -> Fault | None:
    if expect.any_valid_call:
        faults = [fault for call in heard.calls if (fault := _unfit(call, tools, strict))]
        return faults[0] if faults else None if heard.calls else _no_call(heard, tools)
    if not expect.calls:
        if heard.calls:
            return Fault("called-without-need", f"it called {_named(heard.calls)}, and had nothing to call")
        return None
    if not heard.calls:
        return _no_call(heard, tools)
    if len(heard.calls) > MOST_CALLS:
        return Fault("extra-call", f"it made {len(heard.calls)} calls")
    return _paired(expect, heard.calls, tools, strict)


def _no_call(heard: Heard, tools: Mapping[str, Tool]) -> Fault:
    if not heard.text.strip():
        return Fault("empty", "it neither called a tool nor said anything")
    if _has_text_call(heard.text, tools.values()):
        return Fault("text-call", "its call came as text")
    return Fault("no-call", "it had to call a tool, and only spoke")


def _has_text_call(text: str, tools: Any) -> bool:
    return bool(recover(text, tuple(tools)).calls)


def _unfit(call: ToolCall, tools: Mapping[str, Tool], strict: bool) -> Fault | None:
    """What is wrong with a call, whatever was expected. Its values aren't quoted: they are under `got`."""
    if call.name not in tools:
        return Fault("wrong-name", f"there is no tool {call.name[:80]!r}")
    if not isinstance(call.arguments, Mapping):
        return Fault("invalid-arguments", f"the arguments of {call.name!r} are no object")
    if call.problem is not None:
        return Fault("invalid-arguments", call.problem)
    if errors := repair(call.arguments, tools[call.name].parameters).errors:
        return Fault("invalid-arguments", f"the arguments of {call.name!r} don't fit: {'; '.join(errors)}")
    if strict and call.repairs:
        mended = call.repairs[0]
        kind = "wrong-name" if mended.path == "name" else "invalid-arguments"
        return Fault(kind, f"the call of {call.name!r} had to be mended at {mended.path or '/'!r} ({mended.rule})")
    return None


def _paired(expect: Expected, calls: Sequence[ToolCall], tools: Mapping[str, Tool], strict: bool) -> Fault | None:
    wanted = list(expect.calls or ())
    left = list(calls)
    unmet: list[ExpectedCall] = []
    for call in wanted:
        candidates = left[:1] if expect.ordered else left
        fitting = (each for each in candidates if not _unfit(each, tools, strict))
        found = next((each for each in fitting if is_expected(call, each, tools)), None)
        if found is None:
            unmet.append(call)
        else:
            left.remove(found)
    if not unmet and expect.more_calls:
        return next((fault for each in left if (fault := _unfit(each, tools, strict))), None)
    if not unmet:
        return Fault("extra-call", f"it also called {_named(left)}") if left else None
    if not left:
        return Fault("missing-call", f"it didn't call {_wanted(unmet)}")
    meant = next((each for each in left if any(each.name in call.names for call in unmet)), None)
    if meant is None:
        return _unfit(left[0], tools, strict) or Fault("wrong-tool", f"it called {_named(left)}, not {_wanted(unmet)}")
    if fault := _unfit(meant, tools, strict):
        return fault
    if expect.ordered and any(is_expected(call, meant, tools) for call in unmet):
        return Fault("wrong-order", f"it called {meant.name!r} out of its turn")
    return Fault("wrong-arguments", f"it called {meant.name!r} with other arguments than it should have")


def is_expected(expected: ExpectedCall, call: ToolCall, tools: Mapping[str, Tool]) -> bool:
    """Whether it is this very call, by name and arguments."""
    return (
        call.name in expected.names
        and call.name in tools
        and isinstance(call.arguments, Mapping)
        and are_right(expected, call.arguments, tools[call.name].parameters)
    )


def _named(calls: Sequence[ToolCall]) -> str:
    return ", ".join(repr(call.name[:80]) for call in calls[:5]) + (" …" if len(calls) > 5 else "")


def _wanted(expected: Sequence[ExpectedCall]) -> str:
    return ", ".join(" or ".join(map(repr, call.names)) for call in expected)


def _judged_text(expect: Expected, heard: Heard, tools: Sequence[Tool], after_result: bool) -> Fault | None:
    if not heard.text.strip():
        return Fault("empty", "it said nothing")
    if expect.calls == () and tools and _has_text_call(heard.text, tools):
        return Fault("text-call", "it called a tool in its text, and had nothing to call")
    if mark := _MARKS.search(heard.text):
        return Fault("wrong-text", f"its answer has {mark[0]!r} in it, which belongs to its chat template")
    if expect.json is not None and (fault := _judged_json(expect.json, heard.text)):
        return fault
    said = _plain(heard.text)
    for wanted in expect.mentions:
        choices = (wanted,) if isinstance(wanted, str) else wanted
        if not any(_has(said, choice) for choice in choices):
            kind = "result-unused" if after_result else "wrong-text"
            return Fault(kind, f"its answer doesn't mention {' or '.join(map(repr, choices))}")
    for unwanted in expect.avoids:
        if _has(said, unwanted):
            return Fault("wrong-text", f"its answer mentions {unwanted!r}")
    if expect.no_numbers and (number := _NUMBER.search(said)):
        return Fault("wrong-text", f"its answer has the number {number[0][:40]} in it, which it can't know")
    if heard.pieces < expect.pieces:
        return Fault("in-one-piece", f"its answer came in {heard.pieces} piece(s), not bit by bit")
    return None


def _judged_json(expected: object, text: str) -> Fault | None:
    fenced = _FENCED.search(text)
    try:
        got = msgspec.json.decode((fenced[1] if fenced else text).strip())
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return Fault("invalid-json", "its answer is no JSON")
    return None if are_same(expected, got) else Fault("wrong-json", "its answer is other JSON than it should be")


def _plain(text: str) -> str:
    return _THOUSANDS.sub("", unicodedata.normalize("NFKC", text)).casefold().translate(_APOSTROPHES)


def _has(said: str, wanted: str) -> bool:
    """As a word of its own: 12345 isn't in 9123456."""
    # Not every script has spaces between words.
    plain = _plain(wanted)
    spellings = [re.escape(plain)]
    if plain.isdecimal() and len(plain) > 3:
        spellings.append(rf"{plain[:-3]}\.{plain[-3:]}")  # as half of Europe writes it
    return re.search(rf"(?<![0-9a-z])(?:{'|'.join(spellings)})(?![0-9a-z])", said) is not None
