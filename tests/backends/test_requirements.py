import logging

import pytest

from callgate.backends.requirements import require_tools
from callgate.vocabulary import Answer, Capabilities, ModelRejected


@pytest.mark.parametrize(
    ("known", "cap"),
    [
        (Capabilities(name="x", tools=Answer.NO, supports_tools=False, supports_tool_calls=False), "supports_tools"),
        (Capabilities(name="x", tools=Answer.NO, supports_tools=False, supports_tool_calls=True), "supports_tools"),
        (
            Capabilities(name="x", tools=Answer.NO, supports_tools=True, supports_tool_calls=False),
            "supports_tool_calls",
        ),
        (Capabilities(name="x", tools=Answer.NO), "supports_tools"),
    ],
)
def test_a_model_without_tools_is_rejected_by_the_cap_that_it_lacks(
    known: Capabilities, cap: str, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING), pytest.raises(ModelRejected) as caught:
        require_tools(known, "x")
    assert str(caught.value) == (f"Model 'x' rejected: its chat template does not support tool calling ({cap}=false)")
    assert "CALLGATE_MODELS_REQUIRE_TOOLS" in str(caught.value.hint)
    assert "--require-tools" in str(caught.value.hint)
    assert "create_failure:tools_unsupported" in caplog.text


@pytest.mark.parametrize("tools", [Answer.YES, Answer.UNKNOWN])
def test_a_model_that_has_tools_or_may_have_them_is_let_in(tools: Answer) -> None:
    require_tools(Capabilities(name="x", tools=tools, supports_tools=False), "x")
