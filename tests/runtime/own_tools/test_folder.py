from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from callgate.runtime.own_tools import built_in_tools
from callgate.runtime.own_tools.folder import LARGEST_FILE, Folder
from callgate.runtime.own_tools.inside import NotInside, parts_of
from callgate.vocabulary import NotFound


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret.txt").write_text("the treasure")
    root = tmp_path / "shared"
    (root / "docs").mkdir(parents=True)
    (root / "docs" / "plan.md").write_text("".join(f"Line {number}\n" for number in range(1, 301)))
    (root / "empty.txt").write_text("")
    (root / "picture.png").write_bytes(b"\x89PNG\0\0")
    (root / ".env").write_text("KEY=treasure")
    (root / "out").symlink_to(tmp_path)
    (root / "leak.txt").symlink_to(tmp_path / "secret.txt")
    (root / "within.txt").symlink_to(root / "empty.txt")
    os.mkfifo(root / "pipe")
    return root


@pytest.fixture
def folder(root: Path) -> Folder:
    return Folder(str(root))


def test_a_folder_is_listed_without_what_is_hidden_or_leads_out(folder: Folder) -> None:
    assert folder.list_files().content.splitlines() == ["docs/", "empty.txt  0", "picture.png  6"]
    assert folder.list_files("docs/").content.startswith("plan.md  ")


def test_a_file_is_read_by_lines(folder: Folder) -> None:
    whole = folder.read_file("docs/plan.md").content.splitlines()
    assert whole[0] == "Line 1"
    assert whole[-1] == "(lines 1 to 200 of 300)"
    assert folder.read_file("./docs//plan.md", 299, 5).content == "Line 299\nLine 300\n(lines 299 to 300 of 300)"
    assert folder.read_file("docs/plan.md", 301).is_error
    assert folder.read_file("empty.txt").content == "(the file is empty)"


def test_files_are_searched(folder: Folder) -> None:
    assert folder.search_files("LINE 27").content.splitlines()[:2] == [
        "docs/plan.md:27: Line 27",
        "docs/plan.md:270: Line 270",
    ]
    assert folder.search_files("treasure").content == "(nothing found)"
    assert folder.search_files("line").content.endswith("… (there may be more)")
    assert folder.search_files(" ").is_error


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("../secret.txt", "leads out"),
        ("docs/../../secret.txt", "leads out"),
        ("/etc/passwd", "without a slash"),
        ("leak.txt", "links aren't followed"),
        ("within.txt", "links aren't followed"),
        ("out/secret.txt", "Not a directory|links"),
        ("out/shared/empty.txt", "Not a directory|links"),
        (".env", "hidden"),
        ("docs/.git/config", "hidden"),
        ("nothing.txt", "No such file"),
        ("docs", "no file"),
        ("pipe", "no file"),
        ("picture.png", "no text"),
        ("a\0b", "no path"),
        ("a/" * 50, "too deep"),
    ],
)
def test_no_way_leads_out_of_the_folder(folder: Folder, path: str, why: str) -> None:
    import re

    said = folder.read_file(path)
    assert said.is_error
    assert re.search(why, said.content)
    assert "treasure" not in said.content
    if path.startswith(("..", "/", "out", ".")):
        assert folder.list_files(path).is_error
        assert folder.search_files("treasure", path).is_error


def test_a_file_that_is_too_large_is_not_read(folder: Folder, root: Path) -> None:
    with (root / "large.txt").open("wb") as file:
        file.truncate(LARGEST_FILE + 1)
    assert "larger than" in folder.read_file("large.txt").content


@given(
    st.lists(
        st.sampled_from(["..", ".", "", "docs", "out", "leak.txt", "~", "secret.txt", "shared", "\\", "a b"]),
        max_size=6,
    )
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_no_path_at_all_leads_out(folder: Folder, names: list[str]) -> None:
    assert "treasure" not in folder.read_file("/".join(names)).content


@given(st.text())
def test_parts_of_any_text_stay_inside(text: str) -> None:
    try:
        parts = parts_of(text)
    except NotInside:
        return
    assert not any(part in ("", ".", "..") or "/" in part for part in parts)


async def test_own_tools_are_harmless_and_described(root: Path) -> None:
    source = built_in_tools(str(root))
    tools = {tool.name: tool for tool in await source.tools()}
    assert list(tools) == ["calculate", "current_time", "list_files", "read_file", "search_files"]
    assert all(tool.description and source.is_harmless(name) for name, tool in tools.items())
    assert tools["read_file"].parameters["required"] == ["path"]
    assert (await source.call("calculate", {"expression": "17 * 23"})).content == "391"
    assert (await source.call("read_file", {"path": "docs/plan.md", "lines": 1})).content.startswith("Line 1")
    a_time = r"[A-Z][a-z]+day \d{4}-\d\d-\d\d \d\d:\d\d"
    assert re.fullmatch(rf"{a_time} \S.*", (await source.call("current_time", {})).content)
    assert re.fullmatch(rf"{a_time} UTC", (await source.call("current_time", {"timezone": "UTC"})).content)
    there = (await source.call("current_time", {"timezone": "Europe/Berlin"})).content
    assert re.fullmatch(rf"{a_time} Europe/Berlin", there)
    for zone in ("Mars/Base", "../etc", "x" * 5000, "Europe"):
        assert (await source.call("current_time", {"timezone": zone})).is_error
    assert [tool.name for tool in await built_in_tools().tools()] == ["calculate", "current_time"]
    with pytest.raises(NotFound, match="no folder"):
        built_in_tools(str(root / "nothing"))
