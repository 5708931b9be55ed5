from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.settings import with_setting, without_setting
from callgate.settings.editing import toml_value
from callgate.vocabulary import UsageError

WRITTEN = """\
# mine
[detect]   # how it is found out
cache_ttl = 60    # a minute
# guess_ttl = 5

[tools]
allow = [
  "time/*",  # harmless ]
  'git/"x"',
]
deny = \"\"\"
cache_ttl = 1 \\
[detect]\"\"\"

# the end
"""


def test_a_value_is_replaced_where_it_stands() -> None:
    assert with_setting(WRITTEN, "detect.cache_ttl", 30.0) == WRITTEN.replace("= 60 ", "= 30 ")
    allowed = WRITTEN.replace(WRITTEN[WRITTEN.index("[\n") : WRITTEN.index("]\nd") + 1], '"a,b"')
    assert with_setting(WRITTEN, "tools.allow", "a,b") == allowed
    assert with_setting(WRITTEN, "tools.deny", "x").endswith('deny = "x"\n\n# the end\n')


def test_a_new_one_stands_behind_the_others_of_its_section() -> None:
    edited = with_setting(WRITTEN, "detect.guess_ttl", 5.0)
    assert edited == WRITTEN.replace("# a minute\n", "# a minute\nguess_ttl = 5\n")


def test_a_secret_that_cant_be_put_in_isnt_in_the_error_either() -> None:
    for key, value in (("hub.token", "s3cret"), ("openai.api_key", "s3cret"), ("hub.endpoint", "http://me:s3cret@h")):
        section = key.partition(".")[0]
        for text in (f"{section} = 1\n", f"{section} = {{ cache = 'x' }}\n"):
            with pytest.raises(UsageError) as caught:
                with_setting(text, key, value)
            assert key.partition(".")[2] in (caught.value.hint or "")
            assert "s3cret" not in f"{caught.value.message} {caught.value.hint}"


def test_a_new_section_stands_at_the_end() -> None:
    assert with_setting("", "models.dir", "there") == '[models]\ndir = "there"\n'
    assert with_setting("# mine", "models.dir", "there") == '# mine\n\n[models]\ndir = "there"\n'
    assert with_setting(WRITTEN, "models.dir", "there") == WRITTEN + '\n[models]\ndir = "there"\n'


def test_an_empty_section_is_used() -> None:
    assert with_setting("[models]\n[hub]\n", "models.dir", "d") == '[models]\ndir = "d"\n[hub]\n'
    assert with_setting("[models]", "models.dir", "d") == '[models]\ndir = "d"\n'


def test_dotted_and_quoted_names_are_kept_as_they_are_written() -> None:
    dotted = "detect.cache_ttl = 1\n[hub]\nconnections = 2\n"
    assert with_setting(dotted, "detect.cache_ttl", 2) == dotted.replace("= 1", "= 2")
    assert with_setting(dotted, "detect.guess_ttl", 2) == dotted.replace("[hub]", "detect.guess_ttl = 2\n[hub]")
    quoted = '[ "detect" ]\n\'cache_ttl\' = 1\n"guess\\u005fttl" = 1\n'
    assert with_setting(quoted, "detect.cache_ttl", 2) == quoted.replace("= 1", "= 2", 1)
    assert without_setting(quoted, "detect.guess_ttl") == "[ \"detect\" ]\n'cache_ttl' = 1\n"


def test_the_ends_of_lines_are_those_of_the_file() -> None:
    assert with_setting("[detect]\r\ncache_ttl = 1\r\n", "detect.guess_ttl", 2) == (
        "[detect]\r\ncache_ttl = 1\r\nguess_ttl = 2\r\n"
    )
    assert with_setting("[detect]\r\ncache_ttl = 1 # x\r\n", "detect.cache_ttl", 2) == (
        "[detect]\r\ncache_ttl = 2 # x\r\n"
    )


def test_what_is_unset_goes_with_its_line() -> None:
    assert without_setting(WRITTEN, "detect.cache_ttl") == WRITTEN.replace("cache_ttl = 60    # a minute\n", "")
    assert without_setting(WRITTEN, "detect.guess_ttl") is None
    assert without_setting(WRITTEN, "hub.token") is None
    assert without_setting("detect.cache_ttl = 1", "detect.cache_ttl") == ""
    assert without_setting("old = 1\n", "old") == ""
    assert without_setting("[old]\nx = 1\n", "old.x") == "[old]\n"


@pytest.mark.parametrize("text", ["detect = { cache_ttl = 1 }\n", "detect = 1\n"])
def test_what_cant_be_edited_is_left_alone_and_says_what_to_do(text: str) -> None:
    with pytest.raises(UsageError, match=r"detect\.guess_ttl") as caught:
        with_setting(text, "detect.guess_ttl", 5.0)
    assert "guess_ttl = 5" in (caught.value.hint or "")


def test_what_stands_in_an_inline_table_isnt_removed_by_half() -> None:
    with pytest.raises(UsageError, match="without touching the rest"):
        without_setting("detect = { cache_ttl = 1 }\n", "detect.cache_ttl")


def test_a_text_that_is_none_is_refused() -> None:
    with pytest.raises(UsageError, match="no letters"):
        with_setting("", "models.dir", "a\udc80")


@given(st.text(st.characters(exclude_categories=["Cs"])) | st.integers(-(2**63), 2**63 - 1) | st.booleans())
def test_any_value_is_read_as_it_was_written(value: object) -> None:
    assert tomllib.loads(f"x = {toml_value(value)}")["x"] == value


def _strings() -> st.SearchStrategy[str]:
    letters = st.text(st.sampled_from("ab #='[]{}.,\\\"\n"), max_size=8)
    return st.one_of(
        letters.map(toml_value),
        letters.map(lambda text: "'" + text.replace("'", "").replace("\n", "") + "'"),
        letters.map(lambda text: "'''" + text.replace("'", "") + "'''"),
        letters.map(lambda text: '"""' + text.replace("\\", "").replace('"', "") + '"""'),
        st.sampled_from(['"""a""b"""', '"""a"""""', "''''x''''", '"""\\""""', '""', "''"]),
    )


_ARRAYS = st.lists(_strings(), max_size=3).map(lambda parts: "[ # ]\n" + ", # [\n".join(parts) + "\n]")
_VALUES = st.one_of(_strings(), _ARRAYS, st.sampled_from(["1", "true", "nan", "1979-05-27", "[]", "[[1], [{a = 1}]]"]))
_NAMES = st.sampled_from(["cache_ttl", "x", "'guess_ttl'", '"a # b"', "a . b"])
_COMMENTS = st.sampled_from(["", " # [detect]", " # x = 1 '", "\t"])
_LINES = st.one_of(
    st.builds("{} = {}{}".format, _NAMES, _VALUES, _COMMENTS),
    st.sampled_from(["[detect]", "[ 'tools' ] # x", "[other.below]", "[[many]]", "", "# cache_ttl = 1", "  "]),
)


def _files() -> st.SearchStrategy[str]:
    return st.builds(
        lambda lines, end, newline: (end.join(lines) + end * newline).replace("\r\n", "\n").replace("\n", end),
        st.lists(_LINES, max_size=8),
        st.sampled_from(["\n", "\r\n"]),
        st.booleans(),
    )


def _read(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


@given(_files(), st.sampled_from(["detect.cache_ttl", "detect.guess_ttl", "tools.x", "hub.token"]), st.integers(0, 9))
def test_all_else_says_what_it_said(text: str, key: str, value: int) -> None:
    before = _read(text)
    if before is None:
        return
    section, _, name = key.partition(".")
    edited = with_setting(text, key, value)
    after = tomllib.loads(edited)
    assert after[section].pop(name) == value
    before.get(section, {}).pop(name, None)
    assert repr({k: v for k, v in after.items() if v}) == repr({k: v for k, v in before.items() if v})
    if "'''" not in text and '"""' not in text:  # in which what looks like a comment is none
        comments = [line.strip() for line in text.splitlines() if line.strip().startswith("#")]
        assert all(line in edited for line in comments)
    removed = without_setting(edited, key)
    assert removed is not None
    assert without_setting(removed, key) is None


@given(st.text(st.sampled_from("ab =.[]{}#'\"\\\n\r"), max_size=60))
def test_any_file_is_edited_or_refused(text: str) -> None:
    if _read(text) is None:
        return
    try:
        edited = with_setting(text, "a.b", 1)
    except UsageError:
        return
    assert tomllib.loads(edited)["a"]["b"] == 1
