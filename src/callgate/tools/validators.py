"""Schemas made ready to validate by: compiled once, kept for the next call, and never fetched from anywhere."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import msgspec

from callgate.vocabulary import UsageError

if TYPE_CHECKING:
    from jsonschema_rs import Validator, ValidatorMap

DEEPEST_SCHEMA = 100
"""Levels of nesting. jsonschema-rs refuses somewhat more; an instance of many thousands of levels kills it."""
LARGEST_SCHEMA = 4_000_000
"""Bytes."""
SCHEMAS_KEPT = 256
BACKTRACKING = 100_000
"""Steps that a pattern with look-around or back-references may take on one text."""


class Schema:
    """A JSON Schema that validates, whole and in each of its parts, which JSON Pointers name (`#/properties/city`)."""

    def __init__(self, root: Any) -> None:
        self.root = root
        self._whole = self._compiled()
        self.has_scopes = _identified(root) > ("$id" in root if isinstance(root, dict) else 0)
        """Whether a part has an identity of its own: then a `$ref` in it may lead elsewhere than it seems."""

    def is_valid(self, value: object) -> bool:
        """Whether `value` fits. What JSON can't carry (a set, half a character) never does."""
        return _fits(self._whole, value)

    def is_valid_at(self, pointer: str, value: object) -> bool:
        validator = self._parts.get(pointer)
        return validator is not None and _fits(validator, value)

    def has(self, pointer: str) -> bool:
        return pointer in self._parts

    @property
    def whole(self) -> Validator:
        return self._whole

    @cached_property
    def _parts(self) -> ValidatorMap:
        import jsonschema_rs

        return jsonschema_rs.validator_map_for(self.root, offline=True, pattern_options=_patterns())

    def _compiled(self) -> Validator:
        import jsonschema_rs

        try:
            return jsonschema_rs.validator_for(self.root, offline=True, pattern_options=_patterns())
        except jsonschema_rs.ValidationError as error:
            where = "".join(f"/{_escaped(str(part))}" for part in error.instance_path)
            raise UsageError(
                f"that is no JSON Schema: {_first_line(error)}" + (f" (at {where})" if where else "")
            ) from None
        except (jsonschema_rs.ReferencingError, ValueError) as error:
            raise UsageError(f"that is no JSON Schema: {_first_line(error)}") from None


def schema_of(schema: Mapping[str, Any] | bool) -> Schema:
    """`schema`, ready to validate by.

    Raises: UsageError, if it is no JSON Schema, too large or too deep.
    """
    if not isinstance(schema, Mapping | bool):
        raise UsageError("that is no JSON Schema: it is neither an object nor true or false")
    try:
        text = msgspec.json.encode(schema, enc_hook=_plain)
    except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
        raise UsageError("that is no JSON Schema: it isn't JSON, or nested too deeply") from None
    return _schema_of(text)


@lru_cache(SCHEMAS_KEPT)
def _schema_of(text: bytes) -> Schema:
    from callgate.tools.loose_json import depth_of

    if len(text) > LARGEST_SCHEMA:
        raise UsageError(f"the schema has {len(text):,} bytes, and {LARGEST_SCHEMA:,} is the most")
    root = msgspec.json.decode(text)
    if depth_of(root, DEEPEST_SCHEMA) > DEEPEST_SCHEMA:
        raise UsageError(f"the schema is nested more than {DEEPEST_SCHEMA} levels deep")
    return Schema(root)


@lru_cache(SCHEMAS_KEPT)
def _pattern(pattern: str) -> Validator | None:
    import jsonschema_rs

    try:
        return jsonschema_rs.validator_for({"pattern": pattern}, offline=True, pattern_options=_patterns())
    except ValueError:
        return None


def key_matches(pattern: str, key: str) -> bool:
    """Whether a pattern, as schemas write them, is found in `key`."""
    validator = _pattern(pattern)
    return validator is not None and _fits(validator, key)


def _identified(part: object) -> int:
    match part:
        case dict():
            return isinstance(part.get("$id"), str) + sum(_identified(inner) for inner in part.values())
        case list():
            return sum(_identified(inner) for inner in part)
    return 0


def _plain(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError


def _fits(validator: Validator, value: object) -> bool:
    try:
        return validator.is_valid(value)
    except ValueError:
        return False


def _patterns() -> Any:
    import jsonschema_rs

    return jsonschema_rs.FancyRegexOptions(backtrack_limit=BACKTRACKING)


def _escaped(part: str) -> str:
    return part.replace("~", "~0").replace("/", "~1")


def _first_line(error: Exception) -> str:
    line = str(error).partition("\n")[0]
    return line if len(line) <= 200 else line[:199] + "…"
