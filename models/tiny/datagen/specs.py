"""Tools: their parameters, the hand-written ones of the domain files, and what all of them are made into."""

from __future__ import annotations

import re
from dataclasses import dataclass

from datagen.lists import HERE, parse_kind

JSON_TYPES = {
    "int": "integer",
    "num": "number",
    "float": "number",
    "money": "number",
    "price": "number",
    "intid": "integer",
    "lat": "number",
    "lng": "number",
    "bool": "boolean",
    "nums": "array",
    "words": "array",
    "persons": "array",
    "things": "array",
    "obj": "object",
}


@dataclass(slots=True, eq=False)
class Param:
    key: str
    """What the tool calls it."""
    names: list[str] | None
    """What a hand-written tool may call it, the plainest first."""
    kind: str
    arg: object
    """What its kind needs: a range, the words of an enum, the phrases of a flag …"""
    required: bool
    descs: list[str]


SLOT = re.compile(r"\{(\w+)((?:![a-z])?)((?::\w+)?)\}")
OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


class Spec:
    """A hand-written tool from a domains file."""

    def __init__(self, domain, names):
        self.domain, self.names = domain, names
        self.descs, self.params, self.reqs, self.outs = [], [], [], []
        self.weight = 1

    def check(self):
        """Each request has all required parameters, and none that isn't there."""
        keys = {param.key for param in self.params}
        required = {param.key for param in self.params if param.required}
        for request in self.reqs:
            slots = {slot[0] for slot in SLOT.findall(request)}
            assert required <= slots <= keys, (self.names, request)
        return self


def load_domains(name):
    """The tools in a file; its first lines say how it is written."""
    specs, domain = [], ""
    for line in (HERE / name).read_text("utf-8").splitlines():
        if line.startswith("== "):
            domain = line[3:]
        elif line and not line.startswith("#"):
            mark, rest = line[0], line[2:]
            if mark == "t":
                specs.append(Spec(domain, rest.split()))
            elif mark == "d":
                specs[-1].descs = rest.split("|")
            elif mark == "p":
                specs[-1].params.append(_param(rest))
            elif mark == "r":
                specs[-1].reqs.append(rest)
            elif mark == "o":
                specs[-1].outs.append(rest)
            elif mark == "w":
                specs[-1].weight = int(rest)
    return [spec.check() for spec in specs]


def _param(text):
    """`city|town!city: Name of the city|Where` is required, with `?` for `!` it is optional."""
    head, _, descs = text.partition(": ")
    names, need, kind = re.match(r"([\w|]+)([!?])(.+)$", head).groups()
    names = names.split("|")
    return Param(names[0], names, *parse_kind(kind), need == "!", descs.split("|") if descs else [])


class Tool:
    """A tool as a conversation has it: `request()` gives a request with its arguments, `result(arguments)` a result."""

    __slots__ = ("desc", "domain", "name", "params", "request", "result", "schema", "spec", "words")


def snake_words(s):
    """The words of a name in any style."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[.\-/]", "_", s).lower().split("_")
