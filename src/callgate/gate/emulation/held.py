"""What an answer is held to: a schema, or a grammar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from callgate.gate.emulation.conventions import ARGUMENTS, CALLS, CLOSE, NAME, OPEN, REPLY
from callgate.gate.emulation.grammar_text import GrammarWriter, quoted
from callgate.gate.emulation.schema_text import LONGEST_TEXT, SchemaWriter
from callgate.gate.emulation.shapes import Field, Literals, Record, Rows, Shape, Words, choice

MOST_PARAGRAPHS = 8
_UNTOUCHED = ("const", "enum", "default", "examples")
"""What is under these is data, whatever it looks like."""


def schema_for(
    tools: Mapping[str, Shape], *, most: int, forced: bool, reply: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """A schema of calls or of a reply, or of calls alone. `reply` is a schema of the user's own."""
    writer = SchemaWriter()
    calls = writer.schema(_only(CALLS, Rows(_call(tools, "json"), 1, most)))
    if forced:
        return {**calls, "$defs": writer.definitions()}
    if reply is None:
        answer = writer.schema(_only(REPLY, Rows(Words(0, LONGEST_TEXT), 1, MOST_PARAGRAPHS)))
    else:
        answer = {
            "type": "object",
            "properties": {REPLY: _moved(reply, f"#/anyOf/1/properties/{REPLY}")},
            "required": [REPLY],
            "additionalProperties": False,
        }
    return {"anyOf": [calls, answer], "$defs": writer.definitions()}


def grammar_for(tools: Mapping[str, Shape], *, most: int, forced: bool) -> str:
    """A grammar of calls, or of any words up to the tag that opens one: then a call has to follow."""
    writer = GrammarWriter()
    call = writer.value(_call(tools, "tags"))
    end = quoted(CLOSE)
    more = f' ("\\n"? {writer.rule(f"{quoted(OPEN)} {call} {end}")}){{0,{most - 1}}}' if most > 1 else ""
    rest = f"{call} {end}{more}"
    if forced:
        return writer.grammar(f"{quoted(OPEN)} {rest}")
    # One rule for each character of the tag that was written: words may stop, or go on otherwise, at any of them.
    rules = [f"words-{len(OPEN)} ::= {rest}"]
    for count, char in enumerate(OPEN):
        again = ' | "<" words-1' if count else ""
        rules.append(f'words-{count} ::= [^<{char}] words-0 | "{char}" words-{count + 1}{again} | ""')
    return writer.grammar("words-0") + "\n".join(rules) + "\n"


def _call(tools: Mapping[str, Shape], convention: Any) -> Shape:
    key = ARGUMENTS[convention]
    each: list[Shape] = [
        Record((Field(NAME, Literals((name,)), True), Field(key, shape, True))) for name, shape in tools.items()
    ]
    return choice(each)


def _only(key: str, shape: Shape) -> Shape:
    return Record((Field(key, shape, True),))


def _moved(schema: Any, root: str) -> Any:
    """A schema that stands elsewhere now: its references too."""
    if isinstance(schema, Mapping):
        return {
            key: root + value[1:]
            if key == "$ref" and isinstance(value, str) and value.startswith("#")
            else value
            if key in _UNTOUCHED
            else _moved(value, root)
            for key, value in schema.items()
        }
    if isinstance(schema, list | tuple):
        return [_moved(one, root) for one in schema]
    return schema
