from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.runtime import masked
from callgate.settings import TABLE, Secret, Settings, load_settings
from callgate.settings.loading import converted, nearest_variable, unknown_variables
from callgate.vocabulary import UsageError


def test_defaults() -> None:
    settings = load_settings(environ={})
    assert settings == Settings()
    assert (settings.detect.cache_ttl, settings.detect.guess_ttl, settings.detect.server_timeout) == (600, 30, 5)
    assert settings.origin("detect.cache_ttl") == "default"


def test_each_source_gives_way_to_a_stronger_one(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("[detect]\ncache_ttl = 1\nguess_ttl = 1\nserver_timeout = 1\n")
    environ = {
        "CALLGATE_CONFIG": str(file),
        "CALLGATE_DETECT_CACHE_TTL": "2",
        "CALLGATE_DETECT_GUESS_TTL": "2.5",
    }
    settings = load_settings({"detect.cache_ttl": 3}, environ)
    assert (settings.detect.cache_ttl, settings.detect.guess_ttl, settings.detect.server_timeout) == (3, 2.5, 1)
    assert settings.origin("detect.cache_ttl") == "override"
    assert settings.origin("detect.guess_ttl") == "env:CALLGATE_DETECT_GUESS_TTL"
    assert settings.origin("detect.server_timeout") == f"file:{file}"
    assert settings.origin("ollama.host") == "default"


def test_foreign_variables_count_too_but_ours_count_more() -> None:
    foreign = {"OLLAMA_HOST": "there:1", "HF_ENDPOINT": "https://hub.example", "HF_TOKEN": "hf_secret"}
    settings = load_settings(environ=foreign)
    assert (settings.ollama.host, settings.hub.endpoint) == ("there:1", "https://hub.example")
    assert settings.origin("ollama.host") == "env:OLLAMA_HOST"
    assert load_settings(environ={**foreign, "CALLGATE_OLLAMA_HOST": "here:2"}).ollama.host == "here:2"


def test_an_empty_variable_sets_nothing() -> None:
    assert load_settings(environ={"OLLAMA_HOST": " ", "CALLGATE_DETECT_CACHE_TTL": ""}) == Settings()


SECRETS = [key for key, setting in TABLE.items() if setting.is_secret]


def test_whatever_is_named_like_a_secret_is_one() -> None:
    named = [key for key in TABLE if masked({key: "x"}) != {key: "x"}]
    assert {"hub.token", "openai.api_key", "serve.api_keys"} <= {*named}
    assert {*SECRETS} - {*named} == {"serve.redis"}  # a URL that may have a password in it


@pytest.mark.parametrize("key", TABLE)
def test_what_is_kept_as_a_secret_counts_as_one_however_its_type_is_written(key: str) -> None:
    try:
        value = converted(TABLE[key], "s3cret", "as you wrote it", is_text=True)
    except UsageError:
        value = TABLE[key].default
    assert isinstance(value, Secret) == TABLE[key].is_secret


@pytest.mark.parametrize("key", SECRETS)
def test_a_secret_is_never_shown(key: str) -> None:
    setting = TABLE[key]
    for variable in setting.env:
        settings = load_settings(environ={variable: "s3cret"})
        kept = getattr(getattr(settings, setting.section), setting.name)
        assert kept == Secret("s3cret")
        assert kept.reveal() == "s3cret"
        assert "s3cret" not in f"{settings!r} {kept}"
        for wrong in ("s3cret with spaces", "s3cret\u00e9"):
            with pytest.raises(UsageError, match=repr(key)) as caught:
                load_settings(environ={variable: wrong})
            assert "s3cret" not in f"{caught.value.message} {caught.value.hint}"


def refusal_of(variable: str, value: str) -> str:
    try:
        load_settings(environ={variable: value})
    except UsageError as error:
        return f"{error.message} {error.hint}"
    return ""


@pytest.mark.parametrize("key", TABLE)
def test_no_password_in_a_url_gets_into_an_error(key: str, tmp_path: Path) -> None:
    """Also not that of a URL in a list, or where somebody took one setting for another."""
    values = ["htp://me:s3cr@et@lab/v1", "http://me:s3cr@et@lab/v1 x=", "a=b=,c:http://me:s3cr@et@lab/v1"]
    for value in values:
        said = refusal_of(TABLE[key].env[0], value)
        assert "s3cr" not in said
        assert "et@" not in said
    file = tmp_path / "config.toml"
    file.write_text(f"[{TABLE[key].section}]\n{TABLE[key].name} = ['{values[0]}', 1]\n")
    with pytest.raises(UsageError) as caught:
        load_settings(environ={"CALLGATE_CONFIG": str(file)})
    assert "s3cr" not in f"{caught.value.message} {caught.value.hint}"


@pytest.mark.parametrize("value", ["x", "-1", "nan", "inf", "1e400", "true", "1_0"])
def test_a_wrong_value_names_setting_value_origin_and_what_is_expected(value: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings(environ={"CALLGATE_DETECT_CACHE_TTL": value})
    for word in ("detect.cache_ttl", repr(value), "env:CALLGATE_DETECT_CACHE_TTL", "a number of seconds"):
        assert word in caught.value.message
    assert "600" in (caught.value.hint or "")


def test_a_wrong_value_in_the_file_is_no_text_either(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[detect]\ncache_ttl = "600"\n')
    with pytest.raises(UsageError, match="a number of seconds"):
        load_settings(environ={"CALLGATE_HOME": str(tmp_path)})


@pytest.mark.parametrize("content", ["[detect]\ncache_tll = 1\n", "[detetc]\ncache_ttl = 1\n"])
def test_an_unknown_setting_in_the_file_is_an_error_that_names_the_nearest(tmp_path: Path, content: str) -> None:
    (tmp_path / "config.toml").write_text(content)
    with pytest.raises(UsageError) as caught:
        load_settings(environ={"CALLGATE_HOME": str(tmp_path)})
    assert "config.toml" in caught.value.message
    assert "'detect.cache_ttl'" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("detect.cache_tll", "did you mean 'detect.cache_ttl'?"),
        ("cache_ttl", "did you mean 'detect.cache_ttl'?"),
        ("timeout", "did you mean 'timeouts.connect' or 'timeouts.between'?"),
        ("nosuch.key", "`callgate config` lists them"),
        ("", "`callgate config` lists them"),
        ("x" * 10_000, "`callgate config` lists them"),
    ],
)
def test_the_hint_for_an_unknown_one_names_the_nearest_and_no_others(key: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        load_settings({key: 1}, {})
    assert caught.value.hint == hint


def test_an_unknown_override_is_an_error() -> None:
    with pytest.raises(UsageError, match="no setting"):
        load_settings({"nonsense": 1}, {})
    with pytest.raises(UsageError, match="no setting"):
        load_settings(environ={}).origin("nonsense")


@pytest.mark.parametrize(
    "content", [b"not toml", b"\xff\xfe", b"top = 1\n", b"#" * 1_000_001, b"a = " + b"[" * 100_000]
)
def test_a_file_that_holds_no_settings_is_an_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "config.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=r"config\.toml"):
        load_settings(environ={"CALLGATE_CONFIG": str(file)})


def test_a_file_that_is_named_has_to_be_there(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        load_settings(environ={"CALLGATE_CONFIG": str(tmp_path / "none.toml")})
    assert load_settings(environ={"CALLGATE_HOME": str(tmp_path)}).origins == {"storage.home": "env:CALLGATE_HOME"}


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="the folder of other platforms")
def test_the_file_among_the_users_settings(tmp_path: Path) -> None:
    folder = tmp_path / ".config" / "callgate"
    folder.mkdir(parents=True)
    (folder / "config.toml").write_text("[detect]\ncache_ttl = 7\n")
    assert load_settings(environ={"HOME": str(tmp_path)}).detect.cache_ttl == 7
    assert load_settings(environ={"XDG_CONFIG_HOME": str(tmp_path / ".config")}).detect.cache_ttl == 7
    assert load_settings(environ={"HOME": str(tmp_path), "CALLGATE_HOME": str(tmp_path)}).detect.cache_ttl == 600


def test_every_setting_says_what_it_is_for() -> None:
    for key, setting in TABLE.items():
        assert setting.key == key
        assert setting.help
        assert setting.expects
        assert setting.env[0] == f"CALLGATE_{key.replace('.', '_').upper()}"


def test_settings_dont_load_a_toml_reader_without_a_file() -> None:
    code = "import sys, callgate.settings as s; s.load_settings(environ={}); print('tomllib' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


@given(st.sampled_from(sorted(TABLE)), st.text(max_size=30).filter(lambda text: "\0" not in text))
def test_any_value_is_taken_or_refused(key: str, value: str) -> None:
    variable = TABLE[key].env[0]
    try:
        settings: Settings | None = load_settings(environ={variable: value})
    except UsageError as error:
        settings, refusal = None, error.message
    else:
        refusal = ""
    if settings is None:
        assert key in refusal
    else:
        assert settings.origin(key) == (f"env:{variable}" if value.strip() else "default")


def test_callgate_home_holds_all_that_is_kept(tmp_path: Path) -> None:
    settings = load_settings(environ={"CALLGATE_HOME": str(tmp_path)})
    assert (settings.data_folder, settings.cache_folder) == (str(tmp_path), str(tmp_path / "cache"))


def test_without_it_the_platform_says_where_things_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    settings = load_settings(environ={})
    folders = [Path(settings.data_folder), Path(settings.cache_folder)]
    assert all("callgate" in folder.parts and folder.is_absolute() for folder in folders)
    assert folders[0] != folders[1]
    if sys.platform == "linux":
        assert folders == [tmp_path / "data" / "callgate", tmp_path / "cache" / "callgate"]


def test_where_things_are_kept_costs_nothing_until_it_is_asked() -> None:
    script = "import sys, callgate.settings as s; s.load_settings(environ={}); assert 'platformdirs' not in sys.modules"
    subprocess.run([sys.executable, "-c", script], check=True)


def test_variables_that_look_like_ours_and_set_nothing_are_found() -> None:
    ours = dict.fromkeys((name for setting in TABLE.values() for name in setting.env), "x")
    read_by_others = {"CALLGATE_CONFIG": "x", "CALLGATE_CI": "1", "CALLGATE_TEST_DATA": "x", "CALLGATING": "x"}
    assert unknown_variables({**ours, **read_by_others, "CALLGATE_TOOL_STRATEGY": "x"}) == ["CALLGATE_TOOL_STRATEGY"]


def test_whoever_wants_to_hear_of_mistakes_hears_of_all_and_gets_the_rest(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text("tools = 3\n[detect]\ncache_ttl = 'x'\nguess_ttl = 7\nnothing = 1\n")
    told: list[UsageError] = []
    environ = {"CALLGATE_CONFIG": str(file), "CALLGATE_TOOLS_LIMIT": "many", "OLLAMA_HOST": "there:1"}
    settings = load_settings({"no.such": 1}, environ, mistaken=told.append)
    assert (settings.detect.guess_ttl, settings.ollama.host) == (7, "there:1")
    assert settings.detect.cache_ttl == Settings().detect.cache_ttl
    assert settings.origin("detect.cache_ttl") == settings.origin("tools.limit") == "default"
    assert len(told) == 5
    with pytest.raises(UsageError, match="'tools'"):
        load_settings(environ=environ)


def test_the_nearest_variable_is_one_that_there_is() -> None:
    assert nearest_variable("CALLGATE_TOOLS_STRATGY") == "CALLGATE_TOOLS_STRATEGY"
    assert nearest_variable("OLAMA_HOST") == "OLLAMA_HOST"
    assert nearest_variable("PATH") is None
