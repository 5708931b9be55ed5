from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.cli import installation
from callgate.cli.installation import as_installed, source_in

PLAIN = "'callgate"


def record(url: str, **more: Any) -> str:
    return json.dumps({"url": url, **more})


def test_what_came_out_of_a_folder_is_added_to_out_of_that_folder(tmp_path: Path) -> None:
    folder = tmp_path / "my callgate"
    folder.mkdir()
    assert source_in(record(folder.as_uri(), dir_info={})) == f"'{folder}"
    assert source_in(record(folder.as_uri(), dir_info={"editable": True})) == f"-e '{folder}"
    folder.rmdir()
    assert source_in(record(folder.as_uri(), dir_info={})) == PLAIN, "it is gone"


@pytest.mark.parametrize(
    "url", ["https://example.org/callgate.whl", "file://host/", "file:///it's", "", "file:///a%0ab"]
)
def test_anything_else_has_the_plain_name(url: str) -> None:
    assert source_in(record(url)) == PLAIN


@given(st.text())
def test_no_record_is_too_odd(text: str) -> None:
    assert source_in(text) == PLAIN


def test_only_what_pip_is_to_install_is_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "_source", lambda: "'/there")
    assert as_installed("pip install 'callgate[mcp]', and run it") == "pip install '/there[mcp]', and run it"
    for hint in ("callgate config", "there is no 'callgate[", "pip install something"):
        assert as_installed(hint) == hint
