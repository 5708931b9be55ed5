"""What a docstring says of a function and of its parameters, in the three ways in which people write them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from inspect import cleandoc

import msgspec

MOST_CHARACTERS = 20_000
"""Of a docstring; what is beyond isn't read."""

_PARAMETERS = {"args", "arguments", "parameters", "params", "keyword args", "keyword arguments", "other parameters"}
_SECTIONS = _PARAMETERS | {
    *("attributes", "example", "examples", "note", "notes", "raises", "references", "return", "returns", "see also"),
    *("todo", "usage", "warning", "warnings", "warns", "yield", "yields"),
}
_HEADING = re.compile(r"([A-Za-z]+(?: [A-Za-z]+)?):?[ \t]*$")
_GOOGLE = re.compile(r"\*{0,2}(\w+)[ \t]*(?:\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\))?[ \t]*:(?!:)[ \t]*(.*)")
_NUMPY = re.compile(r"(\*{0,2}\w+(?:, ?\*{0,2}\w+)*)[ \t]*(?::.*)?$")
_FIELD = re.compile(r"[:@](param|parameter|arg|argument|key|keyword)\s+(?:[^:\n]*?[\s*])?(\w+):[ \t]*(.*)")
_OTHER_FIELD = re.compile(r"[:@](type|rtype|return|returns|raise|raises|except|exception|yield|yields)\b[^:\n]*:")


class Docs(msgspec.Struct, frozen=True):
    """A docstring, taken apart."""

    description: str = ""
    parameters: Mapping[str, str] = {}


def read_docstring(text: str | None) -> Docs:
    """Everything before the first section is the description. Google's, NumPy's and Sphinx's forms are known."""
    lines = cleandoc((text or "")[:MOST_CHARACTERS]).split("\n")
    description: list[str] = []
    parameters: dict[str, str] = {}
    told = False
    at = 0
    while at < len(lines):
        heading, body = _heading(lines, at)
        if heading is not None:
            told = True
            # Below an underlined heading nothing is indented; nor below one on the first line, as Python reads it.
            end = _end_of_section(lines, body, flat=body > at + 1 or at == 0)
            if heading in _PARAMETERS:
                read = _numpy_entries if body > at + 1 else _google_entries
                parameters.update(read(lines[body:end]))
            at = end
        elif field := _FIELD.match(lines[at]):
            told = True
            end = _end_of_field(lines, at + 1)
            parameters[field[2]] = _joined([field[3], *lines[at + 1 : end]])
            at = end
        elif _OTHER_FIELD.match(lines[at]):
            told = True
            at = _end_of_field(lines, at + 1)
        else:
            if not told:
                description.append(lines[at])
            at += 1
    return Docs("\n".join(description).strip(), {name: said for name, said in parameters.items() if said})


def _heading(lines: list[str], at: int) -> tuple[str | None, int]:
    """The name of the section that starts here, if one does, and where its body starts."""
    found = _HEADING.match(lines[at])
    if not found or found[1].lower() not in _SECTIONS:
        return None, at
    below = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if len(below) >= 3 and not below.strip("-="):
        return found[1].lower(), at + 2
    return (found[1].lower(), at + 1) if lines[at].rstrip().endswith(":") else (None, at)


def _end_of_section(lines: list[str], start: int, *, flat: bool) -> int:
    for at in range(start, len(lines)):
        line = lines[at]
        if line[:1].strip() and (not flat or _heading(lines, at)[0] is not None):
            return at
    return len(lines)


def _end_of_field(lines: list[str], start: int) -> int:
    for at in range(start, len(lines)):
        if not lines[at].strip() or lines[at][0] in ":@":
            return at
    return len(lines)


def _google_entries(lines: list[str]) -> dict[str, str]:
    return _entries(lines, _GOOGLE)


def _numpy_entries(lines: list[str]) -> dict[str, str]:
    return _entries(lines, _NUMPY)


def _entries(lines: list[str], starts: re.Pattern[str]) -> dict[str, str]:
    """An entry starts at the section's own indentation; what is further in belongs to it."""
    margin = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    entries: dict[str, list[str]] = {}
    names: list[str] = []
    for line in lines:
        text = line[margin:]
        if text[:1].strip():
            found = starts.match(text)
            names = [name.strip(" *") for name in found[1].split(",")] if found else []
            said = found[2] if found and starts is _GOOGLE else ""
            entries.update({name: [said] for name in names})
        else:
            for name in names:
                entries[name].append(text)
    return {name: _joined(said) for name, said in entries.items()}


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
