import pytest

from callgate.backends.ollama.versions import CALL_IDS, JINJA_TEMPLATES, STREAMED_TOOLS, TOOLS, is_older, lacks
from callgate.vocabulary import Message, ToolCall
from tests.backends.played_ollama import QUESTION, WEATHER, asking

SAME_TOOL_TWICE = Message(role="assistant", calls=(ToolCall("a", "f", {}), ToolCall("b", "f", {})))
TWO_TOOLS = Message(role="assistant", calls=(ToolCall("a", "f", {}), ToolCall("b", "g", {})))


@pytest.mark.parametrize(
    ("version", "older"),
    [
        ("0.2.9", True),
        ("0.3", False),
        ("0.3.0", False),
        ("v0.2.1", True),
        ("0.3.0-rc1", False),
        ("0.12.11", False),
        ("0.10.0", False),
        ("1.0.0", False),
        ("0.0.0", False),
        ("0.0.1", True),
        ("", False),
        ("dev", False),
        (None, False),
        ("9" * 5000, False),
        ("٠.٢.١", False),
    ],
)
def test_who_does_not_tell_its_version_counts_as_new(version: str | None, older: bool) -> None:
    assert is_older(version, TOOLS) is older


def test_versions_are_compared_as_numbers() -> None:
    assert is_older("0.9.9", CALL_IDS)
    assert is_older("0.12.3", CALL_IDS)
    assert is_older("0.29.9", JINJA_TEMPLATES)
    assert not is_older("0.10.0", STREAMED_TOOLS)


@pytest.mark.parametrize(
    ("version", "needed"), [("0.2.8", ["0.3"]), ("0.7.0", ["0.8", "0.12.11"]), ("0.12.10", ["0.12.11"]), ("0.13.0", [])]
)
def test_a_notice_names_both_versions(version: str, needed: list[str]) -> None:
    notices = lacks(asking(messages=(QUESTION, SAME_TOOL_TWICE), tools=(WEATHER,)), version)
    assert [notice.kind for notice in notices] == ["server_too_old"] * len(needed)
    for notice, wanted in zip(notices, needed, strict=True):
        assert f"Ollama {wanted}," in notice.message
        assert version in notice.message


def test_nobody_is_told_of_what_the_request_does_not_need() -> None:
    assert lacks(asking(messages=(QUESTION, TWO_TOOLS), tools=(WEATHER,), stream=False), "0.5.0") == []
