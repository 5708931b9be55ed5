"""The doctor, in a home of its own."""

from __future__ import annotations

import shutil
import socket
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from callgate.cli import doctor as doctor_module
from callgate.cli import doctor_checks, main
from callgate.cli.doctor_checks import EXTRAS, Checked, engine, extras, server
from callgate.cli.installation import as_installed
from callgate.runtime import SeenServer
from callgate.settings import Settings, load_settings
from callgate.vocabulary import Unreachable
from tests.cli.command import Done, callgate
from tests.runtime.played import NOBODY, WITH_TOOLS, PlayedOllama, hangs, in_thread, knows_nothing

ROOT = Path(__file__).parent.parent.parent


def doctor(*words: str, **more: str) -> Done:
    """With an engine that starts, and nobody at Ollama's place who is missed."""
    given = {"CALLGATE_LLAMACPP_SERVER": shutil.which("true") or "", "OLLAMA_HOST": "", **more}
    return callgate("doctor", *words, given=b"", **given)


def named(done: Done) -> dict[str, dict[str, Any]]:
    return {each["name"]: each for each in done.objects}


# All is well


def test_where_nothing_is_wrong_it_says_so_and_changes_nothing(home: Path) -> None:
    done = doctor()
    assert (done.status, done.err) == (0, "")
    assert "nothing is wrong" in done.out
    for heading in ("callgate", "extras", "engines", "servers", "paths", "settings", "registry"):
        assert f"\n{heading}\n" in f"\n{done.out}"
    assert "\x1b" not in done.out
    assert not list(home.iterdir())


def test_each_line_of_json_has_the_same_fields() -> None:
    done = doctor("--json")
    assert done.status == 0
    for each in done.objects:
        assert {"section", "name", "state", "detail", "next"} <= set(each)
        assert each["state"] in ("ok", "absent", "wrong")
    assert named(done)["data"]["free_bytes"] > 0
    assert named(done)["Python"]["version"] == ".".join(map(str, sys.version_info[:3]))


def test_help_has_examples() -> None:
    done = callgate("doctor", "--help")
    assert (done.status, done.err) == (0, "")
    assert "callgate doctor --json" in done.out
    assert "exit status:" in done.out


# Extras and the engine


def test_the_extras_are_those_of_the_package_and_their_packages_too() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    declared = {
        extra: tuple(Requirement(each).name for each in wanted)
        for extra, wanted in project["project"]["optional-dependencies"].items()
        if extra != "all"
    }
    assert {extra: packages for extra, (_, packages) in EXTRAS.items()} == declared


def test_an_extra_that_is_missing_is_no_fault_and_has_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    installed = {"uvicorn": "1.0", "rich": "15.0", "prompt-toolkit": "3.0"}
    monkeypatch.setattr(doctor_checks, "_version", installed.get)
    found = {each.name: each for each in extras()}
    assert {name: each.state for name, each in found.items()} == {
        "llamacpp": "absent",
        "serve": "absent",
        "chat": "ok",
        "mcp": "absent",
        "hub": "absent",
        "redis": "absent",
        "otel": "absent",
    }
    assert found["llamacpp"].next == "pip install 'callgate[llamacpp]'"
    assert "httptools" in found["serve"].detail
    assert "rich 15.0" in found["chat"].detail


def test_without_an_engine_and_without_servers_nothing_can_run_a_model(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(doctor_checks, "_version", lambda _: None)
    monkeypatch.setattr(doctor_module, "find_spec", lambda _: None)
    monkeypatch.setenv("CALLGATE_DISCOVERY_TIMEOUT", "0")
    assert main(["doctor"]) == 3
    said = capsys.readouterr().out
    assert "nothing here can run a model" in said
    assert as_installed("pip install 'callgate[llamacpp]', then `callgate demo`") in said


def test_where_the_engine_is_named_wrongly_nobody_is_told_to_install_one() -> None:
    done = doctor("--json", CALLGATE_LLAMACPP_SERVER="/nonexistent")
    (found,) = [each for each in done.objects if (each["section"], each["name"]) == ("engines", "llama-server")]
    assert "/nonexistent" in found["detail"]
    assert "CALLGATE_LLAMACPP_SERVER" in found["next"]
    assert "pip install" not in named(done).get("models", {"next": ""})["next"]


def test_an_engine_that_does_not_start_is_wrong(tmp_path: Path) -> None:
    program = tmp_path / "llama-server"
    program.write_text("#!/bin/sh\necho no such processor >&2\nexit 3\n")
    program.chmod(0o755)
    for path, words in ((program, "no such processor"), (tmp_path / "nothing", "No such file")):
        found = engine(load_settings({"llamacpp.server": str(path)}))
        assert found.state == "wrong"
        assert words in found.detail
        assert str(path) in found.detail
        assert found.next


@pytest.mark.engine
@pytest.mark.usefixtures("require_engine")
def test_our_engine_is_really_loaded() -> None:
    found = engine(Settings())
    assert (found.name, found.state) == ("llama.cpp", "ok")
    assert found.version


# Servers


def test_a_server_is_told_with_its_version() -> None:
    with in_thread(*PlayedOllama(one=WITH_TOOLS).routes) as url:
        found = named(doctor("--json", OLLAMA_HOST=url))["Ollama"]
    assert (found["state"], found["version"], found["models"]) == ("ok", "0.32.1", 1)


def test_a_server_that_was_named_and_is_not_there_is_wrong() -> None:
    done = doctor("--json", OLLAMA_HOST=NOBODY)
    assert done.status == 3
    assert named(done)["Ollama"]["state"] == "wrong"
    assert "`ollama serve`" in named(done)["Ollama"]["next"]
    assert "OLLAMA_HOST" in named(done)["Ollama"]["next"]


def test_an_api_that_was_named_is_asked_too() -> None:
    done = doctor("--json", OPENAI_BASE_URL=f"{NOBODY}/v1")
    assert (done.status, named(done)["OpenAI's API"]["state"]) == (3, "wrong")
    with in_thread(*PlayedOllama(one=WITH_TOOLS).routes) as url:
        found = named(doctor("--json", OPENAI_BASE_URL=f"{url}/v1"))["OpenAI's API"]
    assert found["url"] == url
    assert "OpenAI's API" not in named(doctor("--json"))


def test_a_redis_that_was_named_has_to_listen(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        done = doctor("--json", CALLGATE_SERVE_REDIS=f"redis://:hush@127.0.0.1:{port}/0")
        assert (done.status, named(done)["Redis"]["state"]) == (0, "ok")
    for url in (f"redis://:hush@127.0.0.1:{port}/0", f"unix://{tmp_path}/nowhere.sock?password=hush"):
        done = doctor("--json", CALLGATE_SERVE_REDIS=url)
        assert (done.status, named(done)["Redis"]["state"]) == (3, "wrong")
        assert "nobody listens there" in named(done)["Redis"]["detail"]
        assert "hush" not in done.out


@pytest.mark.parametrize("name", ["nomodel", "file:/nowhere/model.gguf", "./nowhere.gguf"])
def test_a_default_model_that_is_nowhere_is_wrong(name: str) -> None:
    with in_thread(*PlayedOllama(one=WITH_TOOLS).routes) as url:
        found = named(doctor("--json", OLLAMA_HOST=url, CALLGATE_MODELS_DEFAULT=name))["models.default"]
    assert found["state"] == "wrong"
    assert "CALLGATE_MODELS_DEFAULT" in found["next"]


@pytest.mark.parametrize("name", ["one", "tiny", "hf:somebody/something", "auto"])
def test_a_default_model_that_is_there_or_may_be_is_none_of_our_business(name: str) -> None:
    with in_thread(*PlayedOllama(one=WITH_TOOLS).routes) as url:
        found = named(doctor("--json", OLLAMA_HOST=url, CALLGATE_MODELS_DEFAULT=name))["models.default"]
    assert found["state"] == "ok"


def test_a_server_that_hangs_is_given_up() -> None:
    with in_thread(("*", "/{path:.*}", hangs)) as url:
        done = doctor("--json", CALLGATE_DISCOVERY_ENDPOINTS=f"lab={url}")
    assert "didn't answer within" in named(done)["lab"]["detail"]


def test_somebody_else_at_a_port_that_we_know_is_no_fault() -> None:
    problem = Unreachable("it sent nonsense")
    somebody = SeenServer(name="vLLM", url="http://x", named=False, is_there=True, problem=problem)
    assert server(somebody).state == "absent"


def test_one_that_is_no_server_for_models_is_wrong_where_it_was_named() -> None:
    with in_thread(("*", "/{path:.*}", knows_nothing)) as url:
        done = doctor("--json", CALLGATE_DISCOVERY_ENDPOINTS=f"lab={url}")
    assert (done.status, named(done)["lab"]["state"]) == (3, "wrong")


# Folders, settings, what is kept


def test_a_home_that_is_no_folder_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("no folder")
    done = doctor("--json", CALLGATE_HOME=str(tmp_path / "home"))
    assert done.status == 3
    assert {named(done)[name]["state"] for name in ("data", "cache")} == {"wrong"}
    assert "CALLGATE_HOME" in named(done)["data"]["next"]


def test_folders_and_files_that_settings_name_have_to_be_there(tmp_path: Path) -> None:
    nowhere = str(tmp_path / "nowhere")
    done = doctor("--json", CALLGATE_MODELS_DIR=nowhere, CALLGATE_MCP_SERVERS=nowhere)
    found = {each["name"]: each["state"] for each in done.objects if each["section"] == "paths"}
    assert (found["models.dir"], found["mcp.servers"]) == ("wrong", "wrong")
    assert done.status == 3


def test_little_space_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(doctor_checks, "LEAST_SPACE", 1 << 80)
    found: list[Checked] = list(doctor_checks.paths(load_settings({"storage.home": str(tmp_path)})))
    assert all(each.state == "wrong" and "are free" in each.detail for each in found)


def test_settings_that_somebody_made_are_told_with_their_origin_and_secrets_are_not() -> None:
    done = doctor(
        "--json",
        CALLGATE_TOOLS_STRATEGY="emulate",
        OPENAI_API_KEY="sk-hush",
        HF_TOKEN="hf_hush",
        OLLAMA_HOST="me:hush@127.0.0.1:2",
        OPENAI_BASE_URL="http://me:hush@127.0.0.1:9/v1",
    )
    assert "hush" not in done.out + done.err
    found = named(done)
    assert found["tools.strategy"]["origin"] == "env:CALLGATE_TOOLS_STRATEGY"
    assert found["openai.api_key"]["detail"] == "set (env:OPENAI_API_KEY)"
    assert "detect.cache_ttl" not in found


def test_a_settings_file_that_cannot_be_read_is_wrong_and_the_rest_is_still_looked_at(home: Path) -> None:
    folder = home / "callgate"
    folder.mkdir()
    (folder / "config.toml").write_text("[tools]\nstrategie = 'auto'\n")
    done = doctor("--json")
    assert done.status == 3
    assert "strategie" in named(done)["settings"]["detail"]
    assert named(done)["user_models.json"]["state"] == "ok"


def test_every_mistake_is_told_and_the_other_settings_count(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[tools]\nstrategy = 'emulat'\nfoo = 1\n[detect]\ncache_ttl = 5\n")
    done = doctor("--json", CALLGATE_HOME=str(tmp_path), OLLAMA_HOST=NOBODY, CALLGATE_TOOLS_LIMIT="abc")
    told = [each["detail"] for each in done.objects if each["name"] == "settings"]
    assert len(told) == 3
    for words in ("'tools.foo'", "'tools.strategy'", "'tools.limit'"):
        assert words in " ".join(told)
    found = named(done)
    assert found["data"]["path"] == str(tmp_path)
    assert found["Ollama"]["url"] == NOBODY
    assert found["detect.cache_ttl"]["origin"].startswith("file:")
    assert "tools.limit" not in found


def test_a_file_that_is_no_toml_is_told_and_the_environment_counts(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("[tools\n")
    done = doctor("--json", CALLGATE_HOME=str(tmp_path))
    assert done.status == 3
    assert "isn't TOML" in named(done)["settings"]["detail"]
    assert "`[detect]`" in named(done)["settings"]["next"]
    assert named(done)["data"]["path"] == str(tmp_path)


def test_a_misspelt_variable_is_wrong() -> None:
    done = doctor("--json", CALLGATE_TOOL_STRATEGY="auto", CALLGATE_WHATEVER_ELSE="x")
    assert done.status == 3
    assert "no such setting" in named(done)["CALLGATE_TOOL_STRATEGY"]["detail"]
    assert named(done)["CALLGATE_TOOL_STRATEGY"]["next"] == "did you mean CALLGATE_TOOLS_STRATEGY?"
    assert "did you mean" not in named(done)["CALLGATE_WHATEVER_ELSE"]["next"]


def test_a_default_model_that_can_be_none_is_wrong() -> None:
    done = doctor("--json", CALLGATE_MODELS_DEFAULT="hf:nobody")
    assert named(done)["models.default"]["state"] == "wrong"


@pytest.mark.parametrize(("content", "words"), [("{no", "damaged"), ('{"version": 99}', "newer callgate")])
def test_a_registry_that_is_no_good_is_told_and_left_alone(home: Path, content: str, words: str) -> None:
    folder = home / "callgate"
    folder.mkdir()
    (folder / "user_models.json").write_text(content)
    done = doctor("--json")
    assert done.status == 3
    assert words in named(done)["user_models.json"]["detail"]
    assert [(path.name, path.read_text()) for path in folder.iterdir()] == [("user_models.json", content)]
