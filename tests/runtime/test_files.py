import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.detect import boxed_facts
from callgate.runtime import files
from callgate.runtime.files import (
    LARGEST_TEXT,
    MOST_VARIANTS,
    configuration_facts,
    decode_text,
    file_facts,
    is_model_file,
    model_files,
    version_of_file,
)
from callgate.vocabulary import HeaderError, NotFound, TemplateError, UsageError


def write(path: Path, content: object) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(content, bytes):
        path.write_bytes(content)
    else:
        path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


# Templates


@pytest.mark.parametrize("ending", [".jinja", ".jinja2", ".j2", ".JINJA"])
def test_a_template_file_is_its_text(tmp_path: Path, ending: str) -> None:
    facts = file_facts(write(tmp_path / f"chat{ending}", "{{ messages }} é"))
    assert (facts.name, facts.templates) == (f"chat{ending}", {"default": "{{ messages }} é"})
    assert facts.header is None
    assert facts.server is None


def test_a_byte_order_mark_is_no_part_of_a_template(tmp_path: Path) -> None:
    facts = file_facts(write(tmp_path / "chat.jinja", b"\xef\xbb\xbf{{ 1 }}"))
    assert facts.templates == {"default": "{{ 1 }}"}


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TemplateError, match=r"isn't UTF-8 text: invalid start byte at byte 3"):
        file_facts(write(tmp_path / "chat.jinja", b"abc\xff"))


def test_a_template_may_have_ten_megabytes_and_no_more(tmp_path: Path) -> None:
    path = write(tmp_path / "chat.jinja", b"x" * LARGEST_TEXT)
    assert len((file_facts(path).templates or {})["default"]) == LARGEST_TEXT == 10 * 1024 * 1024
    write(tmp_path / "chat.jinja", b"x" * (LARGEST_TEXT + 1))
    with pytest.raises(TemplateError, match="longer than 10 MB"):
        file_facts(path)


def test_a_huge_file_is_not_read_to_its_end(tmp_path: Path) -> None:
    path = tmp_path / "chat.jinja"
    with path.open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(TemplateError, match="longer than 10 MB"):
        file_facts(str(path))


@pytest.mark.parametrize(
    "name", ["missing.jinja", "tokenizer_config.json", "missing.gguf", "nul\0.jinja", "nul\0.gguf"]
)
def test_a_file_that_is_not_there_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError, match=r"there is no file|can't be read"):
        file_facts(str(tmp_path / name))


@pytest.mark.parametrize("name", ["x.jinja", "x.gguf", "tokenizer_config.json"])
def test_a_folder_is_no_file_whatever_it_is_called(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(UsageError, match=r"is not a file|there is no file"):
        file_facts(str(tmp_path / name))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
@pytest.mark.parametrize("name", ["x.jinja", "x.gguf"])
def test_a_pipe_is_not_waited_for(tmp_path: Path, name: str) -> None:
    os.mkfifo(tmp_path / name)
    with pytest.raises(UsageError):
        file_facts(str(tmp_path / name))


# Configurations


def test_a_configuration_has_a_template_and_tokens(tmp_path: Path) -> None:
    told = {
        "chat_template": "{{ bos_token }}",
        "bos_token": "<s>",
        "eos_token": {"content": "</s>", "lstrip": False},
        "pad_token": None,
        "unk_token": {"text": "no content"},
        "sep_token": 7,
        "model_max_length": 10**30,
    }
    facts = file_facts(write(tmp_path / "My-Model" / "tokenizer_config.json", told))
    assert facts.name == "My-Model"
    assert facts.templates == {"default": "{{ bos_token }}"}
    assert facts.tokens == {"bos_token": "<s>", "eos_token": "</s>"}


def test_a_configuration_may_list_templates_by_name(tmp_path: Path) -> None:
    listed = [
        {"name": "default", "template": "A"},
        {"name": "tool_use", "template": "B"},
        {"name": "broken", "template": None},
        {"template": "nameless"},
        "no object",
    ]
    facts = file_facts(write(tmp_path / "tokenizer_config.json", {"chat_template": listed}))
    assert facts.templates == {"default": "A", "tool_use": "B"}


def test_a_configuration_may_have_templates_by_name(tmp_path: Path) -> None:
    by_name = {"default": "{{ messages }}", "tool_use": "{{ tools }}"}
    assert file_facts(write(tmp_path / "tokenizer_config.json", {"chat_template": by_name})).templates == by_name


def test_a_configuration_without_a_template_has_none(tmp_path: Path) -> None:
    facts = file_facts(write(tmp_path / "tokenizer_config.json", {"bos_token": "<s>"}))
    assert facts.templates == {}


def test_templates_in_files_of_their_own_overrule(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer_config.json", {"chat_template": "old", "eos_token": "</s>"})
    write(tmp_path / "chat_template.jinja", "new")
    write(tmp_path / "additional_chat_templates" / "tool_use.jinja", "with tools")
    write(tmp_path / "additional_chat_templates" / "README.md", "nothing")
    facts = file_facts(path)
    assert facts.templates == {"default": "new", "tool_use": "with tools"}
    assert facts.tokens == {"eos_token": "</s>"}


def test_templates_beside_a_configuration_are_found_from_its_own_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "here" / "tokenizer_config.json", {})
    write(tmp_path / "here" / "chat_template.jinja", "beside")
    monkeypatch.chdir(tmp_path / "here")
    facts = file_facts("tokenizer_config.json")
    assert (facts.name, facts.templates) == ("here", {"default": "beside"})


def test_a_model_has_only_so_many_variants(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer_config.json", {})
    for number in range(100):
        write(tmp_path / "additional_chat_templates" / f"{number:03}.jinja", "x")
    assert len(file_facts(path).templates or {}) == MOST_VARIANTS


def test_a_processors_template_file_is_read_too(tmp_path: Path) -> None:
    assert file_facts(write(tmp_path / "chat_template.json", {"chat_template": "T"})).templates == {"default": "T"}


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '"text"', "[" * 100_000, '{"chat_template": "\\ud800"}'])
def test_a_configuration_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    with pytest.raises(TemplateError, match=r"is no JSON"):
        file_facts(write(tmp_path / "tokenizer_config.json", content))


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=12,
)


@given(
    st.dictionaries(
        st.sampled_from(["chat_template", "bos_token", "eos_token", "pad_token"]),
        ANYTHING | st.lists(st.fixed_dictionaries({"name": ANYTHING, "template": ANYTHING})),
    )
    | ANYTHING
)
def test_whatever_a_configuration_holds_only_text_comes_out(value: object) -> None:
    try:
        facts = configuration_facts(value, {}, "any")
    except TemplateError:
        assert not isinstance(value, dict)
        return
    for texts in (facts.templates or {}, facts.tokens):
        assert {type(text) for text in (*texts, *texts.values())} <= {str}


@given(st.binary())
def test_bytes_are_text_or_an_error(body: bytes) -> None:
    try:
        text = decode_text(body, "it")
    except TemplateError:
        text = None
    if text is None:
        with pytest.raises(UnicodeDecodeError):
            body.decode()
    else:
        assert text.encode() == body.removeprefix(b"\xef\xbb\xbf")


# GGUF


def test_a_gguf_file_gives_its_header(tiny_gguf: Path) -> None:
    facts = file_facts(str(tiny_gguf))
    assert facts.name == "tiny.gguf"
    assert facts.header is not None
    assert facts.header["general.architecture"] == "llama"
    assert "default" in (facts.templates or {})
    assert facts.at > 0


def test_what_is_called_gguf_and_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(HeaderError):
        file_facts(write(tmp_path / "x.gguf", b"PK\3\4" * 100))


def test_the_model_in_the_box_comes_with_and_without_tools() -> None:
    tiny, plain = boxed_facts("tiny"), boxed_facts("tiny-plain")
    assert (tiny.name, plain.name) == ("tiny", "tiny-plain")
    assert "tools" in (tiny.templates or {})["default"]
    assert "tools" not in (plain.templates or {})["default"]
    assert tiny.header == plain.header


# Folders


@pytest.mark.parametrize(
    ("name", "is_one"),
    [
        ("a/b.gguf", True),
        ("B.GGUF", True),
        ("x.jinja", True),
        ("tokenizer_config.json", True),
        ("chat_template.json", True),
        ("config.json", False),
        ("x.gguf.part", False),
        ("README.md", False),
    ],
)
def test_model_files_are_known_by_their_names(name: str, is_one: bool) -> None:
    assert is_model_file(name) is is_one


def test_a_folder_is_walked_in_order(tmp_path: Path) -> None:
    for name in ("b.jinja", "a.gguf", "z/y/tokenizer_config.json", "c/d.jinja2", "c/a.gguf", "notes.txt"):
        write(tmp_path / name, "")
    (tmp_path / "folder.gguf").mkdir()
    found = [os.path.relpath(path, tmp_path) for path in model_files(str(tmp_path))]
    assert found == ["a.gguf", "b.jinja", "c/a.gguf", "c/d.jinja2", "z/y/tokenizer_config.json"]
    assert list(model_files(f"{tmp_path}/")) == [f"{tmp_path}/{name}" for name in found]


def test_what_is_one_model_is_walked_once(tmp_path: Path) -> None:
    write(tmp_path / "hf" / "tokenizer_config.json", {"chat_template": "{{ messages }}"})
    write(tmp_path / "hf" / "chat_template.jinja", "{{ messages }}")
    write(tmp_path / "hf" / "additional_chat_templates" / "tool_use.jinja", "{{ tools }}")
    write(tmp_path / "lone" / "chat_template.jinja", "{{ messages }}")
    for name in ("a-00001-of-00003.gguf", "a-00002-of-00003.gguf", "a-00003-of-00003.gguf", "b-00002-of-00002.gguf"):
        write(tmp_path / "shards" / name, b"")
    found = [Path(path).relative_to(tmp_path).as_posix() for path in model_files(str(tmp_path))]
    assert found == [
        "hf/tokenizer_config.json",
        "lone/chat_template.jinja",
        "shards/a-00001-of-00003.gguf",
        "shards/b-00002-of-00002.gguf",
    ]


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    write(tmp_path / "in" / "a.jinja", "")
    (tmp_path / "in" / "loop").symlink_to(tmp_path)
    assert [Path(path).name for path in model_files(str(tmp_path))] == ["a.jinja"]


def test_a_folder_is_walked_only_so_deep(tmp_path: Path) -> None:
    write(tmp_path / "/".join("123456789") / "deep.jinja", "")
    write(tmp_path / "/".join("12345678") / "less.jinja", "")
    assert [Path(path).name for path in model_files(str(tmp_path))] == ["less.jinja"]


def test_too_many_files_are_too_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MOST_FILES", 5)
    for number in range(6):
        write(tmp_path / f"{number}.jinja", "")
    with pytest.raises(UsageError, match="more than 5 model files"):
        list(model_files(str(tmp_path)))


# Versions


def test_a_version_changes_with_the_file_and_what_it_is_read_with(tmp_path: Path) -> None:
    path = write(tmp_path / "tokenizer_config.json", {})
    seen = {version_of_file(path)}
    write(tmp_path / "chat_template.jinja", "a")
    seen.add(version_of_file(path))
    write(tmp_path / "chat_template.jinja", "ab")
    seen.add(version_of_file(path))
    write(tmp_path / "additional_chat_templates" / "tool_use.jinja", "c")
    seen.add(version_of_file(path))
    write(Path(path), {"a": 1})
    seen.add(version_of_file(path))
    assert len(seen) == 5
    assert None not in seen


@pytest.mark.parametrize("path", ["missing.gguf", "nul\0.gguf", "nul\0.json"])
def test_what_is_not_there_has_no_version(path: str) -> None:
    assert version_of_file(path) is None


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound):
        file_facts(str(tmp_path / "missing.jinja"))
