"""Schemas made ready to validate by: compiled once, kept for the next call, and never fetched from anywhere."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec

from callgate.tools.loose_json import depth_of
from callgate.tools.pattern_check import Patterns, bounds, has_patterns
from callgate.tools.plain_values import escaped
from callgate.tools.schema_cost import checks_for
from callgate.tools.schema_graph import Graph, look_up
from callgate.vocabulary import UsageError

if TYPE_CHECKING:
    from jsonschema_rs import Registry, Validator

    from callgate.tools.schema_nodes import Nodes

DEEPEST_SCHEMA = 100
"""Levels of nesting; jsonschema-rs takes little more."""
LARGEST_SCHEMA = 1_000_000
"""Bytes."""
SCHEMAS_KEPT = 128
PARTS_KEPT = 10_000
STEPS_PER_PART = 10
PARTS_PER_STEP = 2
STEPS_PER_PATTERN = 50
LONGEST_COMPLAINT = 200
_HERE = "callgate:///schema"
_DIALECT = re.compile(r"https?://json-schema\.org/(?:draft-0[467]|draft/2019-09|draft/2020-12)/schema#?")
_ELSEWHERE = re.compile(rb'"\$(?:ref|dynamicRef|recursiveRef)":"(?!#[/"])|"\$?id":"|"\$(?:dynamicA|a)nchor":')
"""References that don't lead to a place in the schema itself, and what else would change where they lead."""
_MULTIPLYING = re.compile(rb'"\$(?:ref|dynamicRef|recursiveRef)":|"unevaluated')
"""What can make more checks of a schema than it has parts."""
_DEAR = re.compile(rb"\(\?[=!<]|\\\\[1-9k]")
"""Patterns that need backtracking; all others take linear time."""


class Schema:
    """A JSON Schema that validates, whole and in each of its parts, which JSON Pointers name (`#/properties/city`)."""

    def __init__(self, root: Any, text: bytes, patterns: Patterns) -> None:
        self.root = root
        self.patterns = patterns
        self._is_plain = not _ELSEWHERE.search(text)
        dear = _DEAR.search(text) is not None
        self.step = 250 if dear else 1
        """What it takes to mend one value, where 1 is usual."""
        self.checks = checks_for(self._graph) if _MULTIPLYING.search(text) else text.count(b"{") + 1
        """The most that one value can take."""
        self.checks *= 10_000 if dear else 1
        self.has_scopes = b'"$id"' in text and _identified(root) > (isinstance(root, dict) and "$id" in root)
        """Whether a part has an identity of its own: then a `$ref` in it may lead elsewhere than it seems."""
        self.nodes: Nodes | None = None
        """What it says in each place, once somebody asked."""
        self._whole = _compiled(root)
        self._parts: dict[str, Validator | None] = {"#": self._whole}
        self._dearness: dict[str, int] = {"#": STEPS_PER_PART}

    def is_valid(self, value: object) -> bool:
        return fits(self._whole, value)

    def is_valid_at(self, pointers: tuple[str, ...], value: object) -> bool:
        """Whether `value` fits all of these parts."""
        for pointer in pointers:
            validator = self._part(pointer)
            if validator is None or not fits(validator, value):
                return False
        return True

    def has(self, pointer: str) -> bool:
        """Whether it names a part that can be validated by."""
        if self._is_plain:  # then each part that can be reached was compiled with the whole
            return look_up(self.root, pointer) is not None
        return self._part(pointer) is not None

    def dearness(self, pointer: str) -> int:
        """What it takes to compile a part, and with it all that it leads to, in steps of mending a value."""
        known = self._dearness.get(pointer)
        if known is None:
            if len(self._dearness) > PARTS_KEPT:
                self._dearness.clear()
            reached = list(self._graph.reach(look_up(self.root, pointer), PARTS_KEPT))
            patterns = sum(self.patterns.cost_of(part) for part in reached) if self.patterns.seen else 0
            known = STEPS_PER_PART + len(reached) // PARTS_PER_STEP + STEPS_PER_PATTERN * patterns
            self._dearness[pointer] = known
        return known

    def _part(self, pointer: str) -> Validator | None:
        try:
            return self._parts[pointer]
        except KeyError:
            if len(self._parts) > PARTS_KEPT:
                self._parts = {"#": self._whole}
            found = self._parts[pointer] = self._compiled_part(pointer)
            return found

    def _compiled_part(self, pointer: str) -> Validator | None:
        if self._registry is None:
            return None
        dialect = {"$schema": self.root["$schema"]} if "$schema" in self.root else {}
        try:
            return _compiled({**dialect, "$ref": f"{_HERE}#{quote(pointer[1:], safe='/~$')}"}, self._registry)
        except UsageError:
            return None

    @cached_property
    def _graph(self) -> Graph:
        return Graph(self.root)

    @cached_property
    def _registry(self) -> Registry | None:
        """`None`, if a reference is relative to where the schema lies, which nobody knows."""
        import jsonschema_rs

        try:
            return jsonschema_rs.Registry([(_HERE, self.root)])
        except (ValueError, jsonschema_rs.ReferencingError):
            return None


def schema_of(schema: Mapping[str, Any] | bool) -> Schema:
    """`schema`, ready to validate by.

    Raises: UsageError, if it is no JSON Schema, too large, too deep, or would take too long.
    """
    if not isinstance(schema, Mapping | bool):
        raise UsageError("that is no JSON Schema: it is neither an object nor true or false")
    try:
        text = msgspec.json.encode(schema, enc_hook=_as_dict)
    except (TypeError, ValueError, RecursionError):
        raise UsageError("that is no JSON Schema: it isn't JSON, or nested too deeply") from None
    if len(text) > LARGEST_SCHEMA:
        raise UsageError(f"the schema has {len(text):,} bytes, and {LARGEST_SCHEMA:,} is the most")
    return _schema_of(text)


@lru_cache(SCHEMAS_KEPT)
def _schema_of(text: bytes) -> Schema:
    try:
        root = msgspec.json.decode(text)
    except (msgspec.MsgspecError, RecursionError):
        raise UsageError(
            "that is no JSON Schema: it holds a number that is too large, or is nested too deeply"
        ) from None
    if depth_of(root, DEEPEST_SCHEMA) > DEEPEST_SCHEMA:
        raise UsageError(f"the schema is nested more than {DEEPEST_SCHEMA} levels deep")
    if isinstance(root, dict) and not _DIALECT.fullmatch(str(root.get("$schema", ""))):
        root.pop("$schema", None)  # a dialect that nobody knows is read as the newest that there is
    patterns = Patterns()
    if has_patterns(text):
        root = patterns.checked(root)
    return Schema(root, text, patterns)


def key_matches(pattern: str, key: str) -> bool:
    """Whether a pattern, as schemas write them, is found in `key`."""
    return holds("pattern", msgspec.json.encode(pattern), key)


def holds(keyword: str, argument: bytes, value: object) -> bool:
    """Whether `value` keeps to a single rule of a schema, as `minimum` is; `argument` is JSON."""
    validator = _rule(keyword, argument)
    return validator is not None and fits(validator, value)


@lru_cache(SCHEMAS_KEPT)
def _rule(keyword: str, argument: bytes) -> Validator | None:
    try:
        return _compiled({keyword: msgspec.json.decode(argument)})
    except UsageError:
        return None


def fits(validator: Validator, value: object) -> bool:
    """Whether it does; what JSON can't carry never does."""
    try:
        return validator.is_valid(value)
    except ValueError:
        return False


def _compiled(root: Any, registry: Registry | None = None) -> Validator:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for(root, registry=registry, offline=True, pattern_options=bounds())
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        said = str(error).partition("\n")[0][:LONGEST_COMPLAINT]
        where = "".join(f"/{escaped(str(part))}" for part in getattr(error, "instance_path", ()))[:LONGEST_COMPLAINT]
        raise UsageError(f"that is no JSON Schema{f' at {where}' if where else ''}: {said}") from None


def _identified(part: object) -> int:
    match part:
        case dict():
            return isinstance(part.get("$id"), str) + sum(_identified(inner) for inner in part.values())
        case list():
            return sum(_identified(inner) for inner in part)
    return 0


def _as_dict(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError
