"""Tools in few words."""

from __future__ import annotations

from typing import Any

from callgate.gate.emulation.closing import closed
from callgate.gate.emulation.describing import LONGEST_DESCRIPTION, described
from callgate.vocabulary import Tool


def lines(*properties: tuple[str, Any], description: str = "") -> list[str]:
    tool = Tool("t", description, {"type": "object", "properties": dict(properties), "required": ["a"]})
    return described([(tool, closed(tool.parameters, 4000, longest_text=1999))]).splitlines()


def test_every_kind_has_a_short_name() -> None:
    assert lines(
        ("a", {"type": "array", "items": {"type": ["integer", "null"]}}),
        ("b", {"type": "object", "properties": {"x": {"type": "number"}, "y": {"const": 1}}, "required": ["x"]}),
        ("c", {"type": "boolean"}),
        ("d", {"type": "object", "additionalProperties": {"type": "string"}}),
        ("e", {"prefixItems": [{"type": "string"}, {"format": "date"}]}),
    ) == ["- t(a: (integer | null)[], b?: {x: number, y?: 1}, c?: boolean, d?: {…: string}, e?: [string, string])"]


def test_what_parameters_are_for_is_told_below() -> None:
    assert lines(("a", {"type": "string", "description": " Its\n name "}), description="Does it.") == [
        "- t(a: string): Does it.",
        "    a: Its name",
    ]


def test_long_stories_are_cut() -> None:
    (line,) = lines(("a", {"type": "string"}), description="word " * 1000)
    assert len(line) < LONGEST_DESCRIPTION + 30
    assert line.endswith("…")
    (listed,) = lines(("a", {"enum": list(range(1000))}))
    assert listed.endswith("29 | …)")


def test_deep_shapes_are_cut() -> None:
    deep: dict[str, Any] = {"type": "string"}
    for _ in range(8):
        deep = {"type": "object", "properties": {"x": deep}}
    assert "…" in lines(("a", deep))[0]
