"""How much work a schema can make of one value, found before it is given any.

References let a few lines stand for millions of checks: twenty definitions that each name the next one twice do.
What leads back to itself through the parts of a value is checked once for each part; what leads back to itself on the
spot has no meaning, and would be followed along every path there is.
"""

from __future__ import annotations

from collections.abc import Iterator

from callgate.tools.schema_graph import Graph
from callgate.vocabulary import UsageError

MOST_CHECKS = 1_000_000
"""For one value; some ten milliseconds."""
LONGEST_WAY = 500
"""From part to part; the validator follows it on the call stack, in time that grows with its square."""
_LOOKING_BACK = ("unevaluatedItems", "unevaluatedProperties")
_DEARER = 4
"""Looking back at what others have evaluated makes them evaluate it again, some times."""


def checks_for(graph: Graph) -> int:
    """The most checks that one value can take.

    Raises: UsageError, if they are too many.
    """
    order: dict[int, int] = {}
    for group in _groups(graph, [graph.here]):
        members = set(group)
        if any(sum(target in members for target in graph.here[part]) > 1 for part in group):
            raise UsageError("the schema refers to itself over and over, without ever coming to a value")
        order.update((part, len(order)) for part in group)
    costs: dict[int, int] = {}
    lengths: dict[int, int] = {}
    for group in _groups(graph, [graph.here, graph.items, graph.keys, graph.more_keys]):
        members = set(group)
        length = 1 + max((lengths.get(target, 0) for part in group for target in graph.onward(part)), default=0)
        if length > LONGEST_WAY:
            raise UsageError("the references of the schema lead from one to the next without end")
        lengths.update(dict.fromkeys(group, length))
        for part in sorted(group, key=order.__getitem__):
            costs[part] = _cost(graph, part, members, costs)
            if costs[part] > MOST_CHECKS:
                raise UsageError("the schema would take too long to check a value by: its references multiply")
    return costs.get(id(graph.root), 1)


def _cost(graph: Graph, part: int, members: set[int], costs: dict[int, int]) -> int:
    def inside(target: int) -> int:
        return 1 if target in members else costs[target]

    schema = graph.schemas[part]
    here = sum(costs.get(target, 1) for target in graph.here[part])
    dearer = _DEARER if any(keyword in schema for keyword in _LOOKING_BACK) else 1
    items = sum(map(inside, graph.items[part]))
    keys = max(map(inside, graph.keys[part]), default=0) + sum(map(inside, graph.more_keys[part]))
    return 1 + here * dearer + max(items, keys)


def _groups(graph: Graph, edges: list[dict[int, list[int]]]) -> Iterator[list[int]]:
    """The parts that lead back to each other, together; those that others lead to come first (Tarjan's algorithm)."""
    number: dict[int, int] = {}
    low: dict[int, int] = {}
    path: list[int] = []
    on_path: set[int] = set()
    for start in graph.schemas:
        if start in number:
            continue
        work = [(start, _onward(edges, start))]
        number[start] = low[start] = len(number)
        path.append(start)
        on_path.add(start)
        while work:
            part, onward = work[-1]
            following = next(onward, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[part])
                if low[part] == number[part]:
                    group: list[int] = []
                    while not group or group[-1] != part:
                        group.append(path.pop())
                        on_path.discard(group[-1])
                    yield group
            elif following not in number:
                number[following] = low[following] = len(number)
                path.append(following)
                on_path.add(following)
                work.append((following, _onward(edges, following)))
            elif following in on_path:
                low[part] = min(low[part], number[following])


def _onward(edges: list[dict[int, list[int]]], part: int) -> Iterator[int]:
    for kind in edges:
        yield from kind[part]
