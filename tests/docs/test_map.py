"""The map in CONTRIBUTING.md has every room and every folder, and nothing that isn't there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CODE = ROOT / "src" / "callgate"
MAP = (ROOT / "CONTRIBUTING.md").read_text("utf-8").partition("## The map")[2].partition("\n## ")[0]
ROWS = dict(re.findall(r"^\| (`[^|]+) \| (.*) \|$", MAP, re.MULTILINE))
NAMED = {name: text for names, text in ROWS.items() for name in re.findall(r"`([^`]+)`", names)}


def folders(under: Path) -> set[str]:
    """Those with files of ours; what tools leave behind isn't on a map."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=under, capture_output=True, text=True, check=True).stdout
    return {f"{path.partition('/')[0]}/" for path in listed.split("\0") if "/" in path and (under / path).exists()}


def modules() -> set[str]:
    return {path.name for path in CODE.glob("*.py")} - {"__init__.py", "__main__.py"}


def test_every_room_is_on_the_map_and_every_room_on_the_map_is_there() -> None:
    inside = folders(CODE) | modules()
    beside = folders(ROOT) - {"src/"}
    assert len(inside) > 15
    assert set(NAMED) == inside | beside


@pytest.mark.parametrize("room", sorted(folders(CODE)))
def test_a_room_names_the_rooms_in_it(room: str) -> None:
    for below in folders(CODE / room):
        assert f"`{below}" in NAMED[room], f"src/callgate/{room}{below} isn't on the map"


@pytest.mark.parametrize("room", sorted(folders(CODE)))
def test_a_room_names_no_room_that_is_not_in_it(room: str) -> None:
    assert set(re.findall(r"`(\w+/)`", NAMED[room])) <= folders(CODE / room)
