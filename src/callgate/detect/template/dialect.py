"""The dialect of Jinja in which chat templates are written, as Hugging Face's transformers defines it.

What both engines share: the functions and filters that templates may call beside Jinja's own.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from types import GeneratorType
from typing import Any

THE_DAY = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
"""Templates that print the date get this one, so that two renderings differ only by what was asked."""


class Refused(Exception):
    """The template itself said no, by `raise_exception`."""


def raise_exception(message: object = "") -> None:
    raise Refused(str(message))


def strftime_now(form: str) -> str:
    return THE_DAY.strftime(form)


def to_json(
    value: object,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """`tojson` without Jinja's HTML escaping."""
    return json.dumps(
        value,
        ensure_ascii=ensure_ascii,
        indent=indent,
        separators=None if separators is None else (separators[0], separators[1]),
        sort_keys=sort_keys,
        default=_plain,
    )


def _plain(value: object) -> object:
    if isinstance(value, GeneratorType | Iterator):
        return list(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a {type(value).__name__} is no JSON")


def from_json(text: str) -> Any:
    return json.loads(text)


FUNCTIONS: Mapping[str, Callable[..., Any]] = {"raise_exception": raise_exception, "strftime_now": strftime_now}
FILTERS: Mapping[str, Callable[..., Any]] = {"tojson": to_json, "from_json": from_json, "fromjson": from_json}
