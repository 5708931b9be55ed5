"""Which route answers which path, and in whose words errors are told."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from typing import NamedTuple

import msgspec

from callgate.gateway.asgi import Refused
from callgate.gateway.dialect import Dialect, Failure, Route

_ANYTHING = "/*"


class Found(NamedTuple):
    dialect: Dialect
    route: Route | None
    rest: str = ""
    """What stands in the path for the star."""


class Routes:
    def __init__(self, dialects: Sequence[Dialect]) -> None:
        self._dialects = dialects
        every = [(dialect, route) for dialect in dialects for route in dialect.routes]
        self._exact = {(route.method, route.path): Found(dialect, route) for dialect, route in every}
        self._open = [(dialect, route) for dialect, route in every if route.path.endswith(_ANYTHING)]
        self._signed = [(each.sign, Routes([_of_signed(each)])) for each in dialects if each.signed]

    def find(self, method: str, path: str, headers: Container[str] = ()) -> Found:
        """HEAD is GET without a body, unless there is a route for it."""
        for sign, routes in self._signed:
            if sign in headers and (found := routes.find(method, path)).route:
                return found
        for wanted in (method, "GET") if method == "HEAD" else (method,):
            if exact := self._exact.get((wanted, path)):
                return exact
            for dialect, route in self._open:
                start = route.path.removesuffix("*")
                rest = path.removeprefix(start)
                if route.method == wanted and path != rest and rest and _fits(rest, route.rest):
                    return Found(dialect, route, rest)
        return Found(self._speaker(path), None)

    def methods(self, path: str) -> list[str]:
        return [method for method in ("DELETE", "GET", "HEAD", "POST") if self.find(method, path).route]

    def nothing_at(self, method: str, path: str) -> Refused:
        if methods := self.methods(path):
            return not_for(method, methods)
        return Refused(Failure(status=404, kind="no_such_path", message="there is nothing at this path"))

    def _speaker(self, path: str) -> Dialect:
        """The one whose paths begin most like this one."""
        near = [each for each in self._dialects if f"{path}/".startswith(f"{each.root}/")]
        return max(near, key=lambda each: len(each.root), default=self._dialects[0])


def _of_signed(dialect: Dialect) -> Dialect:
    return msgspec.structs.replace(dialect, routes=dialect.signed, signed=())


def not_for(method: str, methods: Sequence[str]) -> Refused:
    """The path takes these methods alone."""
    takes = ", ".join(methods)
    failure = Failure(status=405, kind="method", message=f"{method} isn't for this path", hint=f"it takes {takes}")
    return Refused(failure, [(b"allow", takes.encode())])


def _fits(rest: str, pattern: str) -> bool:
    return not pattern or re.fullmatch(pattern, rest) is not None
