from __future__ import annotations

import inspect
import re

from callgate.vocabulary import CallgateError, errors


def test_the_tree_in_the_docstring_is_the_tree_of_the_classes() -> None:
    drawn: dict[str, str | None] = {}
    path: list[str] = []
    for line in (errors.__doc__ or "").splitlines():
        if found := re.match(r"    ((?:│   |    |├── |└── )*)([A-Z]\w+)", line):
            depth = len(found[1]) // 4
            path = [*path[:depth], found[2]]
            drawn[found[2]] = path[-2] if depth else None
    defined = {
        name: None if kind is CallgateError else kind.__base__.__name__
        for name, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, CallgateError) and kind.__base__
    }
    assert drawn == defined


def test_an_error_has_its_message_and_the_next_step() -> None:
    error = CallgateError("it failed", hint="try again")
    assert (str(error), error.message, error.hint) == ("it failed", "it failed", "try again")
