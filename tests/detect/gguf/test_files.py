import os
from collections.abc import AsyncIterator
from importlib.resources import as_file, files
from pathlib import Path

import pytest

from callgate.detect.gguf import read_header, read_header_from
from callgate.vocabulary import HeaderError, NotFound, UsageError
from tests.detect.gguf.writer import Gguf, small_model


def test_a_file_on_disk_is_read(tmp_path: Path) -> None:
    path = tmp_path / "small.gguf"
    path.write_bytes(small_model().to_bytes() + bytes(1000))
    header = read_header(path)
    assert header.metadata["general.name"] == "Small"
    assert header == read_header(str(path))


def test_the_model_in_the_box_is_read_right() -> None:
    with as_file(files("callgate") / "data" / "tiny.gguf") as path:
        header = read_header(path)
    assert header.version == 3
    assert header.metadata["general.name"] == "Tiny Tools 11M"
    assert header.metadata["llama.context_length"] == 4096
    assert header.metadata["general.languages"] == ("en",)
    assert header.tokens == {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>", "pad_token": "<|endoftext|>"}
    assert list(header.templates) == ["default"]
    assert header.templates["default"].startswith("{%- if tools %}")
    assert (header.tensor_count, header.parameter_count, header.quantization) == (110, 10_808_352, "Q8_0")
    assert header.header_bytes == 128_137


def test_a_sparse_file_of_four_gigabytes_is_no_burden(tmp_path: Path) -> None:
    path = tmp_path / "huge.gguf"
    data = small_model().to_bytes()
    with path.open("wb") as file:
        file.write(data)
        file.truncate(4 << 30)
    assert read_header(path).header_bytes == len(data)


@pytest.mark.parametrize("kind", [8, 0, 9])
def test_a_sparse_file_that_claims_to_be_all_header_is_refused(tmp_path: Path, kind: int) -> None:
    path = tmp_path / "liar.gguf"
    array = Gguf().type(9) + Gguf().type(kind) + Gguf().length(400_000_000)
    with path.open("wb") as file:
        file.write(Gguf(key_count=1).to_bytes() + Gguf().text("k") + array)
        file.truncate(4 << 30)
    with pytest.raises(HeaderError, match="the value of 'k'"):
        read_header(path)


def test_a_file_of_zeros_that_claims_many_empty_strings_ends_all_the_same(tmp_path: Path) -> None:
    path = tmp_path / "zeros.gguf"
    array = Gguf().type(9) + Gguf().type(8) + Gguf().length(100_000)
    with path.open("wb") as file:
        file.write(Gguf(key_count=2).to_bytes() + Gguf().text("k") + array)
        file.truncate(4 << 30)
    with pytest.raises(HeaderError, match="the name of key 2 claims 0 bytes"):
        read_header(path)


def test_errors_name_the_file(tmp_path: Path) -> None:
    path = tmp_path / "page.gguf"
    path.write_text("<!doctype html><title>Sign in</title>")
    with pytest.raises(HeaderError, match=r"page\.gguf' is a web page, not a GGUF file") as caught:
        read_header(path)
    assert caught.value.hint is not None


def test_an_empty_file_is_called_empty(tmp_path: Path) -> None:
    path = tmp_path / "empty.gguf"
    path.touch()
    with pytest.raises(HeaderError, match=r"empty\.gguf' is empty$"):
        read_header(path)


def test_a_truncated_file_is_told_from_a_whole_one(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    path.write_bytes(small_model().to_bytes()[:-5])
    with pytest.raises(HeaderError, match=r"truncated or corrupt: tensor 2 of 2 takes .* but the file ends after"):
        read_header(path)


def test_what_is_no_file_is_the_callers_to_mend(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"there is no file '.*none\.gguf'"):
        read_header(tmp_path / "none.gguf")
    with pytest.raises(UsageError, match="is not a file"):
        read_header(tmp_path)
    os.mkfifo(tmp_path / "pipe.gguf")
    with pytest.raises(UsageError, match="is not a file"):
        read_header(tmp_path / "pipe.gguf")
    with pytest.raises(UsageError, match="can't be read"):
        read_header("a\0b")


async def test_blocks_are_asked_for_only_until_the_header_is_whole() -> None:
    data = small_model().to_bytes()
    asked = 0
    closed = False

    async def blocks() -> AsyncIterator[bytes]:
        nonlocal asked, closed
        try:
            for start in range(0, 100 * len(data), 100):
                asked += 1
                yield (data + bytes(100 * len(data)))[start : start + 100]
        finally:
            closed = True

    header = await read_header_from(blocks(), "'remote'")
    assert header.header_bytes == len(data)
    assert asked == -(-len(data) // 100)
    assert closed


async def test_blocks_that_end_too_early_are_a_truncated_file() -> None:
    async def blocks() -> AsyncIterator[bytes]:
        yield small_model().to_bytes()[:300]

    with pytest.raises(HeaderError, match="'remote' is truncated: it ends after 300 bytes, in the middle of"):
        await read_header_from(blocks(), "'remote'")
