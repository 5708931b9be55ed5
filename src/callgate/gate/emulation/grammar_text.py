"""A shape as a grammar in GBNF, llama.cpp's own notation: compact JSON, and nothing that needs reading back."""

from __future__ import annotations

import msgspec

from callgate.gate.emulation.expressions import Characters, Either, Expression, Repeated, Sequel, escaped, ranges_text
from callgate.gate.emulation.numerals import whole_expression
from callgate.gate.emulation.shapes import (
    Choice,
    Entries,
    Field,
    Fixed,
    Literals,
    Numeral,
    Record,
    Rows,
    Shape,
    Spelt,
    Whole,
    Words,
)

LONGEST_TEXT = 16_000
_BLOCK = 500
"""Repetitions are written out by the engine, which refuses 2,000 and more: a long text consists of blocks."""
_CHARACTER = r'[^"\\\x7F\x00-\x1F] | "\\" ["\\nrt]'
"""Without numbered escapes: each counts once and takes six tokens, and weak models write nothing else for a while."""


class GrammarWriter:
    """Collects rules. Equal rules are one."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def rule(self, body: str, name: str = "r") -> str:
        """The name of a rule with this body."""
        if body not in self._names:
            self._names[body] = f"{name}{len(self._names)}"
        return self._names[body]

    def grammar(self, root: str) -> str:
        rules = [f"root ::= {root}", *(f"{name} ::= {body}" for body, name in self._names.items())]
        return "\n".join(rules) + "\n"

    def value(self, shape: Shape) -> str:
        """The name of the rule for a value of this shape."""
        return self.rule(self._body(shape))

    def _body(self, shape: Shape) -> str:
        match shape:
            case Literals(values):
                return " | ".join(quoted(msgspec.json.encode(value).decode()) for value in values)
            case Words(shortest, longest):
                return f'"\\"" {self._text(shortest, longest)} "\\""'
            case Spelt(expression):
                return f'"\\"" {self.spelt(expression)} "\\""'
            case Numeral(expression):
                return self.spelt(expression)
            case Whole(lowest, highest):
                return self.spelt(whole_expression(lowest, highest))
            case Record(fields):
                return self._record(fields)
            case Entries(key, value, fewest, most):
                pair = self.rule(f'{self.value(key)} ":" {self.value(value)}')
                return self._several("{", pair, fewest, most, "}")
            case Rows(item, fewest, most):
                return self._several("[", self.value(item), fewest, most, "]")
            case Fixed(items):
                places = ' "," '.join(self.value(item) for item in items)
                return f'"[" {places} "]"'
            case Choice(options):
                return " | ".join(self.value(option) for option in options)

    def _record(self, fields: tuple[Field, ...]) -> str:
        pairs = [self.rule(f"{quoted(_json(field.name) + ':')} {self.value(field.shape)}") for field in fields]
        needed = sum(field.required for field in fields)
        if needed:
            first = ' "," '.join(pairs[:needed])
            others = "".join(f' ("," {pair})?' for pair in pairs[needed:])
            return f'"{{" {first}{others} "}}"'
        if not pairs:
            return '"{}"'
        # The first that is there has no comma in front.
        rest = '""'
        starts: list[str] = []
        for pair in reversed(pairs):
            starts.append(f"{pair} {rest}")
            rest = self.rule(f'("," {pair})? {rest}')
        return f'"{{" ({" | ".join(reversed(starts))})? "}}"'

    def _several(self, opening: str, item: str, fewest: int, most: int, closing: str) -> str:
        if most == 0:
            return f'"{opening}{closing}"'
        inner = f'{item} ("," {item}){{{max(0, fewest - 1)},{most - 1}}}' if most > 1 else item
        return f'"{opening}" {inner if fewest else f"({inner})?"} "{closing}"'

    def _text(self, shortest: int, longest: int) -> str:
        char = self.rule(_CHARACTER, "char")
        if longest <= _BLOCK * 2:
            return self.rule(f"{char}{{{shortest},{longest}}}")
        block = self.rule(f"{char}{{{_BLOCK}}}")
        blocks, over = divmod(shortest, _BLOCK)
        start = [f"{block}{{{blocks}}}"] if blocks else []
        start += [f"{char}{{{over}}}"] if over else []
        left = longest - shortest
        end = self.rule(f"{char}{{0,{_BLOCK - 1}}}")
        return self.rule(" ".join([*start, f"{block}{{0,{max(1, left // _BLOCK - 1)}}}", end]))

    def spelt(self, expression: Expression) -> str:
        match expression:
            case Characters(((low, high),)) if low == high:
                return quoted(chr(low))
            case Characters(ranges):
                return ranges_text(ranges)
            case Sequel(parts):
                return " ".join(self.spelt(part) for part in parts) or '""'
            case Either(options):
                return f"({' | '.join(self.spelt(option) for option in options)})"
            case Repeated(_, _, 0):
                return '""'
            case Repeated(part, fewest, most):
                # As a rule of its own it counts once, however often it is repeated.
                return f"{self.rule(self.spelt(part))}{{{fewest},{most}}}"


def quoted(text: str) -> str:
    """A literal."""
    plain = (char if char.isprintable() and char not in '"\\' else escaped(ord(char)) for char in text)
    return f'"{"".join(plain)}"'


def _json(text: str) -> str:
    return msgspec.json.encode(text).decode()
