"""The Berkeley Function Calling Leaderboard's data, in a user's own copy: questions, functions, accepted answers.

A category is a file of JSON lines, `BFCL_v4_multiple.json`; what is accepted lies under the same name in the folder
`possible_answer`. We ship none of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from callgate.vocabulary import NotFound, UsageError

CATEGORIES = ("simple", "multiple", "parallel", "irrelevance")
"""Those that are run unless others are named."""
MORE_CATEGORIES = (
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
    "live_irrelevance",
    "live_relevance",
)
LARGEST_FILE = 256 << 20
MOST_ENTRIES = 100_000
_OTHER_NAMES = {"simple": ("simple_python", "simple")}
"""Since version 4, other languages have files of their own."""
_PLACES = (
    "",
    "data",
    "bfcl_eval/data",
    "berkeley-function-call-leaderboard/bfcl_eval/data",
    "berkeley-function-call-leaderboard/data",
)
_ANSWERS = "possible_answer"
_HINT = (
    "it should be the folder `data` of a copy of the leaderboard, with BFCL_v4_multiple.json and possible_answer in it"
)


class Function(msgspec.Struct, frozen=True):
    """A function as the leaderboard describes it, in its own dialect of JSON Schema."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """One question."""

    id: str
    question: Any
    """Turns, each a list of messages; once it was a list of messages, or a text."""
    function: list[Function] | Function

    @property
    def functions(self) -> list[Function]:
        return [self.function] if isinstance(self.function, Function) else self.function


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What is accepted: for each call its name and, by parameter, the values that are right; "" may be left out."""

    id: str
    ground_truth: list[dict[str, dict[str, list[Any]]]]


Line = TypeVar("Line", Entry, Answer)


def wants_no_call(category: str) -> bool:
    return category.endswith("irrelevance")


def wants_any_call(category: str) -> bool:
    return category.endswith("_relevance")


def read_category(folder: str, category: str) -> list[tuple[Entry, Answer | None]]:
    """Each question with what is accepted; with `None`, where the category asks only whether there is a call at all.

    Raises: NotFound or UsageError, if it isn't there, or isn't what it should be.
    """
    if category not in (*CATEGORIES, *MORE_CATEGORIES):
        known = ", ".join((*CATEGORIES, *MORE_CATEGORIES))
        raise UsageError(f"there is no category {category!r} of BFCL that callgate can judge", hint=f"it can: {known}")
    path = _path_of(folder, category)
    entries = list(_lines(path, Entry))
    if wants_no_call(category) or wants_any_call(category):
        return [(entry, None) for entry in entries]
    beside = os.path.join(os.path.dirname(path), _ANSWERS, os.path.basename(path))
    return list(zip(entries, _matching(entries, list(_lines(beside, Answer)), beside), strict=True))


def has_category(folder: str, category: str) -> bool:
    """Raises: NotFound, if there is no such folder."""
    return next(_paths(folder, category), None) is not None


def _path_of(folder: str, category: str) -> str:
    path = next(_paths(folder, category), None)
    if path is None:
        raise NotFound(f"there is no category {category!r} of BFCL in {folder!r}", hint=_HINT)
    return path


def _paths(folder: str, category: str) -> Iterator[str]:
    """The newest version first."""
    if not os.path.isdir(folder):
        raise NotFound(f"there is no folder {folder!r}", hint=_HINT)
    for name in _OTHER_NAMES.get(category, (category,)):
        for place in _PLACES:
            inside = os.path.join(folder, place)
            if not os.path.isdir(inside):
                continue
            files = sorted(os.listdir(inside), reverse=True)
            for file in files:
                stem = file.removesuffix(".json").removesuffix(".jsonl")
                if stem != file and _category_of(stem) == name:
                    yield os.path.join(inside, file)


def _category_of(stem: str) -> str:
    """`BFCL_v4_live_simple` → `live_simple`; without a version, as it is."""
    start, _, rest = stem.partition("_v")
    return rest.partition("_")[2] if start == "BFCL" else stem


def _lines(path: str, kind: type[Line]) -> Iterator[Line]:
    decoder = msgspec.json.Decoder(kind)
    number = 0
    try:
        if os.path.getsize(path) > LARGEST_FILE:
            raise UsageError(f"{path!r} is too large for a category of BFCL", hint=_HINT)
        with open(path, "rb") as file:
            for number, line in enumerate(file, start=1):
                if number > MOST_ENTRIES:
                    raise UsageError(f"{path!r} has too many lines for a category of BFCL", hint=_HINT)
                if line.strip():
                    yield decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(f"line {number} of {path!r} is not in BFCL's form: {error}", hint=_HINT) from None
    except FileNotFoundError:
        raise NotFound(f"there is no file {path!r}", hint=_HINT) from None
    except OSError as error:
        raise UsageError(f"{path!r} can't be read: {error.strerror}") from None


def _matching(entries: Sequence[Entry], answers: Sequence[Answer], path: str) -> list[Answer]:
    """By their names; by their order, where names differ, as they do in some versions."""
    by_id: Mapping[str, Answer] = {answer.id: answer for answer in answers}
    found = [by_id.get(entry.id) for entry in entries]
    if any(answer is None for answer in found) and len(answers) == len(entries):
        found = list(answers)
    matched: list[Answer] = []
    for entry, answer in zip(entries, found, strict=True):
        if answer is None:
            raise UsageError(f"{path!r} has no answer to {entry.id!r}", hint=_HINT)
        offered = {function.name for function in entry.functions}
        for call in answer.ground_truth:
            if len(call) != 1 or not offered.issuperset(call):
                raise UsageError(f"the answer to {entry.id!r} in {path!r} calls what isn't offered", hint=_HINT)
        if not answer.ground_truth:
            raise UsageError(f"the answer to {entry.id!r} in {path!r} is empty", hint=_HINT)
        matched.append(answer)
    return matched
