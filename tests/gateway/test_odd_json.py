from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st

from callgate.gateway.odd_json import LONGEST, read_oddly
from callgate.vocabulary import UsageError
from tests.gateway.running import gateway

PROBLEM = ValueError("some problem (byte 7)")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters()), inner, max_size=3),
    max_leaves=8,
)


def mended(value: Any) -> Any:
    match value:
        case str():
            return re.sub(
                "[\ud800-\udfff]", "\ufffd", value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
            )
        case list():
            return [mended(each) for each in value]
        case dict():
            return {mended(name): mended(each) for name, each in value.items()}
    return value


@hypothesis.given(value=ANYTHING)
def test_whatever_javascript_writes_is_read_with_halves_of_characters_replaced(value: Any) -> None:
    read = read_oddly(json.dumps(value).encode(), PROBLEM)
    assert json.loads(json.dumps(read, ensure_ascii=False).encode()) == mended(value)


def test_a_long_conversation_is_read_with_the_pictures_in_it_but_not_one_that_takes_for_ever() -> None:
    picture = "QUJD" * LONGEST
    read: Any = read_oddly(json.dumps({"picture": picture, "text": "\ud83d"}).encode(), PROBLEM)
    assert (read["picture"] == picture, read["text"]) == (True, "\ufffd")
    with pytest.raises(UsageError, match="byte 7"):
        read_oddly(json.dumps(["\n" * (LONGEST // 2 + 1), "\ud83d"]).encode(), PROBLEM)


@hypothesis.given(content=st.binary(max_size=60) | st.text('{}[]",:\\ud80fN1e.', max_size=60).map(str.encode))
def test_anything_else_is_read_or_refused_in_our_words(content: bytes) -> None:
    with suppress(UsageError):
        read_oddly(content, PROBLEM)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b'{"a" 1}', "expecting ':' delimiter, at line 1, column 6"),
        (b'{\n  "a": tru}', "expecting value, at line 2, column 8"),
        (b'{"a":"\xff"}', "byte 7 is no UTF-8"),
        (b'{"a":1e400}', "a number in it is out of range"),
        (b'{"a":NaN}', "NaN is no number there"),
        (b"[" * 200_000, "it is nested too deeply"),
        (b" " * LONGEST + b"{", "some problem (byte 7)"),
    ],
)
def test_it_is_said_what_is_wrong_and_where(content: bytes, said: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_oddly(content, PROBLEM)
    assert caught.value.message == f"the request is no JSON: {said}"


async def test_half_a_character_does_no_harm() -> None:
    body = b'{"model":"tiny","messages":[{"role":"user","content":"cut \\ud83d"}],"max_tokens":"many"}'
    async with gateway() as served:
        error = (await served.post("/v1/chat/completions", body)).json["error"]
        assert (error["param"], error["code"]) == ("max_tokens", "UsageError")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"model": "nobody", "messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"messages": [{"role": "user", "content": "x"}]}, "model"),
        ({"model": "tiny"}, "messages"),
        ({"model": "tiny", "messages": [{"role": "user"}, {"role": "nobody"}]}, "messages[1].role"),
        ({"model": "tiny", "messages": [{"content": "x"}]}, "messages[0].role"),
        ({"model": "tiny", "messages": [{"role": "tool", "tool_calls": [{}]}]}, "messages[0].tool_calls[0].function"),
        ({"model": "tiny", "messages": [{"role": "user", "images": ["§"]}]}, "messages"),
        ({"model": "tiny", "messages": [{"role": "user"}], "logprobs": True}, "logprobs"),
    ],
)
async def test_it_is_said_which_part_of_a_request_is_wrong(body: dict[str, Any], param: str) -> None:
    async with gateway() as served:
        answer = await served.post("/v1/chat/completions", body)
        assert answer.status in (400, 404)
        assert answer.json["error"]["param"] == param
