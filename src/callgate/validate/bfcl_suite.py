"""Cases out of a user's copy of the Berkeley Function Calling Leaderboard, judged by its rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from callgate.validate.bfcl_data import (
    CATEGORIES,
    Answer,
    Entry,
    Function,
    has_category,
    read_category,
    wants_any_call,
    wants_no_call,
)
from callgate.validate.bfcl_rules import judge_bfcl
from callgate.validate.bfcl_schema import json_schema
from callgate.validate.case_records import Case, Expected, KnownCase
from callgate.validate.heard import Fault, Heard
from callgate.vocabulary import NotFound, Tool, UsageError

MOST_TOKENS = 1024
"""Of a turn: some questions ask for eight calls."""
_LANGUAGE = " Note that the provided function is in Python 3 syntax."
"""What the leaderboard itself adds to each description, and without which figures could not be held against it."""


def bfcl_cases(folder: str, categories: Sequence[str] | None = None, limit: int | None = None) -> tuple[KnownCase, ...]:
    """`categories`: of those there are, CATEGORIES by default. `limit`: so many of each, evenly out of all of it.

    Raises: NotFound or UsageError, if the data isn't there, or isn't what it should be.
    """
    chosen = categories or [category for category in CATEGORIES if has_category(folder, category)]
    if not chosen:
        raise NotFound(
            f"there is nothing of BFCL in {folder!r}",
            hint="it should have files such as BFCL_v4_multiple.json, and a folder possible_answer",
        )
    return tuple(
        _case(category, entry, answer)
        for category in dict.fromkeys(chosen)
        for entry, answer in _some(read_category(folder, category), limit)
    )


def _some(entries: Sequence[tuple[Entry, Answer | None]], limit: int | None) -> Sequence[tuple[Entry, Answer | None]]:
    if limit is None or limit >= len(entries):
        return entries
    return [entries[number * len(entries) // limit] for number in range(limit)]


def _case(category: str, entry: Entry, answer: Answer | None) -> KnownCase:
    system, history, question = _conversation(entry)

    def judge(heard: Heard, strict: bool) -> Fault | None:
        fault = judge_bfcl(category, entry, answer, heard.calls)
        mended = next((call for call in heard.calls if call.repairs), None) if strict else None
        if fault is None and mended is not None and not wants_no_call(category):
            return Fault("invalid-arguments", f"the call of {mended.name!r} had to be mended")
        return fault

    return KnownCase(
        case=Case(
            name=f"bfcl/{category}/{entry.id}",
            check="bfcl" + "".join(word.capitalize() for word in category.split("_")),
            about=f"BFCL, {category.replace('_', ' ')}",
            ask=(question,),
            expect=Expected(calls=()) if wants_no_call(category) else Expected(any_valid_call=True),
            tools=tuple(function.name for function in entry.functions),
            system=system,
            history=history,
            max_tokens=MOST_TOKENS,
        ),
        tools=tuple(_tool(function) for function in entry.functions),
        is_users=True,
        own_judge=judge,
        own_expected=_expected(category, answer),
    )


def _expected(category: str, answer: Answer | None) -> Any:
    if wants_any_call(category):
        return {"calls": "any"}
    return {"calls": answer.ground_truth if answer else []}


def _tool(function: Function) -> Tool:
    return Tool(function.name, function.description + _LANGUAGE, json_schema(function.parameters))


def _conversation(entry: Entry) -> tuple[str | None, tuple[dict[str, Any], ...], str]:
    """System prompt, what was said before, and the question."""
    turns = entry.question
    if isinstance(turns, str):
        return None, (), turns
    if isinstance(turns, list) and turns and isinstance(turns[0], list):
        if len(turns) > 1:
            raise UsageError(f"{entry.id!r} has several turns, and callgate judges one only")
        turns = turns[0]
    said = turns if isinstance(turns, list) else []
    messages: list[dict[str, Any]] = []
    for message in said:
        if not isinstance(message, Mapping) or not all(
            isinstance(message.get(key), str) for key in ("role", "content")
        ):
            raise UsageError(f"the question of {entry.id!r} is no conversation")
        messages.append({"role": message["role"], "content": message["content"]})
    if not messages or messages[-1]["role"] != "user":
        raise UsageError(f"the question of {entry.id!r} doesn't end with what a user says")
    system = messages.pop(0)["content"] if messages[0]["role"] == "system" else None
    return system, tuple(messages[:-1]), messages[-1]["content"]
