from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from callgate.validate.exchanges import LONGEST_ANSWER, LONGEST_TEXT, exchange_as_json
from callgate.vocabulary import ChatRequest, Message
from callgate.wire import Exchange

KEY = "sk-abcdefghijklmnopqrstuvwxyz012345"


def test_the_last_exchange_counts_without_secrets_and_cut_short() -> None:
    first, last = Exchange("http://x/", b"{}"), Exchange("http://x/v1", b"")
    last.sent = msgspec.json.encode({"api_key": "hunter2", "messages": [{"content": f"{KEY} {'a ' * 9999}"}]})
    last.status = 500
    last.hear(f"oh: {KEY} {'b ' * 9999}".encode())
    found = exchange_as_json([first, last], None, "")
    assert found
    assert (found["url"], found["status"]) == ("http://x/v1", 500)
    assert len(found["sent"]["messages"][0]["content"]) == LONGEST_TEXT + 1
    assert len(found["received"]) == LONGEST_ANSWER + 1
    assert "hunter2" not in str(found)
    assert KEY not in str(found)


def test_where_nothing_goes_over_a_wire_the_request_is_shown() -> None:
    request = ChatRequest(model="m", messages=(Message(role="user", content="Hi"),))
    found = exchange_as_json([], request, "Hello")
    assert found
    assert (found["sent"]["messages"][0]["content"], found["received"], found["over"]) == ("Hi", "Hello", "no wire")
    assert exchange_as_json([], None, "") is None


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_can_be_shown(sent: bytes, received: bytes) -> None:
    exchange = Exchange("http://x/", sent)
    exchange.hear(received)
    msgspec.json.encode(exchange_as_json([exchange], None, ""))
