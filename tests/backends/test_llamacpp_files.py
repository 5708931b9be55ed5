from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from callgate.backends.llamacpp.complaints import LONGEST_LINE, MOST_LINES, Complaints
from callgate.backends.llamacpp.files import ModelFile, bytes_to_load, context_for, model_file
from callgate.vocabulary import Facts


def facts(**header: object) -> Facts:
    return Facts(name="m", header={"general.architecture": "llama", **{f"llama.{k}": v for k, v in header.items()}})


@pytest.mark.parametrize(
    ("own", "wanted", "expected"),
    [(2048, 0, 2048), (131072, 0, 8192), (131072, 32768, 32768), (None, 0, 4096), ("x", 0, 4096), (2048, 512, 512)],
)
def test_a_context_is_what_the_user_wants_or_what_the_model_has_within_reason(
    own: object, wanted: int, expected: int
) -> None:
    assert context_for(facts(context_length=own), wanted) == expected


def test_what_loading_takes_is_the_file_and_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "m.gguf"
    path.write_bytes(bytes(1000))
    header = {
        "block_count": 10,
        "attention.head_count": 8,
        "attention.head_count_kv": 2,
        "embedding_length": 512,
    }
    file = ModelFile(path=str(path), name="m", facts=facts(**header))
    assert bytes_to_load(file, 100, None) == 1200 + 10 * 100 * 2 * 64 * 2 * 2
    assert bytes_to_load(file, 100, "q8_0") == 1200 + 10 * 100 * 2 * 64 * 2 * 17 // 16
    several = ModelFile(path=str(path), name="m", facts=facts(**{**header, "attention.head_count_kv": (1, 2, 1)}))
    assert bytes_to_load(several, 100, None) == bytes_to_load(file, 100, None)


def test_a_model_in_several_files_takes_all_of_them(tmp_path: Path) -> None:
    for number in (1, 2, 3):
        (tmp_path / f"m-{number:05}-of-00003.gguf").write_bytes(bytes(100))
    file = ModelFile(path=str(tmp_path / "m-00001-of-00003.gguf"), name="m", facts=facts())
    assert bytes_to_load(file, 100, None) == 360


@given(st.dictionaries(st.sampled_from(["block_count", "embedding_length", "attention.head_count"]), st.integers()))
def test_no_header_makes_an_estimate_fail(header: dict[str, object]) -> None:
    assert bytes_to_load(ModelFile(path="/nowhere", name="m", facts=facts(**header)), 4096, "q4_0") >= 0


def test_the_models_in_the_box_are_found() -> None:
    tiny, plain = model_file("tiny"), model_file("tiny-plain")
    assert (tiny.path, tiny.template) == (plain.path, None)
    assert plain.template
    assert "tools" not in plain.template


# Complaints


OURS = [
    "0.00.000.472 I srv          init: initializing ...",
    "0.00.012.218 W load: special_eos_id is not in special_eog_ids",
    "0.00.012.683 E llama_model_load: error loading model: unknown model architecture: 'foo'",
    "0.00.012.708 E llama_model_load_from_file_impl: failed to load model",
    "0.00.013.203 E srv          init: exiting due to model loading error",
]
THEIRS = [
    "build: 5000 (abcdef)",
    "llama_model_load: error loading model: tensor 'x' data is not within the file bounds",
    "srv    load_model: failed to load model, '/m.gguf'",
]


def complaints(*lines: str) -> Complaints:
    said = Complaints()
    for line in lines:
        said.add(line.encode())
    return said


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        (OURS, "error loading model: unknown model architecture: 'foo'"),
        (THEIRS, "error loading model: tensor 'x' data is not within the file bounds"),
        (["0.00.050.363 E common_chat_templates_init: error: Unexpected token: %}"], "Unexpected token: %}"),
        (["all is well", "Killed"], "Killed"),
        ([], ""),
    ],
)
def test_the_first_line_of_trouble_is_the_reason(lines: list[str], reason: str) -> None:
    assert complaints(*lines).reason() == reason


@pytest.mark.parametrize(
    ("reason", "hint"),
    [
        ("failed to allocate buffer of 5 GiB", "smaller context"),
        ("unknown model architecture: 'foo'", "newer llama.cpp"),
        ("data is not within the file bounds", "is the file whole?"),
    ],
)
def test_a_reason_has_its_hint(reason: str, hint: str) -> None:
    assert hint in complaints(f"error: {reason}").hint()


@given(st.lists(st.binary(max_size=200), max_size=20))
def test_whatever_is_said_makes_a_printable_reason(lines: list[bytes]) -> None:
    said = Complaints()
    for line in lines:
        said.add(line)
    assert said.reason().isprintable()
    assert said.hint()


def test_only_so_much_is_kept() -> None:
    said = complaints("error: the first")
    for number in range(MOST_LINES):
        said.add(b"x" * 10_000 + b"%d" % number)
    assert said.reason() == "x" * LONGEST_LINE
