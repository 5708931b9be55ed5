from __future__ import annotations

import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from callgate.settings import TABLE
from tests.cli.command import CALLGATE, Done, callgate, environ


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CALLGATE_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def config(*words: str, given: bytes = b"", **more: str) -> Done:
    return callgate("config", *words, given=given, **more)


def test_each_setting_is_shown_with_its_origin(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("[detect]\ncache_ttl = 5\n")
    shown = {each["key"]: each for each in config("--json", CALLGATE_TOOLS_RECOVER="false").objects}
    assert list(shown) == list(TABLE)
    assert shown["detect.cache_ttl"] == {
        "key": "detect.cache_ttl",
        "value": 5,
        "origin": f"file:{home / 'config.toml'}",
    }
    assert shown["tools.recover"] == {"key": "tools.recover", "value": False, "origin": "env:CALLGATE_TOOLS_RECOVER"}
    assert shown["models.dir"] == {"key": "models.dir", "value": None, "origin": "default"}


def test_a_person_sees_what_each_is_for(home: Path) -> None:
    done = config(CALLGATE_DETECT_UNKNOWN="no")
    (row,) = [line for line in done.out.splitlines() if line.startswith("detect.unknown")]
    assert row.split()[:3] == ["detect.unknown", "no", "CALLGATE_DETECT_UNKNOWN"]
    assert TABLE["detect.unknown"].help in row
    assert str(home / "config.toml") in done.out.splitlines()[-1]


SECRETS = [key for key, setting in TABLE.items() if setting.is_secret]


def test_secrets_and_passwords_are_never_shown(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for key in SECRETS:
        monkeypatch.setenv(TABLE[key].env[0], "s3cret")
    for words in ((), ("--json",), ("get", "ollama.host"), ("get", "--json", "ollama.host")):
        for host in ("http://me:pa@55@there:1", "me:pa@55@there:1"):
            done = config(*words, OLLAMA_HOST=host)
            assert (done.status, done.err) == (0, "")
            assert "s3cret" not in done.out
            assert "pa@" not in done.out
            assert "55@" not in done.out
            assert "there:1" in done.out
    shown = {each["key"]: each["value"] for each in config("--json").objects}
    assert {key: shown[key] for key in SECRETS} == dict.fromkeys(SECRETS, "set")


@pytest.mark.parametrize("key", SECRETS)
def test_of_a_secret_no_more_is_said_than_whether_it_is_set(
    home: Path, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert config("get", key).out == "unset\n"
    with monkeypatch.context() as patch:
        patch.setenv(TABLE[key].env[-1], "s3cret")
        assert config("get", key).out == "set\n"
    done = config("set", key, "two words s3cret")
    assert (done.status, "s3cret" in done.out + done.err) == (2, False)
    assert config("set", "--json", key, "s3cret").objects[0]["value"] == "set"
    assert config("get", key).out == "set\n"
    assert len(config("--json").objects) == len(TABLE)


def test_what_is_set_counts_from_then_on(home: Path) -> None:
    done = config("set", "detect.cache_ttl", "60.5")
    assert (done.status, done.err) == (0, "")
    assert done.out.splitlines() == ["detect.cache_ttl: 60.5", f"kept in {home / 'config.toml'}"]
    assert config("get", "detect.cache_ttl").out == "60.5\n"
    assert config("get", "--json", "detect.cache_ttl").objects == [
        {"key": "detect.cache_ttl", "value": 60.5, "origin": f"file:{home / 'config.toml'}"}
    ]
    assert config("unset", "detect.cache_ttl").out == "detect.cache_ttl: 600, its default\n"
    assert config("get", "detect.cache_ttl").out == "600\n"
    again = config("unset", "detect.cache_ttl")
    assert (again.status, "isn't set" in again.err) == (1, True)


@pytest.mark.parametrize(
    ("key", "text"),
    [
        ("tools.recover", "false"),
        ("tools.strategy", "emulate"),
        ("tools.allow", "time/*, git/*"),
        ("tools.per_model", "qwen3:8b=off,x=native"),
        ("hub.connections", "8"),
        ("llamacpp.gpu_layers", "0"),
        ("models.default", "http://lab:8080/v1#qwen"),
        ("models.dir", "~/models"),
        ("discovery.endpoints", "lab=http://lab:8080/v1"),
        ("detect.sources", "observed,template"),
    ],
)
def test_a_value_of_every_kind_can_be_set(home: Path, key: str, text: str) -> None:
    assert config("set", key, text).status == 0
    assert config("get", key).out == f"{text}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="other rights")
def test_the_file_is_its_owners_alone_when_it_is_made_and_keeps_its_rights_else(home: Path) -> None:
    config("set", "detect.cache_ttl", "1")
    file = home / "config.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    file.chmod(0o644)
    config("set", "detect.cache_ttl", "2")
    assert stat.S_IMODE(file.stat().st_mode) == 0o644


@pytest.mark.skipif(sys.platform == "win32", reason="other rights")
@pytest.mark.parametrize("key", SECRETS)
def test_a_file_with_a_secret_in_it_is_its_owners_alone(home: Path, key: str) -> None:
    home.mkdir()
    file = home / "config.toml"
    file.write_text("# mine\n")
    file.chmod(0o644)
    config("set", key, given=b"s3cret\n")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert f'{TABLE[key].name} = "s3cret"' in file.read_text()


def test_a_link_stays_a_link(home: Path, tmp_path: Path) -> None:
    home.mkdir()
    kept = tmp_path / "dotfiles.toml"
    kept.write_text("# mine\n")
    (home / "config.toml").symlink_to(kept)
    config("set", "detect.cache_ttl", "1")
    assert (home / "config.toml").is_symlink()
    assert kept.read_text() == "# mine\n\n[detect]\ncache_ttl = 1\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("set", "detect.cache_ttl", "soon"), "a number of seconds"),
        (("set", "detect.unknown", "maybe"), "ask, probe or no"),
        (("set", "detect.sources", "template,rumour"), "observed, template, header"),
        (("set", "tools.per_model", "qwen3"), "MODEL=STRATEGY"),
        (("set", "discovery.endpoints", "http://lab:1/v1"), "NAME=URL"),
        (("set", "models.default", "hf:"), "hf:"),
        (("set", "models.dir", " "), "callgate config unset models.dir"),
        (("set", "detect.cache_tll", "1"), "did you mean 'detect.cache_ttl'"),
        (("set", "nosuch.key", "1"), "hint: `callgate config` lists them\n"),
        (("get", "detect.cache_tll"), "did you mean 'detect.cache_ttl'"),
        (("unset", "detect.cache_tll"), "did you mean 'detect.cache_ttl'"),
    ],
)
def test_what_is_wrong_is_refused_before_anything_is_written(home: Path, words: tuple[str, ...], said: str) -> None:
    done = config(*words)
    assert done.status == 2
    assert said in done.err
    assert not (home / "config.toml").exists()


def test_a_file_that_isnt_toml_is_left_alone(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("not toml")
    done = config("set", "detect.cache_ttl", "1")
    assert (done.status, "isn't TOML" in done.err) == (2, True)
    assert (home / "config.toml").read_text() == "not toml"
    assert config("path").out == f"{home / 'config.toml'}\n"


def test_a_file_with_mistakes_can_be_mended(home: Path) -> None:
    home.mkdir()
    (home / "config.toml").write_text("# x\n[detect]\ncache_ttl = 'x'\ncache_tll = 1\n")
    assert config().status == 2
    assert config("set", "detect.cache_ttl", "9").status == 0
    assert config("unset", "detect.cache_tll").out == "detect.cache_tll: removed\n"
    assert (home / "config.toml").read_text() == "# x\n[detect]\ncache_ttl = 9\n"


def test_a_variable_that_counts_more_is_named(home: Path) -> None:
    assert "HF_ENDPOINT is set too" in config("set", "hub.endpoint", "https://a", HF_ENDPOINT="https://b").err


def test_a_relative_path_is_kept_as_what_it_means_now(home: Path, tmp_path: Path) -> None:
    (tmp_path / "models").mkdir()
    subprocess.run(
        [*CALLGATE, "config", "set", "models.dir", "models"],
        cwd=tmp_path,
        env=environ(),
        check=True,
        capture_output=True,
    )
    assert config("get", "models.dir").out == f"{tmp_path / 'models'}\n"
    assert config("set", "llamacpp.server", "llama-server").out.startswith("llamacpp.server: llama-server\n")


def test_no_change_is_lost_of_many_at_once(home: Path) -> None:
    keys = [key for key, setting in TABLE.items() if setting.expects == TABLE["detect.cache_ttl"].expects]
    assert len(keys) > 5
    writers = [threading.Thread(target=config, args=("set", key, "7")) for key in keys]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    shown = {each["key"]: each["value"] for each in config("--json").objects}
    assert {key: shown[key] for key in keys} == dict.fromkeys(keys, 7)


def test_a_folder_that_cant_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = config("set", "detect.cache_ttl", "1", CALLGATE_HOME=str(tmp_path / "file" / "home"))
    assert (done.status, "can't be written" in done.err) == (1, True)
