"""Which route answers which path, and in whose words errors are told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

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
        self._exact = {(route.method, route.path): (dialect, route) for dialect, route in every}
        self._open = [(dialect, route) for dialect, route in every if route.path.endswith(_ANYTHING)]

    def find(self, method: str, path: str) -> Found:
        """HEAD is GET without a body, unless there is a route for it."""
        for wanted in (method, "GET") if method == "HEAD" else (method,):
            if exact := self._exact.get((wanted, path)):
                return Found(*exact)
            for dialect, route in self._open:
                start = route.path.removesuffix("*")
                if route.method == wanted and path.startswith(start) and len(path) > len(start):
                    return Found(dialect, route, path[len(start) :])
        return Found(self._speaker(path), None)

    def methods(self, path: str) -> list[str]:
        return [method for method in ("DELETE", "GET", "HEAD", "POST") if self.find(method, path).route]

    def nothing_at(self, method: str, path: str) -> Failure:
        if methods := self.methods(path):
            return Failure(
                status=405,
                kind="method",
                message=f"{method} isn't for this path",
                hint=f"it takes {', '.join(methods)}",
            )
        return Failure(status=404, kind="no_such_path", message="there is nothing at this path")

    def _speaker(self, path: str) -> Dialect:
        return next((each for each in self._dialects if f"{path}/".startswith(f"{each.root}/")), self._dialects[0])
