from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime import masked, names_a_secret, shown_arguments
from callgate.vocabulary import ToolCall


@pytest.mark.parametrize(
    "name",
    [
        *["password", "api_key", "apiKey", "API-KEY", "token", "access_token", "client_secret", "Authorization", "pin"],
        *["pw", "userPw", "PW", "db_pass", "otp", "otp_code", "TOTP", "2fa", "mfa-code", "passcode", "cvv", "ssn"],
        *["accessTokens", "ssh_key", "session_key", "seed_phrase", "connectionString", "auth", "x-csrf", "psk"],
    ],
)
def test_what_is_named_like_a_secret_is_masked(name: str) -> None:
    assert "hunter2" not in shown_arguments(ToolCall("c", "t", {"a": [{name: "hunter2"}]}))
    for text in BROKEN:
        shown = shown_arguments(ToolCall("c", "t", text.replace("NAME", name)))
        assert name in shown
        assert "hunter2" not in shown
        assert "rose" not in shown


BROKEN = [
    '{"NAME":"hunter2", broken',
    '{"a": 1, "NAME" : "hunter2 \\" rose", "b": }',
    '{"NAME":"hunter2',
    "{'NAME': 'hunter2 rose', 'b': 1}",
    "f(NAME='hunter2')",
    "NAME = hunter2 rose\nb = 1",
    "{NAME: hunter2 rose, b: 1}",
    "<NAME>hunter2 rose</NAME>",
    "<parameter=NAME>hunter2</parameter>",
    '{"NAME": {"user": "rose", "is": ["hunter2"], broken',
    '{"NAME": ["rose", "hunter2"], broken',
    r'{"body": "{\"NAME\": \"hunter2, rose\", \"b\": 1}" broken',
    '{"NAME":\n\t"hunter2\nrose"',
    '"{\\"NAME\\": \\"hunter2\\"}"',
    '{"a": 1, "NAME": "hunter2"}',
]


@pytest.mark.parametrize(
    "name",
    [
        *["max_tokens", "tokenizer", "key", "path", "opinion", "spin", "keyboard", "author", "compass", "bypass"],
        *["monkey", "keys", "pws", "option", "passenger", "topic", "primary_key"],
    ],
)
def test_what_only_sounds_like_one_is_not(name: str) -> None:
    assert masked({name: "hunter2"}) == {name: "hunter2"}
    assert shown_arguments(ToolCall("c", "t", f'{{"{name}": "hunter2", broken')) == f'{{"{name}": "hunter2", broken'


def test_numbers_and_whole_objects_are_masked_too() -> None:
    assert masked({"pin": 1234, "credentials": {"user": "x"}, "has_token": True}) == {
        "pin": "…",
        "credentials": "…",
        "has_token": True,
    }


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"path": "x"}, False),
        ({"path": "x", "a": [{"pw": "y"}]}, True),
        ({"pw": None}, False),
        ('{"pw": "x", broken', True),
        ('{"pw": "x"}', True),
        ('{"path": "x", broken', False),
        ("", False),
    ],
)
def test_whether_something_is_masked_can_be_known(arguments: Any, names: bool) -> None:
    assert names_a_secret(ToolCall("c", "t", arguments)) is names


def test_how_much_is_left_out_is_said() -> None:
    assert shown_arguments(ToolCall("c", "t", {"a": "x" * 100}), 20) == '{"a":"xxxxxxxxxxxxxx… (88 characters more)'
    assert shown_arguments(ToolCall("c", "t", "not json")) == "not json"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["a", "token", "b"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(["a", "secret"]), JSON, max_size=2))
def test_any_arguments_can_be_shown(arguments: dict[str, Any]) -> None:
    assert shown_arguments(ToolCall("c", "t", arguments)).startswith("{")


@given(st.text(max_size=200) | st.text("\"'\\\\:={}[]<>, \npwa-", max_size=300))
def test_any_text_can_be_shown(text: str) -> None:
    shown_arguments(ToolCall("c", "t", text))


@pytest.mark.parametrize(
    "piece", ["pw", "pw:", 'pw:"', "pw=\\\\", 'pw:\\"\\', 'pw:\\"', "pw: {", "-", "\\", "pw \t", "<pw>", 'pw:"\\']
)
def test_a_long_text_takes_no_longer_than_it_is(piece: str) -> None:
    """Twice the text takes about twice the time: else this would take hours."""
    shown_arguments(ToolCall("c", "t", piece * 200_000))
    shown_arguments(ToolCall("c", "t", f"{piece}{piece[-1] * 400_000}"))


def test_arguments_that_are_too_deep_are_shown_all_the_same() -> None:
    deep: Any = []
    for _ in range(500):
        deep = [deep]
    assert "…" in shown_arguments(ToolCall("c", "t", {"a": deep}))
