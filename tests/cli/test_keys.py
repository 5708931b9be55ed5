from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest

from callgate.gateway.sharing import link
from callgate.settings import Secret
from callgate.vocabulary import AssistantDelta, Done, Event, UsageError
from tests.cli.command import callgate
from tests.gateway.command import served
from tests.gateway.real_redis import PASSWORD, RealRedis
from tests.gateway.running import recording


def asked(url: str, key: str = "", body: object = None) -> tuple[int, dict[str, object]]:
    headers = {"Content-Type": "application/json", **({"X-Api-Key": key} if key else {})}
    data = json.dumps(body).encode() if body is not None else None
    try:
        with urllib.request.urlopen(urllib.request.Request(url, data, headers), timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, json.load(error)


def test_a_key_is_made_listed_and_taken_back(redis: RealRedis) -> None:
    made = callgate("keys", "add", "alice", CALLGATE_REDIS=redis.url)
    assert (made.status, made.out[:3]) == (0, "cg-")
    assert callgate("keys", "add", "bob", "--json", "--redis", redis.url).objects[0]["key"].startswith("cg-")
    listed = callgate("keys", "list", "--json", CALLGATE_REDIS=redis.url)
    assert [each["name"] for each in listed.objects] == ["alice", "bob"]
    assert made.out.strip() not in listed.out
    assert "alice" in callgate("keys", "list", CALLGATE_REDIS=redis.url).out
    again = callgate("keys", "add", "alice", CALLGATE_REDIS=redis.url)
    assert (again.status, "remove alice" in again.err) == (2, True)
    gone = callgate("keys", "remove", "alice", CALLGATE_REDIS=redis.url)
    assert (gone.status, gone.out) == (0, "removed alice\n")
    assert callgate("keys", "remove", "alice", CALLGATE_REDIS=redis.url).status == 1


def test_a_list_that_cannot_be_read_is_not_said_to_be_empty(redis: RealRedis) -> None:
    redis.say("SET", "callgate:1:keys", "not json")
    for words in (("list",), ("list", "--json"), ("add", "alice"), ("remove", "alice")):
        done = callgate("keys", *words, CALLGATE_REDIS=redis.url)
        assert (done.status, "no keys" in done.out + done.err) == (1, False)
        assert "'callgate:1:keys' is no list of keys" in done.out + done.err
    assert redis.get("callgate:1:keys") == b"not json"


def test_a_name_is_a_name(redis: RealRedis) -> None:
    for name in ("", "a b", "é", "x" * 65, "a\nb"):
        assert callgate("keys", "add", name, CALLGATE_REDIS=redis.url).status == 2


def test_without_a_redis_there_are_no_shared_keys() -> None:
    done = callgate("keys", "list")
    assert done.status == 2
    assert "--redis URL" in done.err
    assert "--api-key" in done.err


@pytest.mark.parametrize(
    "url", ["redis://:hush-hush@127.0.0.1:1/0", "redis://u:hush-hush@127.0.0.1:1?password=hush-hush"]
)
def test_a_redis_that_is_not_there_is_named_without_its_password(url: str) -> None:
    pytest.importorskip("redis")
    for words in (("keys", "list", "--redis", url), ("serve", "--port", "0", "--redis", url, "--verbose")):
        done = callgate(*words)
        assert done.status == 4
        assert "127.0.0.1:1" in done.err
        assert "hush-hush" not in done.out + done.err


def test_settings_do_not_show_the_password() -> None:
    done = callgate("config", "--json", CALLGATE_REDIS="redis://:hush-hush@cache/0")
    (shown,) = [each for each in done.objects if each["key"] == "serve.redis"]
    assert (shown["value"], shown["origin"]) == ("set", "env:CALLGATE_REDIS")
    assert "hush-hush" not in done.out + callgate("doctor", CALLGATE_REDIS="redis://:hush-hush@cache/0").out


def test_who_lacks_the_package_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "find_spec", lambda _: None)
    with pytest.raises(UsageError) as raised:
        link.RedisLink(Secret("redis://cache"))
    assert raised.value.hint == "pip install 'callgate[redis]'"


def test_workers_share_keys_and_answers(redis: RealRedis, tmp_path: Path) -> None:
    key = callgate("keys", "add", "alice", CALLGATE_REDIS=redis.url).out.strip()
    said: list[Event] = [AssistantDelta("blue"), Done("stop")]
    model = recording(tmp_path / "played.jsonl", *([said] * 40))
    with served("--workers", "2", "--model", model, CALLGATE_REDIS=redis.url) as server:
        status, told = asked(f"{server.url}/v1/responses", body={"input": "hello"})
        assert (status, PASSWORD in json.dumps(told)) == (401, False)
        previous = None
        for _ in range(12):  # each of them gets some
            body = {"input": "what colour is the sky?", "previous_response_id": previous}
            status, told = asked(f"{server.url}/v1/responses", key, body)
            assert status == 200, told
            previous = told["id"]
