"""A tool out of a Python function: its signature, its type hints and its docstring say all that a model has to know."""

from __future__ import annotations

import functools
import inspect
import sys
import typing
from collections.abc import Callable, Mapping
from typing import Any
from weakref import WeakKeyDictionary

import msgspec

from callgate.tools.docstrings import Docs, read_docstring
from callgate.tools.hint_notes import NoSchema, Schema, default_of, described, is_field, with_notes
from callgate.tools.hints import Hints
from callgate.tools.record_fields import docstring_of
from callgate.vocabulary import Tool, UsageError

_KNOWN: WeakKeyDictionary[Callable[..., Any], Tool] = WeakKeyDictionary()


def tool_of(function: Callable[..., Any], *, name: str | None = None, description: str | None = None) -> Tool:
    """The function as a tool: a parameter with a default is optional, a docstring describes (Google's, NumPy's or
    Sphinx's form). A class is a tool whose parameters are its fields.

    Raises: UsageError, which names the tool and the parameter that is no good.
    """
    plain = name is None and description is None and inspect.isfunction(function)
    if plain and (known := _KNOWN.get(function)) is not None:
        return known
    tool = _made_of(function, name or _name_of(function), description)
    if plain:
        _KNOWN[function] = tool
    return tool


def _made_of(function: Callable[..., Any], called: str, description: str | None) -> Tool:
    docs = read_docstring(_docstring_of(function))
    hints = Hints()
    if isinstance(function, type):
        parameters = _of_class(function, called, hints)
        said = parameters.pop("description", "")
        docs = Docs(docs.description or said)
    else:
        parameters = _of_signature(function, called, hints, docs)
    if hints.definitions:
        parameters["$defs"] = hints.definitions
    return Tool(called, docs.description if description is None else description, parameters)


def _of_class(record: type, tool: str, hints: Hints) -> Schema:
    try:
        schema = hints.schema(record)
    except (NoSchema, NameError) as error:
        raise UsageError(f"{tool!r} can't be a tool: {error}") from None
    if "$ref" in schema:  # it refers to itself: the parameters are what is referred to
        schema = dict(hints.definitions[schema["$ref"].rpartition("/")[2]])
    if schema.get("type") != "object":
        raise UsageError(f"{tool!r} can't be a tool: its parameters would be no object")
    return schema


def _of_signature(function: Callable[..., Any], tool: str, hints: Hints, docs: Docs) -> Schema:
    try:
        signature = inspect.signature(function)
    except (ValueError, TypeError):
        raise UsageError(
            f"{tool!r} can't be a tool: Python knows no signature of it", hint="wrap it in a function with type hints"
        ) from None
    types = hints_of(function, tool)
    fixed = function.keywords if isinstance(function, functools.partial) else {}
    schema: Schema = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    for parameter in signature.parameters.values():
        if parameter.name in fixed:
            continue
        try:
            part = hints.schema(types.get(parameter.name, Any))
        except (NoSchema, NameError) as error:
            raise UsageError(
                f"the parameter {parameter.name!r} of the tool {tool!r} can't be described: {error}",
                hint="give it a type that JSON has, or fix its value with functools.partial",
            ) from None
        if parameter.kind is parameter.VAR_KEYWORD:
            schema["additionalProperties"] = part or True
        elif parameter.kind is not parameter.VAR_POSITIONAL:
            _add(schema, parameter, part, docs.parameters.get(parameter.name, ""))
    if not schema["required"]:
        del schema["required"]
    return schema


def _add(schema: Schema, parameter: inspect.Parameter, part: Schema, said: str) -> None:
    default: Any = msgspec.UNSET if parameter.default is parameter.empty else parameter.default
    required = default is msgspec.UNSET
    if is_field(default):
        part = with_notes(part, [default])
        required = default.is_required()
        default = msgspec.UNSET if required else default.default
    part = described(part, said)
    schema["properties"][parameter.name] = {**part, **default_of(default, part)}
    if required:
        schema["required"].append(parameter.name)


def hints_of(function: Callable[..., Any], tool: str) -> Mapping[str, Any]:
    """The hints of its parameters. What it returns plays no part, even if that can't be found."""
    inner: Any = function
    while isinstance(inner, functools.partial):
        inner = inner.func
    if not inspect.isroutine(inner):
        inner = type(inner).__call__
    inner = inspect.unwrap(inner)

    def without_return() -> None: ...

    without_return.__annotations__ = {name: hint for name, hint in _as_written(inner).items() if name != "return"}
    try:
        return typing.get_type_hints(without_return, getattr(inner, "__globals__", {}), include_extras=True)
    except (NameError, AttributeError, SyntaxError, TypeError) as error:
        raise UsageError(
            f"the type hints of the tool {tool!r} can't be read: {error}",
            hint="what they name has to be at the top of the function's module, and not only for type checkers",
        ) from None


def _as_written(function: Any) -> Mapping[str, Any]:
    if sys.version_info >= (3, 14):  # which looks names up only now, and all of them
        from annotationlib import Format, get_annotations

        return get_annotations(function, format=Format.FORWARDREF)
    return getattr(function, "__annotations__", {})


def _name_of(function: object) -> str:
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__name__", None) or type(function).__name__
    if name == "<lambda>":
        raise UsageError("a lambda has no name that a model could call it by", hint="give it one: name=…")
    return str(name)


def _docstring_of(function: object) -> str | None:
    while isinstance(function, functools.partial):
        function = function.func
    if isinstance(function, type):
        return docstring_of(function)
    own = function if inspect.isroutine(function) else type(function).__call__
    return inspect.getdoc(own) if inspect.isroutine(function) or own.__doc__ else inspect.getdoc(type(function))
