"""One callgate behind another: real commands, and the real engine."""

from __future__ import annotations

import json
import socket
import urllib.request
from typing import Any
from urllib.error import HTTPError

import pytest

from tests.gateway.command import served
from tests.gateway.running import MULTIPLY

HELLO = {"messages": [{"role": "user", "content": "What is 17 times 23?"}], "tools": [MULTIPLY]}


def ask(url: str, path: str, body: object) -> tuple[int, Any]:
    request = urllib.request.Request(f"{url}{path}", json.dumps(body).encode())
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except HTTPError as error:
        with error:
            return error.code, json.load(error)


def get(url: str, path: str) -> Any:
    with urllib.request.urlopen(f"{url}{path}", timeout=60) as response:
        return json.load(response)


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port: int = free.getsockname()[1]
        return port


@pytest.mark.engine
def test_calls_come_through_a_chain_and_another_link_takes_over(require_engine: None) -> None:
    with served() as one, served() as other:
        both = f"both={one.url}/v1#tiny,{other.url}/v1#tiny"
        words = ("--alias", both, "--alias", f"old=ollama+{one.url}#tiny", "--alias", f"bare={one.url}/v1#tiny-plain")
        with served(*words, "--explain") as front:
            for model, path in (
                ("both", "/v1/chat/completions"),
                ("both", "/v1/chat/completions"),
                ("old", "/api/chat"),
            ):
                status, answer = ask(front.url, path, {**HELLO, "model": model, "stream": False})
                assert status == 200, answer
                message = answer["choices"][0]["message"] if "choices" in answer else answer["message"]
                (call,) = message["tool_calls"]
                assert call["function"]["name"] == "multiply"
                assert answer["callgate"]["mode"] == "native"
            status, answer = ask(front.url, "/v1/chat/completions", {**HELLO, "model": "bare"})
            assert answer["callgate"]["mode"] == "native"  # for it is emulated by the other
            known = {model["id"]: model["callgate"] for model in get(front.url, "/v1/models")["data"]}
            assert [(known[name]["tools"], known[name]["mode"]) for name in ("both", "bare")] == [("yes", "native")] * 2
            assert known["both"]["capabilities"]["context_length"] == known["tiny"]["capabilities"]["context_length"]
            one.process.kill()
            one.process.wait(30)
            for _ in range(3):
                status, answer = ask(front.url, "/v1/chat/completions", {**HELLO, "model": "both"})
                assert status == 200, answer
                assert answer["callgate"]["model"] == f"{other.url}/v1#tiny"


def test_the_models_of_another_that_was_named_are_listed() -> None:
    port = free_port()
    with served("--upstream", f"http://127.0.0.1:{port}/v1", "--alias", "mine=tiny-plain") as one:
        assert {model["id"] for model in get(one.url, "/v1/models")["data"]} == {"mine", "tiny", "tiny-plain"}
        with served("--port", str(port), "--upstream", f"{one.url}/v1", "--alias", "yours=tiny") as other:
            names = {model["id"] for model in get(other.url, "/v1/models")["data"]}  # each asks the other, once
            assert names >= {"yours", "tiny", "tiny-plain", "mine", f"{one.url}/v1#tiny"}


@pytest.mark.parametrize("workers", ["1", "2"])
def test_two_that_ask_each_other_are_a_loop_with_its_cause(workers: str) -> None:
    port = free_port()
    with served("--alias", f"x=http://127.0.0.1:{port}/v1#x") as one:
        back = f"x={one.url}/v1#x"
        with served("--port", str(port), "--workers", workers, "--alias", back) as other:
            for url, path in ((one.url, "/v1/chat/completions"), (other.url, "/api/chat")):
                status, answer = ask(url, path, {**HELLO, "model": "x", "stream": False})
                assert status == 508
                assert "OLLAMA_HOST and --upstream" in str(answer["error"])
