"""docs/formats.md lists every format that the code knows, and each of its examples comes to what the page says.

`python -m tests.docs.test_formats_page` writes the part of the page that is made from the code.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from callgate.gate import FORMATS, recover
from callgate.gate.recovery.formats_of_code import CODE_FORMATS
from callgate.gate.recovery.formats_of_json import JSON_FORMATS
from callgate.gate.recovery.formats_of_tags import TAG_FORMATS
from callgate.gate.recovery.offered import UNCLOSED
from callgate.gate.recovery.shapes import Format
from callgate.tools import Names, repair, repairing
from callgate.vocabulary import Tool

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "formats.md"
TOOLS = ROOT / "src" / "callgate" / "tools"
BEGIN, END = "<!-- formats: from the code -->\n", "<!-- formats: end -->\n"
NEW_LINE = "↵"
"""How the page writes one within a table."""
WEATHER = Tool(
    "get_weather",
    "Get the weather.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)
TIME = Tool("get_time", "Get the time.", {"type": "object", "properties": {}})
GROUPS = {
    "Arguments in JSON": JSON_FORMATS,
    "Elements": TAG_FORMATS,
    "Code and channels": CODE_FORMATS,
}
IN_GROUPS = [known for group in GROUPS.values() for known in group]
OTHERS = [known for name, known in FORMATS.items() if known not in IN_GROUPS]
WITH_CALLS = [known for known in FORMATS.values() if known.name not in ("ollama_generic", "plain_no_tools")]


def made_from_the_code() -> str:
    """The table of all formats, and an example of each."""
    table = ["| format | families of models | also without marks |", "|---|---|---|"]
    for known in (*IN_GROUPS, *OTHERS):
        families = ", ".join(known.families) or ("told by the template alone" if known.markers else "")
        table.append(f"| `{known.name}` | {families} | {', '.join(known.bare)} |")
    examples = []
    for title, group in GROUPS.items():
        examples += [f"### {title}", ""]
        for known in group:
            examples += [f"`{known.name}`", "", "````text", known.example, "````", ""]
    return "\n".join([*table, "", *examples])


def page() -> str:
    return PAGE.read_text("utf-8")


def rows(heading: str) -> list[list[str]]:
    """The cells of the first table below a heading, without their backquotes."""
    below = page().split(f"\n## {heading}\n", 1)[1]
    table = next(part for part in below.strip().split("\n\n") if part.startswith("|"))
    return [[_plain(cell) for cell in line.strip("|").split(" | ")] for line in table.splitlines()[2:]]


def _plain(cell: str) -> str:
    return re.sub(r"^(`+) ?(.*?) ?\1$", r"\2", cell.strip())


def test_the_page_lists_the_formats_as_the_code_has_them() -> None:
    there = page().split(BEGIN, 1)[1].split(END, 1)[0]
    assert there.strip() == made_from_the_code().strip(), "python -m tests.docs.test_formats_page writes it anew"


@pytest.mark.parametrize("known", WITH_CALLS, ids=lambda known: known.name)
@pytest.mark.parametrize("chunk", [None, 1, 7])
def test_each_example_on_the_page_is_a_call_whole_and_in_pieces(known: Format, chunk: int | None) -> None:
    text = known.example
    pieces = [text] if chunk is None else [text[at : at + chunk] for at in range(0, len(text), chunk)]
    (call,) = recover(iter(pieces), [WEATHER, TIME], format=known.name).calls
    assert (call.name, call.arguments) in [("get_weather", {"city": "Paris"}), ("get_time", {})]
    assert recover(iter(pieces), [WEATHER, TIME]).calls[0].arguments == call.arguments


@pytest.mark.parametrize("row", rows("Repairs of arguments"), ids=lambda row: str(row[0]))
def test_each_repair_of_arguments_does_what_the_page_says(row: list[str]) -> None:
    rule, properties, sent, received = row
    schema = {"type": "object", "properties": json.loads(properties), "additionalProperties": False}
    outcome = repair(json.loads(sent), schema)
    assert ([each.rule for each in outcome.repairs], outcome.errors) == ([rule], ())
    assert outcome.arguments == json.loads(received)


@pytest.mark.parametrize("row", rows("Repairs of JSON"), ids=lambda row: str(row[0]))
def test_each_repair_of_json_does_what_the_page_says(row: list[str]) -> None:
    flaw, sent, received = row
    outcome = repair(sent.replace(NEW_LINE, "\n"), {"type": "object"})
    (change,) = outcome.repairs
    assert flaw in change.rule.removeprefix("malformed-json: ").split(", ")
    assert outcome.arguments == json.loads(received)


@pytest.mark.parametrize("row", rows("Repairs of names"), ids=lambda row: str(row[2]))
def test_each_repair_of_a_name_does_what_the_page_says(row: list[str]) -> None:
    rule, offered, said, meant = row
    enum: dict[str, Any] = {"type": "object", "properties": {"state": {"enum": ["on", "off"]}}}
    names = Names.of((Tool(offered, "", enum),), r"^.*$")
    given = {} if rule == "name-value" else {"state": "off"}
    found = names.resolve(said, given)
    assert found
    assert {each.rule for each in found.repairs} == {rule}
    more = "" if found.arguments == given else f" {json.dumps(found.arguments)}"
    assert f"{found.name}{more}" == meant


@pytest.mark.parametrize("text", [row[0] for row in rows("What stays as it is")])
def test_what_the_page_says_is_left_alone_is_left_alone(text: str) -> None:
    text = text.replace(NEW_LINE, "\n")
    found = recover(text, [WEATHER])
    assert (found.calls, found.content) == ((), text)


def test_every_rule_that_the_code_spells_is_on_the_page() -> None:
    named = {match[1] for match in re.finditer(r"^\| `([a-z-]+)`", page(), re.MULTILINE)}
    told = re.findall(r"^    ([a-z-]+(?:, [a-z-]+)*)(?:: …)?  ", repairing.__doc__ or "", re.MULTILINE)
    rules = {rule for line in told for rule in line.split(", ")} - {"malformed-json"}
    assert len(rules) > 10
    for file in TOOLS.glob("loose_*.py"):
        for line in file.read_text("utf-8").splitlines():
            if "rules.add(" in line:
                rules.update(re.findall(r'"([a-z]+(?:-[a-z]+)*)"', line))
    rules.update(re.findall(r'"(name-[a-z]+)"', (TOOLS / "naming.py").read_text("utf-8")))
    assert sorted(rules - named) == []
    assert f"`{UNCLOSED}`" in page()


if __name__ == "__main__":
    before, _, rest = page().partition(BEGIN)
    after = rest.partition(END)[2]
    PAGE.write_text(f"{before}{BEGIN}\n{made_from_the_code()}\n{END}{after}", "utf-8")
