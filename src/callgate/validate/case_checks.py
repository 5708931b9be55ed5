"""What is wrong with a case, found when it is read: what could never fail, never pass, or is never looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from callgate.runtime import read_messages
from callgate.tools import repair
from callgate.validate.case_records import Case, Expected, ExpectedCall, Step
from callgate.validate.filling import Filled
from callgate.vocabulary import Tool, UsageError

MOST_TOKENS = 1_000_000
MOST_REPEATS = 10
DEEPEST = 32
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})


def flaw_of(case: Case, offered: Mapping[str, Tool]) -> str | None:
    """As it is written, whatever its values."""
    return next(_flaws(case, offered), None)


def flaw_as_put(case: Filled, tools: Mapping[str, Tool]) -> str | None:
    """With values in it."""
    try:
        read_messages(case.history)
    except UsageError as error:
        return f"has a history that is no good: {error.message}"
    for expect in (case.expect, *(step.expect for step in case.then)):
        if any(not word for word in _words(expect)):
            return "has an empty text under 'mentions' or 'avoids'"
        for call in expect.calls or ():
            if flaw := next(_call_flaws(call, tools), None):
                return flaw
    return None


def _flaws(case: Case, offered: Mapping[str, Tool]) -> Iterator[str]:
    if not 1 <= case.max_tokens <= MOST_TOKENS:
        yield f"has {case.max_tokens} max_tokens"
    if case.tool_choice not in (None, "auto", "none") and not offered:
        yield f"has the tool_choice {case.tool_choice!r}, and offers no tool"
    if case.schema is not None and (wrong := _wrong_type(case.schema)):
        yield f"has a schema with the type {wrong!r}, which there isn't"
    before = case.expect
    yield from _expected_flaws(case, case.expect)
    for step in case.then:
        if not before.has_calls:
            yield "has a step under 'then' after a turn without calls"
        yield from _step_flaws(step, before, offered)
        yield from _expected_flaws(case, step.expect)
        before = step.expect


def _expected_flaws(case: Case, expect: Expected) -> Iterator[str]:
    if expect.says_nothing:
        yield "can't fail"
    if expect.any_valid_call and expect.calls is not None:
        yield "expects certain calls, or none, and any valid call"
    about_words = expect.mentions or expect.avoids or expect.json is not None or expect.pieces or expect.no_numbers
    if expect.has_calls and about_words:
        yield "expects calls and words of one turn: the words belong to the next, under 'then'"
    if expect.has_calls and (case.tools_off or case.tool_choice == "none"):
        yield "expects calls, and switches tools off: it can't pass"
    if any(isinstance(each, tuple) and not each for each in expect.mentions):
        yield "has an empty list under 'mentions': it can't pass"
    if expect.pieces < 0:
        yield f"expects {expect.pieces} pieces"


def _step_flaws(step: Step, before: Expected, offered: Mapping[str, Tool]) -> Iterator[str]:
    if not 0 <= step.repeats <= MOST_REPEATS:
        yield f"has {step.repeats} repeats: there may be 0 to {MOST_REPEATS}"
    for name, result in step.results.items():
        if name not in offered:
            yield f"has a result of {name!r}, which it doesn't offer"
        expected = sum(name in call.names for call in before.calls or ())
        if isinstance(result, tuple) and len(result) != expected:
            yield f"has {len(result)} results of {name!r} for {expected} calls"


def _words(expect: Expected) -> Iterator[str]:
    for each in expect.mentions:
        yield from (each,) if isinstance(each, str) else each
    yield from expect.avoids


def _call_flaws(call: ExpectedCall, tools: Mapping[str, Tool]) -> Iterator[str]:
    for name in call.names:
        if name not in tools:
            yield f"expects a call of {name!r}, which it doesn't offer"
            return
        if not isinstance(call.arguments, dict):
            yield f"expects arguments of {name!r} that are no object"
            return
        schema = tools[name].parameters
        for argument in (*call.arguments, *call.accept, *call.optional):
            if not _takes(schema, argument):
                yield f"expects the argument {argument!r} of {name!r}, which that doesn't have"
        yield from _unfit(name, call.arguments, schema)
        for also in (call.accept, call.optional):
            for argument, values in also.items():
                for value in values:
                    yield from _unfit(name, {**call.arguments, argument: value}, schema)


def _unfit(name: str, arguments: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[str]:
    mended = repair(arguments, schema)
    if mended.errors or mended.repairs:
        what = mended.errors[0] if mended.errors else f"{mended.repairs[0].path} isn't of its type"
        yield f"expects arguments of {name!r} that don't fit: {what}"


def _takes(schema: Mapping[str, Any], argument: str) -> bool:
    properties = schema.get("properties")
    if isinstance(properties, Mapping) and argument in properties:
        return True
    takes_more = schema.get("additionalProperties")
    return takes_more is True or isinstance(takes_more, Mapping) or "patternProperties" in schema or "$ref" in schema


def _wrong_type(schema: Any, depth: int = DEEPEST) -> str | None:
    """The first type in a schema that there isn't."""
    if depth <= 0 or not isinstance(schema, Mapping):
        return None
    given = schema.get("type")
    for name in given if isinstance(given, list) else [] if given is None else [given]:
        if name not in _TYPES:
            return str(name)[:80]
    inner: list[Any] = [schema.get("items"), schema.get("additionalProperties")]
    for word in ("properties", "$defs", "definitions"):
        below = schema.get(word)
        inner += below.values() if isinstance(below, Mapping) else []
    for word in ("anyOf", "oneOf", "allOf", "prefixItems"):
        below = schema.get(word)
        inner += below if isinstance(below, list) else []
    return next((wrong for each in inner if (wrong := _wrong_type(each, depth - 1))), None)
