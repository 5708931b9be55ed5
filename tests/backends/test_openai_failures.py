import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.openai.failures import Failures, said_in
from callgate.vocabulary import (
    BackendError,
    BadSchema,
    BadStatus,
    CallNotParsed,
    CannotChat,
    CannotThink,
    ChatRequest,
    StreamFailed,
    Tool,
    ToolsRefused,
)

WITH_TOOLS = ChatRequest(model="m", messages=(), tools=(Tool("f"),), think=True)
PLAIN = ChatRequest(model="m", messages=())


def explained(status: int, body: object, request: ChatRequest = WITH_TOOLS) -> BackendError:
    text = body if isinstance(body, str) else json.dumps(body)
    return Failures("http://h/v1", request).of_status(BadStatus("bad", status=status, body=text))


def openai(message: str) -> dict[str, object]:
    return {"error": {"code": 500, "message": message, "type": "server_error"}}


REFUSALS = [
    (500, openai("tools param requires --jinja flag"), "--jinja"),
    (
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
        },
        "--enable-auto-tool-choice",
    ),
    (400, openai("registry.ollama.ai/library/gemma:2b does not support tools"), "does not support tools"),
    (404, openai("No endpoints found that support tool use."), "No endpoints"),
    (400, openai("Tool calling is not supported with this model"), "not supported"),
    (400, openai("`tools` is not currently supported"), "not currently supported"),
    (422, {"detail": "Extra inputs are not permitted: tools"}, "Extra inputs"),
    (400, openai("Unrecognized request argument supplied: tools"), "Unrecognized"),
    (400, {"error": "Function calling is not enabled for models/m"}, "not enabled"),
]


@pytest.mark.parametrize(("status", "body", "said"), REFUSALS)
def test_a_refusal_of_tools_is_one_and_says_why(status: int, body: object, said: str) -> None:
    error = explained(status, body)
    assert isinstance(error, ToolsRefused)
    assert said in error.message


@pytest.mark.parametrize(("status", "body", "said"), REFUSALS)
def test_without_tools_nothing_refuses_them(status: int, body: object, said: str) -> None:
    assert not isinstance(explained(status, body, PLAIN), ToolsRefused)


def test_a_refusal_says_what_to_start_the_server_with() -> None:
    assert explained(*REFUSALS[0][:2]).hint == "start llama-server with --jinja"
    assert explained(*REFUSALS[1][:2]).hint == "start vLLM with --enable-auto-tool-choice and --tool-call-parser"


@pytest.mark.parametrize(
    ("message", "kind"),
    [
        ("Failed to parse input at pos 12: <tool_call>{secret", CallNotParsed),
        ("Failed to parse tool call arguments as JSON: secret", CallNotParsed),
        ("error parsing tool call: raw='{secret}', err=unexpected end", CallNotParsed),
        ("The model produced output that does not match the expected peg-native format", CallNotParsed),
        ("This server does not support completions. Start it without `--embeddings`", CannotChat),
        ("The model does not support Chat Completions API", CannotChat),
        ('"m" does not support chat', CannotChat),
        ('"m" does not support thinking', CannotThink),
        ("JSON schema conversion failed: unsupported pattern", BadSchema),
        ("Invalid schema for function 'f': secret is not of type object", BadSchema),
        ("failed to parse grammar", BadSchema),
        ("something else went wrong", BadStatus),
    ],
)
def test_other_errors_are_told_by_their_words(message: str, kind: type[BackendError]) -> None:
    assert type(explained(500, openai(message))) is kind


@pytest.mark.parametrize(
    "message",
    [
        "Failed to parse input at pos 12: <tool_call>{secret",
        "error parsing tool call: raw='secret', err=unexpected end",
        "bad input: {'city': 'secret'}",
        "parse error - invalid literal; last read: 'secret'",
        "1 validation error: [type=missing, input_value=secret]",
    ],
)
def test_what_a_server_quotes_is_not_shown(message: str) -> None:
    for error in (explained(400, openai(message)), Failures("h", WITH_TOOLS).inside(message, has_said=True)):
        assert "secret" not in error.message


@pytest.mark.parametrize(
    ("status", "message", "hint"),
    [
        (401, "Incorrect API key provided", "API key"),
        (429, "tools are not supported at this rate", "ask again later"),
        (503, "Loading model", "loading its model"),
    ],
)
def test_a_bad_status_hints_at_what_to_do(status: int, message: str, hint: str) -> None:
    error = explained(status, openai(message))
    assert type(error) is BadStatus
    assert error.message == f"http://h/v1 answered with status {status}: {message}"
    assert hint in str(error.hint)


def test_in_the_middle_of_an_answer_tools_can_no_longer_be_refused() -> None:
    failures = Failures("h", WITH_TOOLS)
    assert isinstance(failures.inside({"message": "m does not support tools"}, has_said=False), ToolsRefused)
    assert type(failures.inside({"message": "m does not support tools"}, has_said=True)) is StreamFailed


def test_a_body_that_was_cut_short_still_says_something() -> None:
    assert said_in('{"error":{"code":500,"message":"tools param requires --jin') == "tools param requires --jin"
    assert said_in('{"object":"error","message":"\\"auto\\" tool choice') == '"auto" tool choice'
    assert said_in("Internal Server Error") == "Internal Server Error"
    assert said_in('{"error":{"error":{"error":{"error":"deep"}}}}') == ""


@given(st.recursive(st.none() | st.text() | st.integers(), lambda inner: st.dictionaries(st.text(), inner)), st.text())
def test_any_error_can_be_told_in_one_short_line(error: object, body: str) -> None:
    for told in (Failures("h", WITH_TOOLS).inside(error, has_said=False), explained(500, body)):
        assert told.message.isprintable()
        assert len(told.message) < 300


@pytest.mark.parametrize(
    "text", ["tool" * 500, "not " * 500, "tools not " * 200, "un" * 1000, '"message":"' + "\\" * 2000]
)
def test_no_words_of_a_server_take_long_to_read(text: str) -> None:
    assert type(explained(500, text)) in (BadStatus, ToolsRefused)
