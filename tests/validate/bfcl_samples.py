"""A folder in the form of the Berkeley leaderboard's data, with questions of our own."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

PAINT = {
    "name": "shop.paint_needed",
    "description": "Litres of paint for a wall.",
    "parameters": {
        "type": "dict",
        "properties": {
            "width": {"type": "float", "description": "In metres."},
            "coats": {"type": "integer", "description": "How often it is painted."},
            "colour": {"type": "string", "description": "Its name.", "default": "white"},
            "primer": {"type": "boolean", "description": "Whether to prime it first.", "optional": True},
            "walls": {"type": "array", "items": {"type": "string"}, "description": "Which ones."},
            "size": {"type": "tuple", "items": {"type": "float"}, "description": "Width and height."},
            "buyer": {
                "type": "dict",
                "description": "Who pays.",
                "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
            },
            "helpers": {
                "type": "array",
                "items": {"type": "dict", "properties": {"name": {"type": "string"}}},
                "description": "Who helps.",
            },
        },
        "required": ["width"],
    },
}
PLAY = {
    "name": "play_song",
    "description": "Plays a song.",
    "parameters": {
        "type": "dict",
        "properties": {"title": {"type": "string", "description": "Its title."}},
        "required": ["title"],
    },
}


def entry(name: str, question: str, *functions: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "question": [[{"role": "user", "content": question}]], "function": list(functions)}


def answer(name: str, *calls: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": name, "ground_truth": list(calls)}


SIMPLE_ANSWER = {"shop.paint_needed": {"width": [4.0], "coats": [2], "colour": ["", "sky blue"], "primer": ["", True]}}


def write_lines(path: Path, lines: Iterable[object]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def write_bfcl(folder: Path, *, simple: str = "simple_python") -> Path:
    """The four categories, as version 4 lays them out."""
    two = {"play_song": {"title": ["Blue"]}}, {"play_song": {"title": ["Red"]}}
    files = {
        simple: (
            [entry("simple_0", "A wall of 4 metres, {two} coats, please.", PAINT)],
            [answer("simple_0", SIMPLE_ANSWER)],
        ),
        "multiple": (
            [entry("multiple_0", "Play Blue.", PAINT, PLAY)],
            [answer("multiple_0", {"play_song": {"title": ["Blue"]}})],
        ),
        "parallel": ([entry("parallel_0", "Play Blue and Red.", PLAY)], [answer("parallel_0", *two)]),
        "irrelevance": ([entry(f"irrelevance_{number}", "How old is the sun?", PLAY) for number in range(10)], None),
    }
    for category, (entries, answers) in files.items():
        write_lines(folder / f"BFCL_v4_{category}.json", entries)
        if answers is not None:
            write_lines(folder / "possible_answer" / f"BFCL_v4_{category}.json", answers)
    return folder
