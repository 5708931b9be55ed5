from __future__ import annotations

import pytest

from callgate.runtime.mode import Mode, mode_of
from callgate.vocabulary import Answer

YES, NO, UNKNOWN = Answer.YES, Answer.NO, Answer.UNKNOWN


@pytest.mark.parametrize(
    ("tools", "route", "mode"),
    [
        (YES, YES, "native"),
        (YES, UNKNOWN, "native"),
        (YES, NO, "emulated"),
        (NO, YES, "emulated"),
        (UNKNOWN, YES, "emulated"),
        (NO, NO, "emulated"),
    ],
)
def test_the_mode_follows_from_both_answers(tools: Answer, route: Answer, mode: Mode) -> None:
    assert mode_of(tools, route) == mode


def test_who_cannot_call_tools_is_left_alone_where_that_is_wanted() -> None:
    assert [mode_of(tools, YES, when_unsupported="off") for tools in (YES, NO, UNKNOWN)] == ["native", "off", "off"]
    assert mode_of(YES, NO, when_unsupported="off") == "emulated"


@pytest.mark.parametrize("tools", [YES, NO, UNKNOWN])
def test_models_for_embedding_get_no_tools(tools: Answer) -> None:
    assert mode_of(tools, YES, embedding=True) == "off"
