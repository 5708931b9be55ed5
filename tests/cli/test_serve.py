from __future__ import annotations

import json
import signal
import socket
import urllib.request
from pathlib import Path
from urllib.error import HTTPError

import pytest

from callgate.vocabulary import AssistantDelta, Done
from tests.cli.command import callgate
from tests.gateway.command import served
from tests.gateway.running import recording

ANSWER = (AssistantDelta("Hello"), Done("stop"))


def ask(url: str, body: object = None, **headers: str) -> dict[str, object]:
    data = json.dumps(body).encode() if body is not None else None
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    with urllib.request.urlopen(urllib.request.Request(url, data, sent), timeout=30) as response:
        answer: dict[str, object] = json.load(response)
        return answer


def test_it_says_where_it_answers_and_ends_when_it_is_told_to(tmp_path: Path) -> None:
    with served("--model", recording(tmp_path / "said", ANSWER), "--explain") as gate:
        assert gate.url.startswith("http://127.0.0.1:")
        answer = ask(f"{gate.url}/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}]})
        assert answer["callgate"]
        assert ask(f"{gate.url}/health") == {"status": "ok"}


def test_keys_come_from_the_environment_too() -> None:
    with served("--api-key", "one", CALLGATE_API_KEYS="two,three") as gate:
        for key in ("one", "two", "three"):
            assert ask(f"{gate.url}/api/version", Authorization=f"Bearer {key}")["version"]
        with pytest.raises(HTTPError, match="401"):
            ask(f"{gate.url}/api/version")


def test_answers_under_way_may_end(tmp_path: Path) -> None:
    lines = [
        {"callgate_recording": 1, "model": "played"},
        {"request": {}},
        {"at": 0, "event": {"type": "assistant_delta", "data": {"text": "Hel"}}},
        {"at": 1.5, "event": {"type": "assistant_delta", "data": {"text": "lo"}}},
        {"at": 1.5, "event": {"type": "done", "data": {"reason": "stop"}}},
    ]
    path = tmp_path / "slow"
    path.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    asked = {"messages": [{"role": "user", "content": "hello"}], "stream": True}
    for drain, ends_well in (("20", True), ("0", False)):
        with served("--model", f"scripted:{path}?timing=1", "--drain", drain) as gate:
            request = urllib.request.Request(f"{gate.url}/v1/chat/completions", json.dumps(asked).encode())
            with urllib.request.urlopen(request, timeout=30) as response:
                assert b"Hel" in response.readline()
                gate.process.send_signal(signal.SIGTERM)
                rest = response.read().decode()
            assert gate.process.wait(30) == 0
            assert ("[DONE]" in rest) is ends_well
            assert ("being stopped" in rest) is not ends_well


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--host", "0.0.0.0"], "needs a key"),
        (["--host", "::0"], "needs a key"),
        (["--upstream", "foo://x"], "http:// or https://"),
        (["--upstream", "http://"], "http://"),
        (["--upstream", "http://a:1,http://b:1"], "--upstream before each"),
        (["--cors", "not-an-origin"], "https://app.example.org"),
        (["--cors", "https://a.b/"], "write https://a.b"),
        (["--allowed-host", "http://x"], "without http://"),
        (["--allowed-host", "x:1"], "without a port"),
        (["--alias", "x"], "NAME=VALUE"),
        (["--port", "70000"], "no port"),
        (["--model-strategy", "x=y"], "tools.per_model"),
        (["--tool-limit", "0"], "from 1"),
        (["--model-tool-limit", "x=y"], "tools.limit_per_model"),
        (["--max-body", "0"], "1,000,000"),
        (["--workers", "0"], "from 1 to 64"),
        (["--drain", "soon"], "seconds"),
        (["--max-nesting", "100000"], "from 8"),
        (["--alias", "x=,"], "names no model"),
        (["--alias", "a=b", "--alias", "b=a"], "in a circle"),
        (["--alias", "a=b", "--alias", "b=a", "--workers", "2"], "in a circle"),
        (["--alias", "a=b", "--alias", "b=a", "--model-strategy", "a=off"], "in a circle"),
        (["--fallback", "hf:nonsense"], "on the hub"),
        (["--access-log", "/nowhere/at/all"], "can't be written"),
    ],
)
def test_wrong_usage_is_told_at_once(words: list[str], said: str) -> None:
    done = callgate("serve", "--port", "0", *words)
    assert done.status == 2
    assert said in done.err


def test_a_port_that_is_taken_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = callgate("serve", "--port", str(taken.getsockname()[1]))
    assert done.status == 2
    assert "can't be listened at" in done.err


def test_help_has_examples() -> None:
    done = callgate("serve", "--help")
    assert done.status == 0
    assert "OLLAMA_HOST=127.0.0.1:11435 ollama run" in done.out


def test_an_alias_that_is_named_again_has_more_models(tmp_path: Path) -> None:
    one, other = (recording(tmp_path / name, (AssistantDelta(name), Done("stop"))) for name in ("one", "other"))
    with served("--alias", f"both={one}", "--alias", f"both={other}", "--model-strategy", "both=off") as gate:
        body = {"model": "both", "messages": [{"role": "user", "content": "hello"}]}
        texts = [json.dumps(ask(f"{gate.url}/v1/chat/completions", body)) for _ in range(2)]
    assert sum('"one"' in text for text in texts) == sum('"other"' in text for text in texts) == 1


def test_a_model_has_the_strategy_that_was_said_for_its_other_name(tmp_path: Path) -> None:
    model = recording(tmp_path / "said", ANSWER)
    asked = {
        "model": "x",
        "messages": [{"role": "user", "content": "hello"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}],
    }
    with served("--alias", f"x={model}", "--model-strategy", "x=off", "--explain") as gate:
        answer = ask(f"{gate.url}/v1/chat/completions", asked)
    assert isinstance(answer["callgate"], dict)
    assert answer["callgate"]["mode"] == "off"


def test_what_is_named_and_nobody_has_is_told_at_the_start() -> None:
    with socket.create_server(("127.0.0.1", 0)) as once:
        port = once.getsockname()[1]
    upstream = ("--upstream", f"http://127.0.0.1:{port}/v1")
    names = ("--model", "late1", "--alias", "x=tiny,tinny", "--fallback", "/nowhere/at/all.gguf")
    with served(*names, *upstream) as gate:
        assert gate.process.stderr
        told = {gate.process.stderr.readline().decode() for _ in range(3)}
    (late,) = (line for line in told if "the default model names 'late1', which nobody has just now" in line)
    assert f"nobody listens at http://127.0.0.1:{port}" in late
    assert "note: the alias 'x' names 'tinny', which nobody has just now (did you mean 'tiny'?)\n" in told
    assert "note: the fallback names '/nowhere/at/all.gguf', which isn't there\n" in told


def test_a_model_has_the_limit_that_was_said_for_its_other_name(tmp_path: Path) -> None:
    model = recording(tmp_path / "said", ANSWER)
    tools = [{"type": "function", "function": {"name": name}} for name in ("f", "g", "h")]
    asked = {"model": "x", "messages": [{"role": "user", "content": "h, please"}], "tools": tools}
    with served("--alias", f"x={model}", "--tool-limit", "2", "--model-tool-limit", "x=1", "--explain") as gate:
        answer = ask(f"{gate.url}/v1/chat/completions", asked)
    assert isinstance(answer["callgate"], dict)
    assert "2 of 3 tools weren't offered" in answer["callgate"]["notices"][0]["message"]


def test_what_happens_is_told_with_verbose(tmp_path: Path) -> None:
    with served("--verbose", "--max-nesting", "8", "--max-body-seconds", "5") as gate:
        with pytest.raises(HTTPError, match="400") as caught:
            ask(f"{gate.url}/v1/chat/completions", {"x": [[[[[[[[[[]]]]]]]]]]})
        caught.value.close()
        gate.process.send_signal(signal.SIGTERM)
        assert gate.process.wait(30) == 0
        assert gate.process.stderr
        told = gate.process.stderr.read().decode()
    assert '{"method":"POST","route":"/v1/chat/completions","status":400' in told
