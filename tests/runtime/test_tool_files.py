from __future__ import annotations

import sys
from pathlib import Path

import pytest

from callgate.runtime.tool_files import read_tool_file
from callgate.vocabulary import NotFound, UsageError


def written(folder: Path, text: str, name: str = "mine.py") -> str:
    file = folder / name
    file.write_text(text)
    return str(file)


async def test_public_functions_of_a_file_are_tools(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("FACTOR = 3\ndef helper(): ...\n")
    text = """
from __future__ import annotations
from dataclasses import dataclass
from beside import FACTOR, helper

@dataclass
class Point:
    x: int

def treble(number: int) -> int:
    '''Multiply by three.

    Args:
        number: Any number.
    '''
    return number * FACTOR

async def at(point: Point) -> int:
    return point.x

def _private(): ...
"""
    before = list(sys.path)
    source = read_tool_file(written(tmp_path, text))
    assert sys.path == before
    assert source.name == "mine"
    tools = await source.tools()
    assert [tool.name for tool in tools] == ["treble", "at"]
    assert tools[0].description == "Multiply by three."
    assert (await source.call("treble", {"number": 14})).content == "42"
    assert (await source.call("at", {"point": {"x": 7}})).content == "7"
    assert not source.is_harmless("treble")


async def test_a_file_says_what_it_offers_and_what_is_harmless(tmp_path: Path) -> None:
    text = "__all__ = ['b']\nHARMLESS = ['b']\ndef a(): ...\ndef b(): return 'b'\n"
    source = read_tool_file(written(tmp_path, text))
    assert [tool.name for tool in await source.tools()] == ["b"]
    assert source.is_harmless("b")
    assert read_tool_file(written(tmp_path, "HARMLESS = True\ndef a(): ...\n", "other.py")).is_harmless("a")


async def test_a_file_is_read_anew_and_two_of_one_name_are_apart(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    one = read_tool_file(written(tmp_path, "def f() -> str:\n    return 'one'\n"))
    two = read_tool_file(written(tmp_path / "sub", "def f() -> str:\n    return 'two'\n"))
    assert (await one.call("f", {})).content == "one"
    assert (await two.call("f", {})).content == "two"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x = 1\n", "no public function"),
        ("def f(:\n", r"line 1\): SyntaxError"),
        ("\nimport no_such_module_here\n", r"line 2\): ModuleNotFoundError"),
        ("raise SystemExit(3)", "SystemExit: 3"),
        ("__all__ = ['f']\n", "'f' in its __all__"),
        ("HARMLESS = 3\ndef f(): ...\n", "HARMLESS"),
        ("def f(a: 'Nothing'): ...\n", "'f' can't be a tool|Nothing"),
    ],
)
def test_a_file_that_is_no_good_says_why(tmp_path: Path, text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        read_tool_file(written(tmp_path, text))


def test_a_file_that_is_not_there_or_no_python_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_tool_file(str(tmp_path / "nothing.py"))
    with pytest.raises(UsageError, match="no Python file"):
        read_tool_file(written(tmp_path, "hello", "tools.txt"))
