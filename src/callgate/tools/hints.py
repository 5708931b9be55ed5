"""Type hints as JSON Schema."""

from __future__ import annotations

import enum
import os
import types
import typing
from collections import abc
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from callgate.tools.docstrings import read_docstring
from callgate.tools.hint_notes import NoSchema, Schema, choice_of, default_of, described, is_field, with_notes
from callgate.tools.record_fields import docstring_of, fields_of, is_record

_DEEPEST = 64
_PLAIN: Mapping[object, Schema] = {
    str: {"type": "string"},
    int: {"type": "integer"},
    float: {"type": "number"},
    bool: {"type": "boolean"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    object: {},
}
_BY_NAME: Mapping[str, Schema] = {
    "datetime.datetime": {"type": "string", "format": "date-time"},
    "datetime.date": {"type": "string", "format": "date"},
    "datetime.time": {"type": "string", "format": "time"},
    "datetime.timedelta": {"type": "string", "format": "duration"},
    "uuid.UUID": {"type": "string", "format": "uuid"},
    "decimal.Decimal": {"type": "number"},
}
"""By name, so that nobody has to import them."""
_LISTS = (list, abc.Sequence, abc.MutableSequence, abc.Collection, abc.Iterable)
_SETS = (set, frozenset, abc.Set, abc.MutableSet)
_OBJECTS = (dict, abc.Mapping, abc.MutableMapping)
_QUALIFIERS = (typing.Required, typing.NotRequired, typing.Final, typing.ClassVar)


class Hints:
    """Reads hints into schemas that share their definitions: what refers to itself is in `definitions`."""

    def __init__(self) -> None:
        self.definitions: dict[str, Schema] = {}
        self._open: list[object] = []
        self._names: dict[object, str] = {}

    def schema(self, hint: object) -> Schema:
        """Raises: NoSchema."""
        if len(self._open) > _DEEPEST:
            raise NoSchema("it is nested too deeply")
        origin = typing.get_origin(hint)
        if origin is None and hint in _PLAIN:
            return dict(_PLAIN[hint])
        if origin is not None:
            return self._generic(hint, origin, typing.get_args(hint))
        if isinstance(hint, type):
            return self._class(hint)
        return self._special(hint)

    def _generic(self, hint: object, origin: object, args: tuple[Any, ...]) -> Schema:
        if origin is typing.Annotated:
            return with_notes(self._annotated(hint, args), args[1:])
        if origin is typing.Literal:
            return choice_of(args)
        if origin in (typing.Union, types.UnionType):
            return self._union(args)
        if origin in _QUALIFIERS:
            return self.schema(args[0])
        if origin is tuple:
            return self._tuple(args)
        if origin in _LISTS:
            return {"type": "array", "items": self.schema(args[0])}
        if origin in _SETS:
            return {"type": "array", "items": self.schema(args[0]), "uniqueItems": True}
        if origin in _OBJECTS:
            values = self.schema(args[1])
            return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
        if hasattr(origin, "__value__"):  # an alias with parameters
            return self._alias(hint, origin.__value__[args])
        return self.schema(origin)

    def _annotated(self, hint: object, args: tuple[Any, ...]) -> Schema:
        # pydantic's own notes may say more than we could read: a discriminator, say.
        if any(
            type(note).__module__.startswith("pydantic")
            and not (is_field(note) and getattr(note, "discriminator", None) is None)
            for note in args[1:]
        ):
            from pydantic import TypeAdapter

            adapter: TypeAdapter[Any] = TypeAdapter(typing.cast("Any", hint))
            return self._with_own_definitions(adapter.json_schema())
        return self.schema(args[0])

    def _union(self, args: Iterable[object]) -> Schema:
        ways: list[Schema] = []
        for arg in args:
            way = self.schema(arg)
            if way not in ways:
                ways.append(way)
        if {} in ways:
            return {}
        return ways[0] if len(ways) == 1 else {"anyOf": ways}

    def _tuple(self, args: tuple[Any, ...]) -> Schema:
        if len(args) == 2 and args[1] is Ellipsis:
            return {"type": "array", "items": self.schema(args[0])}
        parts = [self.schema(arg) for arg in args if arg != ()]
        return {"type": "array", "prefixItems": parts, "minItems": len(parts), "maxItems": len(parts)}

    def _class(self, hint: type) -> Schema:
        name = f"{hint.__module__}.{hint.__qualname__}"
        if name in _BY_NAME:
            return dict(_BY_NAME[name])
        if issubclass(hint, enum.Enum):
            return choice_of([member.value for member in hint])
        if callable(made := getattr(hint, "model_json_schema", None)):
            return self._with_own_definitions(made())
        if issubclass(hint, msgspec.Struct):
            (schema,), definitions = msgspec.json.schema_components([hint], ref_template="#/$defs/{name}")
            return self._with_own_definitions({**schema, "$defs": definitions})
        if is_record(hint):
            return self._named(hint, lambda: self._object(hint))
        if issubclass(hint, os.PathLike):
            return {"type": "string"}
        for base in (bool, int, float, str, *_SETS[:2], list, dict):
            if issubclass(hint, base):
                return {"type": "array"} if base in _SETS else dict(_PLAIN[base])
        if hint in _LISTS + _SETS:
            return {"type": "array"}
        if hint in _OBJECTS:
            return {"type": "object"}
        raise NoSchema(f"JSON has nothing for {name}")

    def _special(self, hint: object) -> Schema:
        if hasattr(hint, "__supertype__"):  # NewType
            return self.schema(hint.__supertype__)
        if isinstance(hint, typing.TypeVar):
            return self._union(hint.__constraints__) if hint.__constraints__ else self.schema(hint.__bound__ or Any)
        if hasattr(hint, "__value__"):  # type X = …
            return self._alias(hint, hint.__value__)
        raise NoSchema(f"JSON has nothing for {str(hint)[:80]}")

    def _alias(self, alias: object, value: object) -> Schema:
        return self._named(alias, lambda: self.schema(value))

    def _named(self, hint: object, make: abc.Callable[[], Schema]) -> Schema:
        """What `make` makes; a reference to it where it is used within itself."""
        if hint in self._open:
            name = self._names.setdefault(hint, self._free(getattr(hint, "__name__", str(hint))))
            return {"$ref": f"#/$defs/{name}"}
        self._open.append(hint)
        try:
            schema = make()
        finally:
            self._open.pop()
        if hint not in self._names:
            return schema
        self.definitions[self._names[hint]] = schema
        return {"$ref": f"#/$defs/{self._names[hint]}"}

    def _free(self, name: str) -> str:
        taken = {*self.definitions, *self._names.values()}
        return next(way for number in range(len(taken) + 1) if (way := f"{name}{number or ''}") not in taken)

    def _object(self, record: type) -> Schema:
        docs = read_docstring(docstring_of(record))
        properties: Schema = {}
        required = []
        for field in fields_of(record):
            part = described(self.schema(field.hint), docs.parameters.get(field.name, ""))
            properties[field.name] = {**part, **default_of(field.default, part)}
            if field.required:
                required.append(field.name)
        schema: Schema = {"type": "object", "properties": properties}
        if required:
            schema["required"] = required
        if not typing.is_typeddict(record):
            schema["additionalProperties"] = False
        return described(schema, docs.description)

    def _with_own_definitions(self, schema: Schema) -> Schema:
        """Moves the definitions of a schema that somebody else made to ours, under names that are free."""
        own: Schema = schema.pop("$defs", {})
        renamed = {}
        for name, definition in own.items():
            renamed[name] = name if self.definitions.get(name, definition) == definition else self._free(name)
            self.definitions[renamed[name]] = definition
        moved = {name: new for name, new in renamed.items() if name != new}
        if moved:
            for new in renamed.values():
                self.definitions[new] = _repointed(self.definitions[new], moved)
            schema = _repointed(schema, moved)
        return schema


def _repointed(part: Any, moved: Mapping[str, str]) -> Any:
    if isinstance(part, dict):
        return {
            key: f"#/$defs/{moved.get(value.removeprefix('#/$defs/'), value.removeprefix('#/$defs/'))}"
            if key == "$ref" and isinstance(value, str) and value.startswith("#/$defs/")
            else _repointed(value, moved)
            for key, value in part.items()
        }
    return [_repointed(item, moved) for item in part] if isinstance(part, list) else part
