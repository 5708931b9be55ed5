"""The grammars of tags: a call is an element, and each parameter an element in it."""

from __future__ import annotations

import re
from html import unescape

from callgate.gate.recovery.finders import finder
from callgate.gate.recovery.grammars import LONGEST_NAME, read_arguments
from callgate.gate.recovery.said import Said, object_of
from callgate.gate.recovery.shapes import Block, Tags
from callgate.gate.recovery.source import Reading, Source
from callgate.gate.recovery.values import read_value

LONGEST_HEAD = 1_000
DEEPEST_ELEMENT = 50

_HEAD = re.compile(r"[^<>\n]*")
_ATTRIBUTE = re.compile(r"(?<![\w:-])([\w:-]++)\s*+=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_SPACES = re.compile(r"\s*")
_NAME_ATTRIBUTES = ("name", "tool", "key")
_KEY = ("<arg_key>", "</arg_key>")
_VALUE = ("<arg_value>", "</arg_value>")
_BEFORE_ARGUMENTS = ("<tool_sep>",)
_NAME = re.compile(r"[^\s<>{}\[\]()\"]*")
_WRITTEN_OUT = "\\n"


def read_elements(source: Source, block: Block) -> Reading[list[Said]]:
    """`<function=get_weather><parameter=city>Paris</parameter></function>` and its relatives."""
    tags = block.tags
    assert tags is not None
    head = yield from _head(source, tags.head_end)
    name = _name_in(head)
    if not name:
        return []
    ends = (*tags.call_end, *block.close)
    values: dict[str, object] = {}
    texts: dict[str, str] = {}
    flaws: tuple[str, ...] = ()
    unclosed = False
    while not head.endswith("/"):
        char = yield from source.skip_blank()
        found = yield from source.take(finder(*tags.parameter, *ends))
        if not found:
            if char == "{" and not values:
                read = object_of((yield from read_value(source, brackets="{")))
                if read is None:
                    return []
                values.update(read.value)
                flaws = read.rules
                continue
            # Between two parameters the text may end, or what stands around the call: its own end was forgotten.
            if block.strict or (char and not (values and (yield from source.ahead(2)) == "</")):
                return []
            unclosed = True
            break
        if found in ends:
            break
        key, value, kind, closed = yield from _parameter(source, tags, ends)
        if not key or key in values or not closed:  # twice, or cut off inside of a value
            return []
        values[key], texts[key] = value, kind
        if closed in ends:
            break
    return [Said(name, values, texts, flaws, unclosed)]


def _head(source: Source, end: str) -> Reading[str]:
    """The rest of an opening tag. Where its end was forgotten, the line is its end."""
    if end != ">":
        text, _ = yield from source.until(finder(end), LONGEST_HEAD)
        return text
    text = yield from source.while_in(_HEAD, LONGEST_HEAD)
    if (yield from source.ahead(1)) == ">":
        source.at += 1
    return text


def _name_in(head: str) -> str:
    if head.startswith("="):
        return head[1:].strip().strip("\"'").rstrip("/").strip()
    attributes = _attributes(head)
    return next((attributes[key].strip() for key in _NAME_ATTRIBUTES if key in attributes), "")


def _attributes(head: str) -> dict[str, str]:
    found = _ATTRIBUTE.finditer(head.replace("Ġ", " "))
    return {match[1]: unescape(match[2] or match[3] or match[4] or "") for match in found}


def _parameter(source: Source, tags: Tags, ends: tuple[str, ...]) -> Reading[tuple[str, str, str, str]]:
    """One parameter: its name, its text, what was said of its type, and the tag that ended it."""
    head = yield from _head(source, tags.head_end)
    key = _name_in(head)
    if head.endswith("/") and not head.startswith("="):
        return key, "", "", tags.parameter_end[0]
    data = (yield from _character_data(source)) if tags.cdata else None
    text, closed = yield from source.until(finder(*tags.parameter_end, *tags.parameter, *ends))
    while closed in tags.call_end:
        blank = yield from source.while_in(_SPACES)
        if (yield from source.ahead(1)) in ("", "<"):
            break
        more, ended = yield from source.until(finder(*tags.parameter_end, *tags.parameter, *ends))
        text, closed = f"{text}{closed}{blank}{more}", ended  # what looked like the end is part of the value
    if closed in tags.parameter:  # the end was forgotten
        source.at -= len(closed)
        closed = tags.parameter_end[0]
    attributes = _attributes(head)
    kind = attributes.get("type") or {"true": "string", "false": "json"}.get(attributes.get("string", ""), "")
    return key, text.removeprefix("\n").removesuffix("\n") if data is None else data, kind, closed


def _character_data(source: Source) -> Reading[str | None]:
    """What stands in a section of character data, if one comes next: tags in it are none."""
    if not (yield from source.take(finder("<![CDATA["))):
        return None
    text, _ = yield from source.until(finder("]]>"))
    return text


def read_pairs(source: Source, block: Block) -> Reading[list[Said]]:
    """`get_weather<arg_key>city</arg_key><arg_value>Paris</arg_value>`."""
    yield from source.skip_blank()
    name = (yield from source.while_in(_NAME, LONGEST_NAME)).removesuffix("\\n")
    return (yield from read_pairs_of(source, block, name))


def _joint(source: Source) -> Reading[None]:
    """Passes white space, also where a line break was written out."""
    while (yield from source.skip_blank()) == _WRITTEN_OUT[0] and (yield from source.ahead(2)) == _WRITTEN_OUT:
        source.at += 2


def read_pairs_of(source: Source, block: Block, name: str, *, whole: bool = False) -> Reading[list[Said]]:
    """The same, with the name read. `whole`: the end of the text is the end of the call."""
    values: dict[str, object] = {}
    if not name:
        return []
    while True:
        yield from _joint(source)
        if not values and (yield from source.ahead(1)) == "{":
            return (yield from read_arguments(source, Block((), "named", block.close), name, announced=False))
        found = yield from source.take(finder(_KEY[0], *_BEFORE_ARGUMENTS, *block.close))
        if found in _BEFORE_ARGUMENTS:
            continue
        if found == _KEY[0]:
            key, ended = yield from source.until(finder(_KEY[1], _VALUE[0], *block.close))
            if ended == _KEY[1]:
                yield from _joint(source)
                orphan = yield from source.take(finder(_VALUE[0], _KEY[0], *block.close))
                if orphan and orphan != _VALUE[0]:  # a key without a value
                    source.at -= len(orphan)
                    continue
            elif ended != _VALUE[0]:
                return []
            value, ended = yield from source.until(finder(_VALUE[1], _KEY[0], *block.close))
            values[key.strip()] = value
            if ended == _KEY[0]:
                source.at -= len(ended)
            elif not ended:
                return [Said(name, values, dict.fromkeys(values, ""), unclosed=True)] if whole else []
            elif ended in block.close:
                return [Said(name, values, dict.fromkeys(values, ""))]
            continue
        if not found:
            found = yield from source.take_end(finder(*block.close))
            if not source.ended or source.at < len(source.text) or not (values or whole):
                return []
        return [Said(name, values, dict.fromkeys(values, ""), unclosed=not found)]


def read_nested(source: Source, block: Block) -> Reading[list[Said]]:
    """Elements in elements, each tag behind a mark of its own: objects, and arrays of `item`."""
    tags = block.tags
    assert tags is not None
    head = yield from _head(source, ">")
    name = _name_in(head)
    if not name:
        return []
    mark = tags.parameter[0]
    open_elements: list[tuple[str, list[tuple[str, object]]]] = [(name, [])]
    while True:
        text, found = yield from source.until(finder(mark))
        if not found:
            inner = open_elements[0][1]
            return [_nested_call(name, inner, unclosed=True)] if len(open_elements) == 1 and inner else []
        closing = (yield from source.ahead(1)) == "/"
        element = (yield from source.while_in(_HEAD, LONGEST_HEAD)).lstrip("/").strip()
        if (yield from source.ahead(1)) == ">":
            source.at += 1
        if not closing:
            open_elements.append((element, []))
            if len(open_elements) > DEEPEST_ELEMENT:
                return []
            continue
        if len(open_elements) == 1:
            return [_nested_call(name, open_elements[0][1])]
        key, inner = open_elements.pop()
        if element != key:
            return []
        open_elements[-1][1].append((key, _value_of(inner) if inner else text))


def _nested_call(name: str, inner: list[tuple[str, object]], *, unclosed: bool = False) -> Said:
    value = dict(inner)
    return Said(name, value, dict.fromkeys(value, ""), unclosed=unclosed)


def _value_of(inner: list[tuple[str, object]]) -> object:
    if {key for key, _ in inner} == {"item"}:
        return [value for _, value in inner]
    found: dict[str, list[object]] = {}
    for key, value in inner:
        found.setdefault(key, []).append(value)
    return {key: values if len(values) > 1 else values[0] for key, values in found.items()}
