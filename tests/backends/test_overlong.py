from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.ollama.errors import failure, refusal
from callgate.backends.openai.failures import Failures
from callgate.backends.overlong import context_exceeded
from callgate.vocabulary import BadStatus, ChatRequest, ContextExceeded, StreamFailed

LLAMA = "request (21008 tokens) exceeds the available context size (4096 tokens), try increasing it"
REQUEST = ChatRequest(model="m", messages=())


@pytest.mark.parametrize(
    ("said", "needed", "room"),
    [
        (LLAMA, 21008, 4096),
        ("the request exceeds the available context size, try increasing it", None, None),
        (
            "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens.",
            5000,
            4097,
        ),
        (
            "This model's maximum context length is 4096 tokens. However, you requested 5100 tokens in total.",
            5100,
            4096,
        ),
        (
            "Requested token count exceeds the maximum context length of 2048 tokens. You requested 3000 tokens",
            3000,
            2048,
        ),
        ("The input (5000 tokens) is longer than the model's context length (4096 tokens).", 5000, 4096),
        ("`inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens", 5000, 4096),
        ("prompt is too long: 5000 tokens > 4096 maximum", 5000, 4096),
        ("the input length exceeds the context length", None, None),
        ("The number of tokens to keep from the initial prompt is greater than the context length.", None, None),
    ],
)
def test_every_server_is_understood(said: str, needed: int | None, room: int | None) -> None:
    error = context_exceeded(said, "http://h/v1", "m")
    assert error is not None
    assert (error.needed, error.room) == (needed, room)
    assert "context" in error.message


@pytest.mark.parametrize("said", ["", "failed to create context", "temperature exceeds 2", "no such model: n_ctx"])
def test_other_errors_are_others(said: str) -> None:
    assert context_exceeded(said, "p", "m") is None


def test_each_backend_tells_it_from_other_errors() -> None:
    openai = Failures("p", REQUEST)
    status = BadStatus("p answered with status 400", status=400, body=f'{{"error": {{"message": "{LLAMA}"}}}}')
    assert isinstance(openai.of_status(status), ContextExceeded)
    assert isinstance(openai.inside({"message": LLAMA}, False), ContextExceeded)
    assert isinstance(openai.inside({"message": LLAMA}, True), StreamFailed), "in the middle it is another matter"
    assert isinstance(refusal(status, REQUEST, "p", None), ContextExceeded)
    assert isinstance(failure(LLAMA, REQUEST, "p", has_begun=False), ContextExceeded)


@given(st.text())
def test_any_words_can_be_said(said: str) -> None:
    context_exceeded(said, "p", "m")
