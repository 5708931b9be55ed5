from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime.mcp import HttpSpec, StdioSpec, limits_for, read_servers, servers_for
from callgate.runtime.mcp.servers_file import read_server
from callgate.runtime.mcp.variables import MissingVariable, expand
from callgate.settings import Secret, load_settings
from callgate.vocabulary import NotFound, UsageError

ENVIRON = {"TOKEN": "s3cret-t0ken", "EMPTY": "", "HOST": "example.org", "ODD": "${TOKEN}"}


def file_of(folder: Path, servers: Any, name: str = "mcp.json") -> str:
    file = folder / name
    file.write_text(json.dumps({"mcpServers": servers, "theme": "dark"}))
    return str(file)


def test_servers_are_read_in_the_usual_form(tmp_path: Path) -> None:
    servers = {
        "git": {"command": "uvx", "args": ["mcp-server-git", "${HOST}"], "env": {"KEY": "${TOKEN}"}, "cwd": "/tmp"},
        "web": {"type": "http", "url": "https://${HOST}/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}},
        "plain": {"url": "http://127.0.0.1:8000/mcp", "alwaysAllow": []},
        "off": {"command": "x", "disabled": True},
    }
    read = read_servers([file_of(tmp_path, servers)], ENVIRON)
    assert read.failures == ()
    git, web, plain = read.specs
    assert git == StdioSpec(
        name="git",
        command="uvx",
        args=("mcp-server-git", "example.org"),
        env={"KEY": Secret("s3cret-t0ken")},
        cwd="/tmp",
    )
    assert isinstance(web, HttpSpec)
    assert web.where == "https://example.org"
    assert web.headers["Authorization"].reveal() == "Bearer s3cret-t0ken"
    assert "s3cret-t0ken" not in repr(read)
    assert plain.where == "http://127.0.0.1:8000"


def test_of_two_with_one_name_the_later_counts(tmp_path: Path) -> None:
    one = file_of(tmp_path, {"a": {"command": "one"}, "b": {"command": "b"}})
    two = file_of(tmp_path, {"a": {"command": "two"}}, "more.json")
    assert [spec.where for spec in read_servers([one, two], {}).specs] == ["two", "b"]
    settings = load_settings({"mcp.servers": one, "mcp.start_timeout": 3, "mcp.restarts": 1}, environ={})
    assert [spec.where for spec in servers_for(settings, [two]).specs] == ["two", "b"]
    limits = limits_for(settings)
    assert (limits.start, limits.restarts, limits.call) == (3, 1, settings.tools.call_timeout)
    assert servers_for(load_settings(environ={})).specs == ()


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ({}, "neither a command nor a URL"),
        ("uvx", "no object"),
        ({"command": ["uvx"]}, "command is no text"),
        ({"command": " "}, "command is empty"),
        ({"command": "x", "args": "a b"}, "args are no list"),
        ({"command": "x", "args": [1]}, "argument 1 is no text"),
        ({"command": "x", "env": {"A=B": "c"}}, "name that is none"),
        ({"command": "x", "env": {"A": 1}}, "'A' is no text"),
        ({"command": "${NOTHING}"}, "variable 'NOTHING', which isn't set"),
        ({"command": "x", "env": {"A": "${EMPTY}"}}, "variable 'EMPTY'"),
        ({"url": "ftp://a"}, "no URL"),
        ({"url": "http://[::1"}, "no URL"),
        ({"url": "http://a:99999999/"}, "no URL"),
        ({"url": "http://a/", "headers": {"A": "b\r\nC: d"}}, "can't be sent"),
        ({"url": "http://a/", "type": "sse"}, "SSE"),
        ({"command": "x", "type": "pigeon"}, "no type 'pigeon'"),
    ],
)
def test_an_entry_that_is_no_good_is_named_and_costs_no_other(tmp_path: Path, entry: object, why: str) -> None:
    read = read_servers([file_of(tmp_path, {"bad": entry, "good": {"command": "x"}})], ENVIRON)
    assert [spec.name for spec in read.specs] == ["good"]
    (failure,) = read.failures
    assert failure.name == "bad"
    assert "'bad'" in failure.error.message
    assert why in failure.error.message
    assert "s3cret" not in failure.error.message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("{", "no JSON"),
        ("[]", "no 'mcpServers'"),
        ('{"mcpServers": []}', "no 'mcpServers'"),
        ("[" * 100_000, "no JSON"),
        (" " * 1_000_001, "too large"),
        (json.dumps({"mcpServers": {str(number): {} for number in range(101)}}), "101 MCP servers"),
    ],
)
def test_a_file_that_is_no_good_says_why(tmp_path: Path, content: str, why: str) -> None:
    file = tmp_path / "mcp.json"
    file.write_text(content)
    with pytest.raises(UsageError, match=why):
        read_servers([str(file)], {})


def test_a_file_that_is_not_there_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        read_servers([str(tmp_path / "nothing.json")], {})
    with pytest.raises(UsageError, match="can't be read"):
        read_servers([str(tmp_path)], {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("${HOST}", "example.org"),
        ("${env:HOST}/${HOST}", "example.org/example.org"),
        ("${NOTHING:-a b}", "a b"),
        ("${EMPTY:-}", ""),
        ("${ODD}", "${TOKEN}"),
        ("$HOST ${} $${ ${a-b}", "$HOST ${} $${ ${a-b}"),
    ],
)
def test_variables_are_put_in_place_once(text: str, value: str) -> None:
    assert expand(text, ENVIRON) == value


@given(st.text())
def test_any_text_is_expanded_or_names_a_variable(text: str) -> None:
    try:
        assert expand(text, {}) == text or ":-" in text
    except MissingVariable as missing:
        name = str(missing)
    else:
        name = "none"
    assert name.isidentifier()


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
keys = st.sampled_from(["command", "args", "env", "cwd", "type", "url", "headers", "transport"])


@given(st.text(max_size=100), json_values | st.dictionaries(keys, json_values | st.just("http://a/mcp"), max_size=6))
def test_any_entry_is_a_server_or_a_usage_error(name: str, entry: object) -> None:
    try:
        spec = read_server(name, entry, {})
    except UsageError:
        return
    assert spec.name == name
    assert spec.where
